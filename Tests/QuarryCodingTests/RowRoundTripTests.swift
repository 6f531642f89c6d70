import Foundation
import Testing

@testable import QuarryCoding

private enum Colour: String, Codable, CaseIterable, Sendable { case red, green }
private enum Level: Int, Codable, Sendable {
    case low = -1
    case high = 7
}
private enum Shape2: Codable, Equatable, Sendable {
    case none
    case circle(radius: Double)
    case named(String, Int)
}
private struct Inner: Codable, Equatable, Hashable, Sendable {
    var a: Int
    var b: String?
}
private struct Everything: Codable, Equatable {
    var i8 = Int8.min
    var i16 = Int16.max
    var i32 = Int32.min
    var i64 = Int64.max
    var int = Int.min
    var u8 = UInt8.max
    var u16 = UInt16.max
    var u32 = UInt32.max
    var u64 = UInt64.max
    var uint = UInt.max
    var float: Float = -.infinity
    var double = 0.1
    var decimal = Decimal(string: "123456789012345678901234567890.12345678")!
    var negative = Decimal(string: "-0.001")!
    var bool = true
    var text = "é\0 李雷 👨‍👩‍👧"
    var empty = ""
    var date = Date(timeIntervalSinceReferenceDate: 1.5)
    var data = Data([0, 255, 1])
    var uuid = UUID()
    var url = URL(string: "https://example.com/a?b=c")!
    var nothing: Int?
    var something: String? = "x"
    var inner = Inner(a: 1, b: nil)
    var optional: Inner? = Inner(a: 2, b: "b")
    var list = [3, 1, 2]
    var texts = ["b", "", "a"]
    var nested = [[1], [], [2, 3]]
    var holes: [Int?] = [1, nil, 3]
    var inners = [Inner(a: 5, b: "q"), Inner(a: 6, b: nil)]
    var set: Set<String> = ["x", "y", "z"]
    var structs: Set<Inner> = [Inner(a: 1, b: "1"), Inner(a: 2, b: "2")]
    var named = ["k": 1, "": 2, "l": 3]
    var numbered = [3: "c", -1: "m"]
    var byColour: [Colour: Int] = [.red: 1, .green: 2]
    var byInner = [Inner(a: 1, b: nil): "v"]
    var deep = ["x": ["y": [1, 2]]]
    var colour = Colour.green
    var level = Level.high
    var shape = Shape2.circle(radius: 2)
    var shapes: [Shape2] = [.none, .named("n", 4)]
    var range = 1..<5
}

private final class Tree: Codable, Equatable {
    var value: Int
    var children: [Tree]
    init(_ value: Int, _ children: [Tree] = []) {
        self.value = value
        self.children = children
    }
    static func == (a: Tree, b: Tree) -> Bool { a.value == b.value && a.children == b.children }
}

private class Base: Codable {
    var a = 1
    init() {}
}
private final class Derived: Base {
    var b = "two"
    private enum Keys: String, CodingKey { case b }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
        b = try decoder.container(keyedBy: Keys.self).decode(String.self, forKey: .b)
        try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(b, forKey: .b)
    }
}
private final class Nested: Base {
    var c = "three"
    private enum Keys: String, CodingKey { case c }
    override init() { super.init() }
    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        c = try container.decode(String.self, forKey: .c)
        try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(c, forKey: .c)
        try super.encode(to: container.superEncoder())
    }
}

@Suite struct RowRoundTripTests {
    let registry = ShapeRegistry()

    private func roundTrip<T: Codable>(_ value: T) throws -> T {
        let encoder = RowEncoder(registry)
        let row = try encoder.encode(value)
        return try RowDecoder(registry).decode(T.self, from: row)
    }

    private func bytes<T: Codable>(_ value: T) throws -> [UInt8] {
        let encoder = RowEncoder(registry)
        return Array(try encoder.encode(value))
    }

    @Test func everyKindOfFieldComesBackAsItWas() throws {
        let value = Everything()
        #expect(try roundTrip(value) == value)
    }

    @Test func equalValuesHaveEqualBytes() throws {
        var value = Everything()
        let encoder = RowEncoder(registry)
        _ = try encoder.encode(value)
        let first = Array(try encoder.encode(value))
        value.set = Set(value.set.shuffled())
        value.named = Dictionary(uniqueKeysWithValues: value.named.shuffled())
        #expect(Array(try encoder.encode(value)) == first)
        #expect(try bytes(value) == first)
    }

    @Test func notANumberAndInfinitiesSurvive() throws {
        struct Numbers: Codable {
            var values: [Double]
            var one: Double
            var float: Float
        }
        let back = try roundTrip(
            Numbers(values: [.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude], one: .nan, float: .nan))
        #expect(back.one.isNaN && back.float.isNaN && back.values[0].isNaN)
        #expect(back.values[1] == .infinity && back.values[2] == -.infinity)
        #expect(back.values[3].sign == .minus && back.values[4] == .leastNonzeroMagnitude)
    }

    @Test func recursiveTypesAndClassesWithSuperSurvive() throws {
        let tree = Tree(1, [Tree(2, [Tree(3)]), Tree(4)])
        #expect(try roundTrip(tree) == tree)
        let derived = Derived()
        derived.a = 9
        derived.b = "nine"
        let back = try roundTrip(derived)
        #expect(back.a == 9 && back.b == "nine")
        let nested = Nested()
        nested.a = 8
        nested.c = "eight"
        let again = try roundTrip(nested)
        #expect(again.a == 8 && again.c == "eight")
    }

    @Test func nestingBeyondTheLimitIsAnErrorAndNoCrash() throws {
        var tree = Tree(0)
        for i in 1...2000 { tree = Tree(i, [tree]) }
        #expect(throws: (any Error).self) { try roundTrip(tree) }
        // Taken apart by hand, since freeing it recursively would exhaust the stack.
        while let next = tree.children.popLast() { tree = next }
    }

    @Test func anOlderShapeDecodes() throws {
        struct Old: Codable {
            var a: Int
            var gone: String
            var b: Int32
        }
        struct New: Codable, Equatable {
            var b: Int
            var added: String?
            var a: Int
        }
        let encoder = RowEncoder(registry)
        let row = try encoder.encode(Old(a: 1, gone: "x", b: 2))
        let new = try RowDecoder(registry).decode(New.self, from: row)
        #expect(new == New(b: 2, added: nil, a: 1))
    }

    @Test func renamedAndDefaultedFieldsFollowTheRules() throws {
        struct Old: Codable { var title: String }
        struct New: Codable, Equatable {
            var name: String
            var count: Int
        }
        let encoder = RowEncoder(registry)
        let row = try encoder.encode(Old(title: "t"))
        let rules = FieldRules(renamed: ["name": ["title"]], defaults: ["count": .int(7)])
        #expect(try RowDecoder(registry, rules: rules).decode(New.self, from: row) == New(name: "t", count: 7))
        #expect(throws: DecodingError.self) { try RowDecoder(registry).decode(New.self, from: row) }
    }

    @Test func oneFieldIsReadWithoutDecodingTheRow() throws {
        let encoder = RowEncoder(registry)
        let value = Everything()
        let view = try RowView(try encoder.encode(value), registry)
        #expect(try view.value(of: ["int"]) == .int(Int64(value.int)))
        #expect(try view.value(of: ["inner", "a"]) == .int(1))
        #expect(try view.value(of: ["named", "l"]) == .int(3))
        #expect(try view.value(of: ["nothing"]) == .null)
        #expect(try view.value(of: ["missing"]) == .null)
        #expect(try view.value(of: ["texts"]) == .array(["b", "", "a"]))
        #expect(view.verifyChecksum())
    }

    @Test func randomBytesNeverCrashTheDecoder() throws {
        let encoder = RowEncoder(registry)
        let row = Array(try encoder.encode(Everything()))
        let decoder = RowDecoder(registry)
        var generator = SystemRandomNumberGenerator()
        var failures = 0
        for round in 0..<30_000 {
            var bytes = row
            switch round % 3 {
            case 0:
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
            case 1: bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
            default:
                bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in .random(in: 0...255) }
                // A known shape, so that the rest is looked at.
                if bytes.count > 6 { (bytes[4], bytes[5]) = (row[4], row[5]) }
            }
            bytes.withUnsafeBytes { buffer in
                do {
                    let view = try RowView(buffer, registry)
                    try view.checkStructure()
                } catch { failures += 1 }
                do { _ = try decoder.decode(Everything.self, from: buffer) } catch { failures += 1 }
            }
        }
        #expect(failures > 0)
    }

    @Test func aFlippedBitIsFoundByTheChecksum() throws {
        let row = try bytes(Everything())
        for i in row.indices where i != 4 && i != 5 {
            for bit in 0..<8 {
                var bytes = row
                bytes[i] ^= 1 << UInt8(bit)
                let isWhole = try bytes.withUnsafeBytes { try RowView($0, registry).verifyChecksum() }
                #expect(!isWhole)
            }
        }
    }

    @Test func aRolledBackShapeIsForgotten() throws {
        struct First: Codable { var a: Int }
        struct Second: Codable, Equatable { var b: String }
        let encoder = RowEncoder(registry)
        _ = try encoder.encode(First(a: 1))
        let mark = registry.mark()
        _ = try encoder.encode(Second(b: "x"))
        #expect(registry.shapes(since: mark).count == 1)
        registry.rollback(to: mark)
        let row = try encoder.encode(Second(b: "y"))
        #expect(registry.shapes(since: mark).count == 1)
        #expect(try RowDecoder(registry).decode(Second.self, from: row) == Second(b: "y"))
    }
}
