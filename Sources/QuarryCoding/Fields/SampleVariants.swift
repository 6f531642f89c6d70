import Foundation

/// Learns a type from one stored value, for types whose `init(from:)` checks what it is given: the value itself, and
/// the value with one field changed at a time, as far as the type takes that.
enum SampleVariants {
    static func run<T: Decodable>(_ type: T.Type, fields: Value.Fields) -> ProbeResult? {
        let registry = ShapeRegistry()
        let encoder = RowEncoder(registry, capacity: 256)
        let decoder = RowDecoder(registry)
        func pass(_ fields: Value.Fields) -> FieldProbe.Pass? {
            guard let row = try? encoder.encode(record: fields), let object = try? decoder.decode(type, from: row)
            else {
                return nil
            }
            var values: [[String]: Value] = [:]
            collect(.object(fields), [], into: &values)
            return FieldProbe.Pass(object: object, values: values)
        }
        guard let first = pass(fields) else { return nil }
        var passes = [first]
        for variant in variants(fields) { if let next = pass(variant) { passes.append(next) } }
        return .probed(passes, fields.pairs.map { FieldShape(name: $0.name, learnedFrom: $0.value) })
    }

    private static func collect(_ value: Value, _ path: [String], into values: inout [[String]: Value]) {
        if !path.isEmpty { values[path] = value }
        guard case .object(let fields) = value else { return }
        for pair in fields.pairs { collect(pair.value, path + [pair.name], into: &values) }
    }

    private static func variants(_ fields: Value.Fields) -> [Value.Fields] {
        fields.pairs.indices.flatMap { i in
            changed(fields.pairs[i].value).map { value in
                var copy = fields
                copy.pairs[i].value = value
                return copy
            }
        }
    }

    /// Other values of the same type, the likeliest to be taken first.
    private static func changed(_ value: Value) -> [Value] {
        switch value {
        case .bool(let flag): [.bool(!flag)]
        case .int(let number): [.int(number &+ 1), .int(number &- 1)]
        case .uint(let number): [.uint(number &+ 1), .uint(number &- 1)]
        case .double(let number): [.double(number + 1), .double(number - 1)]
        case .decimal(let number): [.decimal(number + 1), .decimal(number - 1)]
        case .string(let text): [.string(text + "x"), .string(text + "1")]
        case .date(let date): [.date(date.addingTimeInterval(1))]
        case .data(let data): [.data(data + [1])]
        case .uuid: [.uuid(UUID())]
        case .array(let elements): [.array(elements + elements)]
        case .set: [.set([])]
        case .object(let fields): variants(fields).map { .object($0) }
        case .null: []
        }
    }
}
