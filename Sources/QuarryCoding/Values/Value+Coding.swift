import Foundation

extension Value {
    /// What an encodable value is stored as.
    ///
    /// - Throws: what its `encode(to:)` throws.
    package init(encoding value: some Encodable) throws {
        if let value = value as? Value {
            self = value
            return
        }
        // A list of one, since a row takes keyed values alone.
        let registry = ShapeRegistry()
        let encoder = RowEncoder(registry, capacity: 256)
        let row = try encoder.encode(Single(value: value))
        self = try withExtendedLifetime((registry, encoder)) {
            let view = try RowView(row, registry)
            guard let slot = view.shape.slot(named: "value") else { return .null }
            return try view.value(slot)
        }
    }

    private struct Single<T: Encodable>: Encodable { let value: T }
}

extension Value: Codable {
    /// Decodes a value from Quarry's rows exactly; from other decoders as what it looks like.
    public init(from decoder: any Decoder) throws {
        if let level = decoder as? DecodingLevel {
            self = try level.untyped()
            return
        }
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            var fields = Fields()
            for key in container.allKeys { fields[key.stringValue] = try container.decode(Value.self, forKey: key) }
            self = .object(fields)
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var elements: [Value] = []
            while !list.isAtEnd { elements.append(try list.decode(Value.self)) }
            self = .array(elements)
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? single.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? single.decode(UInt64.self) {
            self = .uint(value)
        } else if let value = try? single.decode(Double.self) {
            self = .double(value)
        } else {
            self = .string(try single.decode(String.self))
        }
    }

    /// Encodes what the value holds, with the encoder's own ways for dates and data.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let elements), .set(let elements):
            var list = encoder.unkeyedContainer()
            for element in elements { try list.encode(element) }
        case .object(let fields):
            var container = encoder.container(keyedBy: AnyKey.self)
            for pair in fields.pairs { try container.encode(pair.value, forKey: AnyKey(stringValue: pair.name)) }
        default:
            var single = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try single.encode(value)
            case .int(let value): try single.encode(value)
            case .uint(let value): try single.encode(value)
            case .double(let value): try single.encode(value)
            case .decimal(let value): try single.encode(value)
            case .string(let value): try single.encode(value)
            case .date(let value): try single.encode(value)
            case .data(let value): try single.encode(value)
            case .uuid(let value): try single.encode(value)
            case .null, .array, .set, .object: try single.encodeNil()
            }
        }
    }
}

/// A coding key of any name.
package struct AnyKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { Int(stringValue) }
    package init(stringValue: String) { self.stringValue = stringValue }
    package init(intValue: Int) { stringValue = String(intValue) }
}
