import Foundation
import Testing

@testable import Quarry

enum Sex: String, Codable, Sendable { case f, m }

struct Student: Entity, Equatable {
    var stuid: Int
    var name: String
    var sex: Sex = .f
    var classid: Int?
    var email: String?
    var createtime = Date(timeIntervalSinceReferenceDate: 0)
    var id: Int { stuid }
    static let schema = Schema<Student>(id: \.stuid, .index(\.name), .index(\.classid, \.name), .unique(\.email))
}

/// A folder that is removed with its last user.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("quarry-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String = "test.quarry") -> URL { url.appendingPathComponent(name) }
}

/// A store in a folder of its own.
struct TestStore {
    let folder: TemporaryFolder
    let store: Store

    init(_ types: any Entity.Type..., options: StoreOptions = StoreOptions(durability: .none)) throws {
        folder = try TemporaryFolder()
        store = try Store(at: folder.file(), types: types, options: options)
    }

    var url: URL { folder.file() }
}

/// A generator that gives the same numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
