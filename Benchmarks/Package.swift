// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "quarry", path: "..")],
    targets: [
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CLMDBForPeer", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(name: "Dataset"),
        .target(name: "LMDBPeer", dependencies: ["Dataset", "CLMDBForPeer"]),
        .target(name: "SQLitePeer", dependencies: ["Dataset", "CSQLite"]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: ["Dataset", "LMDBPeer", "SQLitePeer", .product(name: "Quarry", package: "quarry")]),
    ],
    swiftLanguageModes: [.v6]
)
