import Foundation

struct ListDecoding: UnkeyedDecodingContainer {
    let level: DecodingLevel
    private var reader: ListReader
    /// An element that was read ahead, to see whether it is nil.
    private var ahead: Payload?

    init(_ level: DecodingLevel) throws {
        self.level = level
        reader = try ListReader(level.payload.bytes)
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { reader.count }
    var currentIndex: Int { reader.index - (ahead == nil ? 0 : 1) }
    var isAtEnd: Bool { currentIndex >= reader.count }

    private mutating func next(_ type: Any.Type) throws -> Payload {
        if let payload = ahead {
            ahead = nil
            return payload
        }
        if let payload = try reader.next() { return payload }
        throw DecodingError.valueNotFound(
            type, DecodingError.Context(codingPath: [], debugDescription: "the list has \(reader.count) elements"))
    }

    mutating func decodeNil() throws -> Bool {
        let payload = try next(Any?.self)
        if payload.tag == PayloadTag.null { return true }
        ahead = payload
        return false
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let payload = try next(type)
        do {
            return try level.read(type, payload)
        } catch {
            // A failed element stays the next one, as with Foundation's decoders.
            ahead = payload
            throw error
        }
    }

    private mutating func nested() throws -> DecodingLevel {
        try level.decoder.makeLevel(try next(Any.self), depth: level.depth + 1)
    }

    mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type) throws -> KeyedDecodingContainer<N> {
        try nested().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try nested().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try nested() }
}

/// Keys that are made at run time, or a map read with keys of one byte: the fields by name.
struct FieldsDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let level: DecodingLevel
    private var fields: [String: Payload] = [:]
    private var names: [String] = []

    init(_ level: DecodingLevel) throws {
        self.level = level
        let payload = level.payload
        switch payload.tag {
        case PayloadTag.map:
            var reader = try ListReader(payload.bytes)
            while let (key, value) = try reader.nextEntry() { add(String(decoding: key, as: UTF8.self), value) }
        case PayloadTag.row:
            let view = try RowView(nested: payload.bytes, level.decoder.registry)
            let shape = view.shape
            for (column, slot) in zip(shape.columns, shape.slots) where view.isPresent(slot) {
                add(column.name, try view.payload(slot))
            }
        default: throw level.mismatch([String: Any].self)
        }
    }

    private mutating func add(_ name: String, _ payload: Payload) {
        if fields.updateValue(payload, forKey: name) == nil { names.append(name) }
    }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { names.compactMap(Key.init(stringValue:)) }

    private func payload(_ name: String) -> Payload? {
        if let found = fields[name] { return found }
        guard level.depth == 0 else { return nil }
        for old in level.decoder.rules.renamed[name] ?? [] { if let found = fields[old] { return found } }
        return nil
    }

    func contains(_ key: Key) -> Bool { payload(key.stringValue) != nil || hasDefault(key.stringValue) }

    private func hasDefault(_ name: String) -> Bool {
        level.depth == 0 && level.decoder.withDefault(name) { _ in true } ?? false
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        if let payload = payload(key.stringValue) { return payload.tag == PayloadTag.null }
        return !hasDefault(key.stringValue)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let payload = payload(key.stringValue) { return try level.read(type, payload) }
        if level.depth == 0,
            let value = try level.decoder.withDefault(key.stringValue, { try level.read(type, $0) })
        {
            return value
        }
        if type is any AnyOptional.Type { return try level.read(type, .null) }
        throw DecodingError.keyNotFound(
            key, DecodingError.Context(codingPath: [], debugDescription: "there is no value for \(key.stringValue)"))
    }

    private func nested(_ name: String) throws -> DecodingLevel {
        guard let payload = payload(name) else {
            throw DecodingError.keyNotFound(
                AnyKey(stringValue: name),
                DecodingError.Context(codingPath: [], debugDescription: "there is no value for \(name)"))
        }
        return try level.decoder.makeLevel(payload, depth: level.depth + 1)
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        try nested(key.stringValue).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(key.stringValue).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { try nested("super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key.stringValue) }
}

struct SingleDecoding: SingleValueDecodingContainer {
    let level: DecodingLevel
    init(_ level: DecodingLevel) { self.level = level }

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { level.state.pointee.tag == PayloadTag.null }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let value = try level.payload.builtin(type) { return value }
        return try T(from: level)
    }
}
