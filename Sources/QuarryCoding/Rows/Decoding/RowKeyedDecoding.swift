import Foundation

/// The keyed container of a row, for keys of one byte.
struct RowKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    unowned(unsafe) let level: DecodingLevel
    private let state: UnsafeMutablePointer<DecodingState>
    /// The table of a second key type on the same row; nil for the first, whose table changes with the shape.
    private let ownTable: UnsafeMutablePointer<EncodingSlot>?
    /// Keeps the level for a container that the level does not keep in turn.
    private let owner: DecodingLevel?

    init(_ level: DecodingLevel, table: UnsafeMutablePointer<EncodingSlot>?) {
        self.level = level
        state = level.state
        ownTable = table
        owner = table == nil ? nil : level
    }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        guard let shape = level.shape else { return [] }
        return zip(shape.columns, shape.slots).compactMap { column, slot in
            let slot = EncodingSlot(slot)
            return has(slot) || isWrittenNil(slot) ? Key(stringValue: column.name) : nil
        }
    }

    // MARK: Slots

    @inline(__always)
    private func slot(_ key: Key) -> EncodingSlot {
        let bits = MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 0
        let slot = (ownTable ?? state.pointee.table)[bits]
        return _fastPath(slot.code != 0) ? slot : lookUp(key, bits)
    }

    @inline(never)
    private func lookUp(_ key: Key, _ bits: Int) -> EncodingSlot {
        let name = key.stringValue
        var found = level.shape?.slot(named: name)
        if found == nil, level.depth == 0 {
            for old in level.decoder.rules.renamed[name] ?? [] where found == nil {
                found = level.shape?.slot(named: old)
            }
        }
        let slot = found.map(EncodingSlot.init) ?? .missing
        (ownTable ?? state.pointee.table)[bits] = slot
        return slot
    }

    @inline(__always)
    private func has(_ slot: EncodingSlot) -> Bool {
        let byte = state.pointee.base.load(fromByteOffset: 2 &+ Int(slot.bit >> 3), as: UInt8.self)
        return byte & (1 &<< UInt8(truncatingIfNeeded: slot.bit & 7)) != 0 && slot.code != EncodingSlot.missing.code
    }

    /// Nil was written for the key, which types may ask.
    private func isWrittenNil(_ slot: EncodingSlot) -> Bool {
        slot.code == PayloadTag.any && !has(slot) && place(slot).loadUnaligned(as: UInt64.self) == 1
    }

    @inline(__always)
    private func place(_ slot: EncodingSlot) -> UnsafeRawPointer { state.pointee.base + Int(slot.offset) }

    @inline(__always)
    private func reference(_ slot: EncodingSlot) throws -> UnsafeRawBufferPointer {
        let reference = place(slot).loadUnaligned(as: UInt64.self)
        let offset = RowLayout.offset(reference)
        let length = RowLayout.length(reference)
        guard offset &+ length <= state.pointee.count else {
            throw CodingFailure.corruptRow("a field lies outside its row")
        }
        return UnsafeRawBufferPointer(start: state.pointee.base + offset, count: length)
    }

    private func payload(_ slot: EncodingSlot) throws -> Payload {
        guard let packing = Packing(rawValue: slot.code) else { return .null }
        guard packing.isReference else {
            return Payload(tag: slot.code, bytes: UnsafeRawBufferPointer(start: place(slot), count: packing.size))
        }
        let bytes = try reference(slot)
        if packing != .any { return Payload(tag: slot.code, bytes: bytes) }
        guard let tag = bytes.first else { throw CodingFailure.corruptRow("a field without its type") }
        return Payload(tag: tag, bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    }

    private func missing(_ key: Key) -> any Error {
        DecodingError.keyNotFound(
            key,
            DecodingError.Context(codingPath: [], debugDescription: "the row has no value for \(key.stringValue)"))
    }

    /// What a key holds, in whatever packing; the schema's default where the row has nothing.
    @inline(never)
    private func general<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
        let slot = slot(key)
        if has(slot) { return try level.read(type, payload(slot)) }
        if slot.code == EncodingSlot.missing.code, level.depth == 0,
            let value = try level.decoder.withDefault(key.stringValue, { try level.read(type, $0) })
        {
            return value
        }
        if type is any AnyOptional.Type { return try level.read(type, .null) }
        throw missing(key)
    }

    // MARK: Values

    func contains(_ key: Key) -> Bool {
        let slot = slot(key)
        return has(slot) || isWrittenNil(slot) || hasDefault(slot, key)
    }

    @inline(__always)
    private func hasDefault(_ slot: EncodingSlot, _ key: Key) -> Bool {
        guard _slowPath(slot.code == EncodingSlot.missing.code), level.depth == 0 else { return false }
        return level.decoder.withDefault(key.stringValue) { _ in true } ?? false
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        let slot = slot(key)
        return !has(slot) && !hasDefault(slot, key)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let slot = slot(key)
        if _fastPath(slot.code == PayloadTag.bool && has(slot)) { return place(slot).load(as: UInt8.self) != 0 }
        return try general(type, key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let slot = slot(key)
        if _fastPath(slot.code == PayloadTag.string && has(slot)) {
            return String(decoding: try reference(slot), as: UTF8.self)
        }
        return try general(type, key)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        let slot = slot(key)
        if _fastPath(slot.code == PayloadTag.int64 && has(slot)) {
            return Int(truncatingIfNeeded: place(slot).loadUnaligned(as: Int64.self))
        }
        return try general(type, key)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let slot = slot(key)
        if _fastPath(slot.code == PayloadTag.double && has(slot)) { return place(slot).loadUnaligned(as: Double.self) }
        return try general(type, key)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if T.self == Date.self {
            let slot = slot(key)
            if _fastPath(slot.code == PayloadTag.date && has(slot)) {
                let date = Date(timeIntervalSinceReferenceDate: place(slot).loadUnaligned(as: Double.self))
                return unsafeBitCast(date, to: T.self)
            }
        }
        return try general(type, key)
    }

    // MARK: Optionals

    @inline(__always)
    private func isThere(_ key: Key) -> Bool {
        let slot = slot(key)
        return has(slot) || hasDefault(slot, key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        isThere(key) ? try optional(type, key) : nil
    }

    /// A default may be nil itself.
    private func optional<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
        let slot = slot(key)
        if has(slot) {
            let payload = try payload(slot)
            return payload.tag == PayloadTag.null ? nil : try level.read(type, payload)
        }
        return try level.decoder.withDefault(key.stringValue) { payload in
            payload.tag == PayloadTag.null ? nil : try level.read(type, payload)
        } ?? nil
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        let slot = slot(key)
        if _fastPath(has(slot)) { return try decode(type, forKey: key) }
        return hasDefault(slot, key) ? try optional(type, key) : nil
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        let slot = slot(key)
        if _fastPath(has(slot)) { return try decode(type, forKey: key) }
        return hasDefault(slot, key) ? try optional(type, key) : nil
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        let slot = slot(key)
        if _fastPath(has(slot)) { return try decode(type, forKey: key) }
        return hasDefault(slot, key) ? try optional(type, key) : nil
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        let slot = slot(key)
        if _fastPath(has(slot)) { return try decode(type, forKey: key) }
        return hasDefault(slot, key) ? try optional(type, key) : nil
    }

    // MARK: Nested

    private func nested(_ key: Key) throws -> DecodingLevel {
        let slot = slot(key)
        guard has(slot) else { throw missing(key) }
        return try level.decoder.makeLevel(try payload(slot), depth: level.depth + 1)
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        try nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let slot = level.shape?.slot(named: "super").map(EncodingSlot.init), has(slot) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "the row has no value for super"))
        }
        return try level.decoder.makeLevel(try payload(slot), depth: level.depth + 1)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
}

/// Optional, whatever it wraps.
protocol AnyOptional {}
extension Optional: AnyOptional {}
