import Foundation
import Testing

@testable import QuarryLMDB

@Suite struct EnvironmentTests {
    @Test func anEmptyFileIsNotTakenForANewStore() throws {
        let path = NSTemporaryDirectory() + "quarry-\(UUID().uuidString)"
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = #expect(throws: LMDBError.self) { try Environment.open(path: path, EnvironmentOptions()) }
        #expect(error?.code == .truncated)
    }
}
