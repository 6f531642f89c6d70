// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "quarry",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Quarry", targets: ["Quarry"]),
        .executable(name: "quarry", targets: ["QuarryCLI"]),
        .executable(name: "roster", targets: ["Roster"]),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .target(name: "QuarryLMDB", dependencies: ["CLMDB"]),
        .target(name: "QuarryCoding"),
        .target(name: "QuarryPredicate", dependencies: ["QuarryCoding"]),
        .target(name: "Quarry", dependencies: ["QuarryLMDB", "QuarryCoding", "QuarryPredicate"]),
        .executableTarget(name: "QuarryCLI", dependencies: ["Quarry"]),
        .executableTarget(name: "Roster", dependencies: ["Quarry"]),
        .testTarget(name: "QuarryLMDBTests", dependencies: ["QuarryLMDB", "CLMDB"]),
        .testTarget(name: "QuarryCodingTests", dependencies: ["QuarryCoding"]),
        .testTarget(name: "QuarryPredicateTests", dependencies: ["QuarryPredicate", "QuarryCoding"]),
        .testTarget(name: "QuarryTests", dependencies: ["Quarry"]),
    ],
    swiftLanguageModes: [.v6]
)
