import Foundation

extension KeyCoder {
    /// LMDB's limit for a key.
    package static let limit = 511

    /// The primary key of an id: without a tag for an id of one component, with tags for one of several.
    ///
    /// - Throws: `CodingFailure.keyTooLong` over 511 bytes, `.notAKey` for a collection or nil.
    @inline(__always)
    package static func primaryKey<ID: Encodable>(of id: ID, into key: inout KeyBuffer) throws {
        if ID.self == Int.self {
            key.append(bigEndian: KeyNumbers.bits(Int64(unsafeBitCast(id, to: Int.self))))
            return
        }
        if ID.self == String.self { return try primaryKey(text: unsafeBitCast(id, to: String.self), into: &key) }
        try primaryKeyOfOther(id, into: &key)
    }

    @inline(never)
    private static func primaryKeyOfOther<ID: Encodable>(_ id: ID, into key: inout KeyBuffer) throws {
        if let id = id as? UUID {
            withUnsafeBytes(of: id.uuid) { key.append($0) }
            return
        }
        let value = try Value(encoding: id)
        switch value {
        case .object(let fields):
            guard !fields.pairs.isEmpty else { throw CodingFailure.notAKey("an id without fields") }
            let start = key.count
            for pair in fields.pairs {
                switch pair.value {
                case .array, .set, .object: throw CodingFailure.notAKey("the id's field \(pair.name) is a collection")
                default: _ = try append(pair.value, to: &key, budget: .max)
                }
            }
            try checkLength(key.count - start)
        default: try primaryKey(single: value, into: &key)
        }
    }

    /// The primary key of an id of one component, or of several as a list.
    package static func primaryKey(value: Value, type: FieldType?, into key: inout KeyBuffer) throws {
        switch (type, value) {
        case (.bool, .bool), (.int, .int), (.uint, .uint), (.double, .double), (.decimal, .decimal), (.date, .date),
            (.uuid, .uuid), (.string, .string), (.data, .data):
            try primaryKey(single: value, into: &key)
        case (nil, .array(let parts)), (.object, .array(let parts)), (.any, .array(let parts)):
            for part in parts { _ = try append(part, to: &key, budget: .max) }
            try checkLength(key.count)
        case (nil, .object(let fields)), (.object, .object(let fields)), (.any, .object(let fields)):
            for pair in fields.pairs { _ = try append(pair.value, to: &key, budget: .max) }
            try checkLength(key.count)
        default: throw CodingFailure.notAKey("\(value) is not an id of type \(type?.rawValue ?? "object")")
        }
    }

    private static func primaryKey(single value: Value, into key: inout KeyBuffer) throws {
        switch value {
        case .int(let number): key.append(bigEndian: KeyNumbers.bits(number))
        case .uint(let number): key.append(bigEndian: number)
        case .double(let number): key.append(bigEndian: KeyNumbers.bits(number))
        case .date(let date): key.append(bigEndian: KeyNumbers.bits(date.timeIntervalSinceReferenceDate))
        case .bool(let flag): key.append(flag ? 1 : 0)
        case .decimal(let number): KeyNumbers.append(number, to: &key)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { key.append($0) }
        case .string(let text): try primaryKey(text: text, into: &key)
        case .data(let data):
            let start = key.count
            data.withUnsafeBytes { appendData($0, to: &key) }
            try checkLength(key.count - start)
        case .null: throw CodingFailure.notAKey("an id cannot be nil")
        case .array, .set, .object: throw CodingFailure.notAKey("an id cannot be a collection")
        }
    }

    private static func primaryKey(text: String, into key: inout KeyBuffer) throws {
        let start = key.count
        var composed = TextFolding.composed(text)
        composed.withUTF8 { appendText(UnsafeRawBufferPointer($0), to: &key) }
        try checkLength(key.count - start)
    }

    private static func checkLength(_ count: Int) throws {
        if count > limit { throw CodingFailure.keyTooLong(bytes: count, limit: limit) }
    }

    /// Whether every key of this id type has one length.
    package static func isFixedWidth(_ type: Any.Type) -> Bool {
        type == Int.self || type == Int64.self || type == Int32.self || type == Int16.self || type == Int8.self
            || type == UInt.self || type == UInt64.self || type == UInt32.self || type == UInt16.self
            || type == UInt8.self || type == Double.self || type == Float.self || type == Date.self
            || type == UUID.self || type == Bool.self
    }
}
