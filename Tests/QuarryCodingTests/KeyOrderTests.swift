import Foundation
import Testing

@testable import QuarryCoding

@Suite struct KeyOrderTests {
    private func key(_ value: Value, options: TextOptions = [], budget: Int = 400) throws -> [UInt8] {
        var buffer = KeyBuffer()
        _ = try KeyCoder.append(value, to: &buffer, budget: budget, options: options)
        return Array(buffer.bytes)
    }

    private func expectOrder(_ values: [Value]) throws {
        let keys = try values.map { try key($0) }
        for i in keys.indices.dropFirst() {
            #expect(keys[i - 1].lexicographicallyPrecedes(keys[i]), "\(values[i - 1]) before \(values[i])")
        }
    }

    @Test func keysOfEveryTypeSortAsTheirValues() throws {
        try expectOrder([.null] + [Int64.min, -256, -255, -1, 0, 1, 255, 256, .max].map { .int($0) })
        try expectOrder([0, 1, 255, 256, UInt64(Int64.max), .max].map { .uint($0) })
        try expectOrder(
            [-Double.infinity, -1.5, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1, .infinity, .nan].map {
                .double($0)
            })
        try expectOrder([.bool(false), .bool(true)])
        try expectOrder(["", "\0", "\0a", "a", "a\0", "a\0b", "ab", "b", "é", "李"].map { .string($0) })
        try expectOrder(
            [[], [0], [0, 0], [0, 1], [0xFE, 0xFF], [0xFF], [0xFF, 0], [0xFF, 0xFF]].map { .data(Data($0)) })
        try expectOrder([-1, 0, 0.5, 1].map { .date(Date(timeIntervalSinceReferenceDate: $0)) })
        try expectOrder(
            ["-100", "-1.5", "-0.001", "0", "0.001", "1", "1.5", "99999999999999999999"].map {
                .decimal(Decimal(string: $0)!)
            })
    }

    @Test func zeroHasOneKeyAndEqualTextsHaveOneKey() throws {
        #expect(try key(.double(-0.0)) == key(.double(0)))
        #expect(try key(.string("é")) == key(.string("e\u{301}")))
        #expect(try key(.string("É"), options: .caseInsensitive) == key(.string("é"), options: .caseInsensitive))
        #expect(
            try key(.string("É"), options: [.caseInsensitive, .diacriticInsensitive])
                == key(.string("e"), options: .caseInsensitive))
        #expect(try key(.string("")) != key(.null))
    }

    @Test func compoundKeysDoNotRunIntoEachOther() throws {
        #expect(try key("a") + key("bc") != key("ab") + key("c"))
        #expect(try key("a") + key("z") < key("a\0") + key("a"))
    }

    @Test func randomTextsSortByTheirNFCBytes() throws {
        var generator = SystemRandomNumberGenerator()
        let alphabet: [Unicode.Scalar] = [
            "a", "e", "\u{301}", "\u{0}", "\u{FF}", "é", "李", "Å", "\u{212B}", "\r", "\n", "z", "\u{10FFFF}",
        ]
        for _ in 0..<20_000 {
            func text() -> String {
                var view = String.UnicodeScalarView()
                for _ in 0..<Int.random(in: 0...5, using: &generator) {
                    view.append(alphabet.randomElement(using: &generator)!)
                }
                return String(view)
            }
            let (a, b) = (text(), text())
            let x = Array(a.precomposedStringWithCanonicalMapping.utf8)
            let y = Array(b.precomposedStringWithCanonicalMapping.utf8)
            let order = try key(.string(a)) < key(.string(b))
            #expect(order == x.lexicographicallyPrecedes(y))
            #expect(try (key(.string(a)) == key(.string(b))) == (a == b))
        }
    }

    @Test func randomNumbersSortByValue() throws {
        for _ in 0..<50_000 {
            let (a, b) = (Int64.random(in: .min ... .max), Int64.random(in: .min ... .max))
            #expect(try (key(.int(a)) < key(.int(b))) == (a < b))
            let (x, y) = (Double(bitPattern: .random(in: 0 ... .max)), Double(bitPattern: .random(in: 0 ... .max)))
            if !x.isNaN && !y.isNaN { #expect(try (key(.double(x)) < key(.double(y))) == (x < y)) }
        }
    }

    @Test func valuesComeBackFromTheirKeys() throws {
        for value in [
            Value.int(-5), .uint(9), .double(1.5), .bool(true), .string("李\0x"),
            .date(Date(timeIntervalSinceReferenceDate: 3)), .null,
        ] {
            let bytes = try key(value)
            let back = try bytes.withUnsafeBytes { buffer in
                var at = 0
                let value = try KeyCoder.value(at: &at, of: buffer)
                #expect(at == bytes.count)
                return value
            }
            #expect(back == value)
        }
    }

    @Test func longTextsAreCutAtAFixedByteAndKeepTheirOrderAndIdentity() throws {
        let base = String(repeating: "x", count: 600)
        let a = try key(.string(base + "a"), budget: 100)
        let b = try key(.string(base + "b"), budget: 100)
        #expect(a != b && a.count == b.count && a.count < 130)
        #expect(try key(.string("w"), budget: 100) < a && a < key(.string("y"), budget: 100))
        let emoji = String(repeating: "x", count: 98) + "😀😀"
        #expect(try key(.string(emoji), budget: 100).count < 130)
    }

    @Test func idsOfEveryTypeMakeKeys() throws {
        struct Pair: Codable, Hashable {
            var a: Int
            var b: String
        }
        func primary<T: Codable & Hashable>(_ id: T) throws -> [UInt8] {
            var buffer = KeyBuffer()
            try KeyCoder.primaryKey(of: id, into: &buffer)
            return Array(buffer.bytes)
        }
        #expect(try primary(-1) < primary(1))
        #expect(try primary("") != [])
        #expect(try primary("a") < primary("a\0") && primary("a\0") < primary("a\0b"))
        #expect(try primary(Pair(a: 1, b: "bc")) != primary(Pair(a: 1, b: "b")))
        #expect(try primary(UUID()).count == 16)
        #expect(throws: CodingFailure.self) { try primary(String(repeating: "x", count: 600)) }
        #expect(try primary(String(repeating: "x", count: 500)).count <= 511)
    }
}

private func < (a: [UInt8], b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }
