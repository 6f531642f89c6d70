import Foundation

/// One run of a type's `init(from:)` over made-up values: what was asked for, and what was given.
final class ProbeRun {
    static let passes = 12

    /// A field as it was asked for, by its path.
    struct Node {
        var type: FieldType
        var isOptional: Bool
        var children: [String] = []
        var element: FieldType?
    }

    var pass = 0
    var nodes: [[String]: Node] = [:]
    var top: [String] = []
    private var columns: [[String]: Int] = [:]
    var values: [[String]: Value] = [:]
    let sample: Value?
    /// The types whose `init(from:)` is running, so that recursive ones end.
    private var open: [ObjectIdentifier] = []

    private init(sample: Value?) { self.sample = sample }

    static func run<T: Decodable>(_ type: T.Type, sample: Value?) -> ProbeResult {
        let probe = ProbeRun(sample: sample)
        var passes: [FieldProbe.Pass] = []
        do {
            for pass in 0..<ProbeRun.passes {
                probe.pass = pass
                probe.values = [:]
                probe.open = [ObjectIdentifier(type)]
                let object = try T(from: ProbeDecoder(probe: probe, path: []))
                passes.append(FieldProbe.Pass(object: object, values: probe.values))
            }
            let fields = probe.top.compactMap { probe.shape([$0]) }
            if fields.isEmpty { return .refused("it asks for no fields") }
            return .probed(passes, fields)
        } catch {
            guard let sample, case .object(let fields) = sample else { return .refused("\(error)") }
            return SampleVariants.run(type, fields: fields) ?? .refused("\(error)")
        }
    }

    private func shape(_ path: [String]) -> FieldShape? {
        guard let node = nodes[path], let name = path.last else { return nil }
        var fields = node.children.compactMap { shape(path + [$0]) }
        if node.type == .array || node.type == .set {
            fields = (nodes[path + [ProbeRun.element]]?.children ?? []).compactMap {
                shape(path + [ProbeRun.element, $0])
            }
        }
        return FieldShape(
            name: name, type: node.type, isOptional: node.isOptional, fields: fields,
            element: node.type == .array || node.type == .set ? nodes[path + [ProbeRun.element]]?.type ?? .any : nil)
    }

    /// The name of a collection's elements in paths here.
    static let element = "\u{0}element"

    // MARK: Asking

    func note(_ path: [String], _ type: FieldType, isOptional: Bool = false) {
        guard let name = path.last else { return }
        if nodes[path] == nil {
            nodes[path] = Node(type: type, isOptional: isOptional)
            let parent = Array(path.dropLast())
            if parent.isEmpty {
                top.append(name)
            } else if name != ProbeRun.element {
                nodes[parent]?.children.append(name)
            }
        } else if type != .any {
            nodes[path]?.type = type
        }
    }

    func markOptional(_ path: [String]) {
        note(path, .any)
        nodes[path]?.isOptional = true
    }

    private func column(_ path: [String]) -> Int {
        if let known = columns[path] { return known }
        columns[path] = columns.count
        return columns.count - 1
    }

    /// Remembers what a path was given, unless it lies inside a collection.
    private func record(_ path: [String], _ value: @autoclosure () -> Value?) {
        guard !path.contains(ProbeRun.element) else { return }
        values[path] = value()
    }

    // MARK: Giving

    /// A value of a type for a path: different from every other path's, and from run to run.
    func value<T: Decodable>(_ type: T.Type, _ path: [String]) throws -> T {
        if let made = builtin(type, path) { return made }
        if let made = enumerated(type, path) {
            let value = FieldProbe.encoded(made)
            note(path, value.map(FieldShape.type) ?? .any)
            record(path, value)
            return made
        }
        note(path, .any)
        let id = ObjectIdentifier(type)
        guard open.filter({ $0 == id }).count < 2, path.count < 12 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "\(type) contains itself"))
        }
        open.append(id)
        defer { open.removeLast() }
        let made: T
        do {
            made = try T(from: ProbeDecoder(probe: self, path: path))
        } catch {
            made = try fallback(type, path, error)
        }
        if type is any AnySet.Type { nodes[path]?.type = .set }
        if !path.contains(ProbeRun.element), let value = FieldProbe.encoded(made) {
            values[path] = value
            if nodes[path]?.type == .any { nodes[path]?.type = FieldShape.type(of: value) }
        }
        return made
    }

    /// Empty collections, and what the sample has, for types that take nothing made up.
    private func fallback<T: Decodable>(_ type: T.Type, _ path: [String], _ error: any Error) throws -> T {
        if let sampled = sample.flatMap({ ProbeRun.find(path, in: $0) }), !sampled.isNil,
            let made = try? ProbeRun.decode(type, from: sampled)
        {
            note(path, FieldShape.type(of: sampled))
            return made
        }
        if let empty = try? T(from: ProbeDecoder(probe: self, path: path, isEmpty: true)) { return empty }
        throw error
    }

    static func find(_ path: [String], in value: Value) -> Value? {
        var value = value
        for step in path {
            if step == element {
                guard let first = value.arrayValue?.first else { return nil }
                value = first
            } else {
                guard let next = value.objectValue?[step] else { return nil }
                value = next
            }
        }
        return value
    }

    static func decode<T: Decodable>(_ type: T.Type, from value: Value) throws -> T {
        let registry = ShapeRegistry()
        let encoder = RowEncoder(registry, capacity: 256)
        let row = try encoder.encode(record: Value.Fields([("value", value)]))
        return try RowDecoder(registry).decode(SingleField<T>.self, from: row).value
    }

    /// Large, small and negative by turns, so that a property that only sometimes agrees shows.
    private func number(_ path: [String]) -> Int {
        let base = 1_000 + column(path) * 64 + pass
        return switch pass % 4 {
        case 0: base
        case 1: (1 << 40) + base
        case 2: -base
        default: -(1 << 40) - base
        }
    }

    private func builtin<T: Decodable>(_ type: T.Type, _ path: [String]) -> T? {
        func give<V>(_ value: V, _ stored: Value, _ field: FieldType) -> T? {
            note(path, field)
            record(path, stored)
            return value as? T
        }
        if T.self == Bool.self {
            let column = column(path)
            let flag = pass < 6 ? (column >> pass) & 1 == 1 : (column >> (pass - 6)) & 1 == 0
            return give(flag, .bool(flag), .bool)
        }
        if T.self == String.self {
            let text = ["Q \(number(path)) é", "aB\(number(path))", " \(number(path))ß "][pass % 3]
            return give(text, .string(text), .string)
        }
        if T.self == Character.self {
            let scalar = Unicode.Scalar(0x4E00 + UInt32(column(path) * 12 + pass)) ?? "x"
            return give(Character(scalar), .string(String(scalar)), .string)
        }
        if T.self == Double.self {
            let double = Double(number(path)) + 0.25
            return give(double, .double(double), .double)
        }
        if T.self == Float.self {
            let float = Float(column(path) * 64 + pass) + 0.25
            return give(float, .double(Double(float)), .double)
        }
        if T.self == Date.self {
            let date = Date(timeIntervalSinceReferenceDate: Double(number(path)) + 0.25)
            return give(date, .date(date), .date)
        }
        if T.self == UUID.self {
            var bytes = uuid_t(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 0)
            bytes.14 = UInt8(truncatingIfNeeded: column(path))
            bytes.15 = UInt8(truncatingIfNeeded: pass)
            return give(UUID(uuid: bytes), .uuid(UUID(uuid: bytes)), .uuid)
        }
        if T.self == Data.self {
            let data = Data("\(number(path))".utf8)
            return give(data, .data(data), .data)
        }
        if T.self == Decimal.self {
            let decimal = Decimal(number(path))
            return give(decimal, .decimal(decimal), .decimal)
        }
        if T.self == URL.self, let url = URL(string: "x://\(column(path))/\(pass)") {
            return give(url, .string(url.absoluteString), .string)
        }
        if let integer = T.self as? any FixedWidthInteger.Type { return whole(integer, path) as? T }
        return nil
    }

    private func whole<I: FixedWidthInteger>(_ type: I.Type, _ path: [String]) -> I {
        let wide = I.bitWidth >= 64 ? number(path) : column(path) * 12 + pass
        let value = I(truncatingIfNeeded: wide)
        if I.self == UInt.self || I.self == UInt64.self {
            note(path, .uint)
            record(path, .uint(UInt64(truncatingIfNeeded: value)))
        } else {
            note(path, .int)
            record(path, .int(Int64(truncatingIfNeeded: value)))
        }
        return value
    }

    private func enumerated<T: Decodable>(_ type: T.Type, _ path: [String]) -> T? {
        func pick<C: CaseIterable>(_ type: C.Type) -> T? {
            let cases = Array(C.allCases)
            guard !cases.isEmpty else { return nil }
            let column = column(path)
            return cases[((column >> (pass % 6)) + pass / 6) % cases.count] as? T
        }
        guard let iterable = T.self as? any CaseIterable.Type else { return nil }
        return pick(iterable)
    }
}

private struct SingleField<T: Decodable>: Decodable { let value: T }

extension FieldProbe {
    static func encoded(_ value: Any) -> Value? {
        guard let encodable = value as? any Encodable else { return nil }
        func encode<E: Encodable>(_ encodable: E) -> Value? { try? Value(encoding: encodable) }
        return encode(encodable)
    }
}
