import Foundation

/// One component of a key, for errors and for queries that read keys alone.
package struct KeyComponent: Sendable, CustomStringConvertible {
    /// Text in its folded form; the start of it when the component is cut.
    package var value: Value
    /// The key holds the start of the value and a hash.
    package var isCut: Bool

    package var description: String { isCut ? "\(value)…" : "\(value)" }
}

extension KeyCoder {
    /// The components of an index key. Bytes that make no sense end the list.
    package static func components(_ key: UnsafeRawBufferPointer) -> [KeyComponent] {
        var result: [KeyComponent] = []
        var place = 0
        while place < key.count, let next = try? component(at: &place, of: key) { result.append(next) }
        return result
    }

    /// The value of the component at `place`, which moves behind it.
    package static func value(at place: inout Int, of key: UnsafeRawBufferPointer) throws -> Value {
        try component(at: &place, of: key).value
    }

    private static func component(at place: inout Int, of key: UnsafeRawBufferPointer) throws -> KeyComponent {
        guard place < key.count else { throw early }
        let tag = key[place]
        place += 1
        switch tag {
        case Tag.string, Tag.data:
            let (bytes, isCut) = try escaped(at: &place, of: key)
            return KeyComponent(
                value: tag == Tag.data ? .data(Data(bytes)) : .string(String(decoding: bytes, as: UTF8.self)),
                isCut: isCut)
        default: return KeyComponent(value: try fixed(tag, at: &place, of: key), isCut: false)
        }
    }

    private static var early: CodingFailure { .corruptRow("a key ends early") }

    private static func fixed(_ tag: UInt8, at place: inout Int, of key: UnsafeRawBufferPointer) throws -> Value {
        switch tag {
        case Tag.null: return .null
        case Tag.bool:
            guard place < key.count else { throw early }
            place += 1
            return .bool(key[place - 1] != 0)
        case Tag.int: return .int(KeyNumbers.int(try bits(at: &place, of: key)))
        case Tag.uint: return .uint(try bits(at: &place, of: key))
        case Tag.double: return .double(KeyNumbers.double(try bits(at: &place, of: key)))
        case Tag.decimal: return .decimal(try KeyNumbers.decimal(at: &place, of: key))
        case Tag.number:
            let nearest = KeyNumbers.double(try bits(at: &place, of: key))
            let rest = KeyNumbers.int(try bits(at: &place, of: key))
            guard let whole = Int64(exactly: nearest) else { return .double(nearest) }
            return .int(whole &+ rest)
        case Tag.date:
            return .date(Date(timeIntervalSinceReferenceDate: KeyNumbers.double(try bits(at: &place, of: key))))
        case Tag.uuid:
            guard place + 16 <= key.count, let base = key.baseAddress else { throw early }
            defer { place += 16 }
            return .uuid(UUID(uuid: (base + place).loadUnaligned(as: uuid_t.self)))
        case Tag.collection: return .array([])
        default: throw CodingFailure.corruptRow("a key has the unknown tag \(tag)")
        }
    }

    private static func bits(at place: inout Int, of key: UnsafeRawBufferPointer) throws -> UInt64 {
        guard place + 8 <= key.count, let base = key.baseAddress else { throw early }
        defer { place += 8 }
        return UInt64(bigEndian: (base + place).loadUnaligned(as: UInt64.self))
    }

    /// The content of a text or data component, up to its end or its cut.
    private static func escaped(
        at place: inout Int, of key: UnsafeRawBufferPointer
    ) throws -> (bytes: [UInt8], isCut: Bool) {
        var bytes: [UInt8] = []
        func skipHash() throws {
            guard place + 8 <= key.count else { throw early }
            place += 8
        }
        while place < key.count {
            let byte = key[place]
            place += 1
            guard byte == 0 || byte == 0xFF else {
                bytes.append(byte)
                continue
            }
            guard place < key.count else { throw early }
            let mark = key[place]
            switch (byte, mark) {
            case (0, 0x01):
                place += 1
                return (bytes, false)
            case (0, 0xFF), (0xFF, 0x01):
                place += 1
                bytes.append(byte)
            case (0, 0x02), (0xFF, 0x02):
                place += 1
                try skipHash()
                return (bytes, true)
            case (0xFF, _):
                try skipHash()
                return (bytes, true)
            default: throw CodingFailure.corruptRow("a key has a bad escape")
            }
        }
        throw early
    }

    // MARK: Primary keys

    /// The id in a primary key of this type; a list for an id of several components.
    package static func primaryKeyValue(_ key: UnsafeRawBufferPointer, type: FieldType?) -> Value {
        var place = 0
        let tag: UInt8
        switch type {
        case .bool: tag = Tag.bool
        case .int: tag = Tag.int
        case .uint: tag = Tag.uint
        case .double: tag = Tag.double
        case .decimal: tag = Tag.decimal
        case .date: tag = Tag.date
        case .uuid: tag = Tag.uuid
        case .string:
            let text = try? escaped(at: &place, of: key)
            return .string(String(decoding: text?.bytes ?? [], as: UTF8.self))
        case .data: return .data(Data((try? escaped(at: &place, of: key).bytes) ?? []))
        default:
            return .array(components(key).map(\.value))
        }
        return (try? fixed(tag, at: &place, of: key)) ?? .null
    }
}
