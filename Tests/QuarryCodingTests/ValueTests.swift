import Foundation
import Testing

@testable import QuarryCoding

@Suite struct ValueTests {
    @Test func aValueCanBeMadeOfAnythingEncodable() throws {
        #expect(try Value(encoding: 5) == .int(5))
        #expect(try Value(encoding: "a") == .string("a"))
        #expect(try Value(encoding: [1, 2]) == .array([.int(1), .int(2)]))
        #expect(try Value(encoding: Optional<Int>.none) == .null)
        #expect(try Value(encoding: UInt64.max) == .uint(.max))
    }
}
