import Foundation

/// The keyed container of a row, for keys of one byte.
struct RowKeyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    unowned(unsafe) let level: EncodingLevel
    private let state: UnsafeMutablePointer<EncodingState>
    /// Keeps the level for a container that the level does not keep in turn.
    private let owner: EncodingLevel?
    /// The table of a second key type in the same row; nil for the first, whose table changes as the shape grows.
    private let ownTable: UnsafeMutablePointer<EncodingSlot>?
    /// The key type whose shape the row has.
    private let keys: ObjectIdentifier

    init(_ level: EncodingLevel, table: UnsafeMutablePointer<EncodingSlot>?, keys: ObjectIdentifier) {
        self.level = level
        state = level.state
        ownTable = table
        owner = table == nil ? nil : level
        self.keys = keys
    }

    var codingPath: [any CodingKey] { [] }

    // MARK: Slots

    @inline(__always)
    private func bits(_ key: Key) -> Int { MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 0 }

    /// The key's slot when it has this packing or `any`; asks for one, and gives none, otherwise.
    @inline(__always)
    private func slot(_ key: Key, _ packing: Packing) -> EncodingSlot {
        let slot = (ownTable ?? state.pointee.table)[bits(key)]
        if _fastPath(slot.code == packing.rawValue) { return slot }
        return resolve(key, packing)
    }

    @inline(never)
    private func resolve(_ key: Key, _ packing: Packing) -> EncodingSlot {
        let slot = known(key)
        if slot.code == packing.rawValue || slot.code == PayloadTag.any { return slot }
        level.encoder.need(Column(name: key.stringValue, packing: packing), for: keys)
        return .unresolved
    }

    /// The key's slot whatever its packing.
    @inline(__always)
    private func known(_ key: Key) -> EncodingSlot {
        let slot = (ownTable ?? state.pointee.table)[bits(key)]
        return _fastPath(slot.code != 0) ? slot : lookUp(key)
    }

    @inline(never)
    private func lookUp(_ key: Key) -> EncodingSlot {
        guard let found = level.shape?.slot(named: key.stringValue) else { return .unresolved }
        let slot = EncodingSlot(found)
        (ownTable ?? state.pointee.table)[bits(key)] = slot
        return slot
    }

    // MARK: Values

    @inline(__always)
    private func put<V: BitwiseCopyable & Encodable>(_ value: V, _ key: Key, _ packing: Packing) throws {
        let slot = slot(key, packing)
        if _fastPath(slot.code == packing.rawValue) { level.put(slot, value) } else { try general(value, slot, key) }
    }

    func encodeNil(forKey key: Key) throws {
        // Says in an `any` slot that the key was written, for types that ask.
        let slot = known(key)
        if slot.code == PayloadTag.any {
            state.pointee.bytes.store(UInt64(1), at: state.pointee.start + Int(slot.offset))
        }
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        let slot = slot(key, .bool)
        if _fastPath(slot.code == PayloadTag.bool) {
            level.put(slot, value ? UInt8(1) : 0)
        } else {
            try general(value, slot, key)
        }
    }

    func encode(_ value: String, forKey key: Key) throws {
        let slot = slot(key, .string)
        if _fastPath(slot.code == PayloadTag.string) {
            level.put(slot, text: value)
        } else {
            try general(value, slot, key)
        }
    }

    func encode(_ value: Int, forKey key: Key) throws { try put(Int64(value), key, .int64) }
    func encode(_ value: Int8, forKey key: Key) throws { try put(value, key, .int8) }
    func encode(_ value: Int16, forKey key: Key) throws { try put(value, key, .int16) }
    func encode(_ value: Int32, forKey key: Key) throws { try put(value, key, .int32) }
    func encode(_ value: Int64, forKey key: Key) throws { try put(value, key, .int64) }
    func encode(_ value: UInt, forKey key: Key) throws { try put(UInt64(value), key, .uint64) }
    func encode(_ value: UInt8, forKey key: Key) throws { try put(Int16(value), key, .int16) }
    func encode(_ value: UInt16, forKey key: Key) throws { try put(Int32(value), key, .int32) }
    func encode(_ value: UInt32, forKey key: Key) throws { try put(Int64(value), key, .int64) }
    func encode(_ value: UInt64, forKey key: Key) throws { try put(value, key, .uint64) }
    func encode(_ value: Double, forKey key: Key) throws { try put(value, key, .double) }
    func encode(_ value: Float, forKey key: Key) throws { try put(value, key, .float) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if T.self == Date.self {
            let slot = slot(key, .date)
            if _fastPath(slot.code == PayloadTag.date) {
                return level.put(slot, unsafeBitCast(value, to: Date.self).timeIntervalSinceReferenceDate)
            }
            return try general(value, slot, key)
        }
        if T.self == UUID.self {
            let slot = slot(key, .uuid)
            if slot.code == PayloadTag.uuid { return level.put(slot, unsafeBitCast(value, to: UUID.self).uuid) }
            return try general(value, slot, key)
        }
        try general(value, known(key), key)
    }

    /// A value whose packing shows when it has been written: raw values, types that write one value, nested ones.
    @inline(never)
    private func general<T: Encodable>(_ value: T, _ slot: EncodingSlot, _ key: Key) throws {
        let bytes = state.pointee.bytes
        let at = bytes.pointee.end
        let isAny = slot.code == PayloadTag.any
        if isAny { bytes.append(UInt8(0)) }
        let content = bytes.pointee.end
        let kind = try level.write(value)
        if isAny {
            if kind == PayloadTag.null {
                bytes.pointee.end = at
                return try encodeNil(forKey: key)
            }
            bytes.store(kind, at: at)
            let offset = at - state.pointee.start
            return level.putReference(slot, offset: offset, length: bytes.pointee.end - at, isPlain: false)
        }
        if kind == PayloadTag.null {
            bytes.pointee.end = at
            return
        }
        let packing = Packing(rawValue: kind) ?? .any
        let known = Packing(rawValue: slot.code)
        if packing == known, packing == .string || packing == .data {
            let length = bytes.pointee.end - content
            let isPlain = packing == .string && RowLayout.isPlain(bytes.pointee.base + content, length)
            return level.putReference(slot, offset: content - state.pointee.start, length: length, isPlain: isPlain)
        }
        bytes.pointee.end = at
        if let known, packing != .any, known.merged(with: packing) == known {
            // The bytes stand behind the end until the next write.
            let source = bytes.pointee.base + content
            let target = bytes.pointee.base + state.pointee.start + Int(slot.offset)
            if packing == known {
                target.copyMemory(from: source, byteCount: known.size)
            } else {
                let wide = Payload.integer(source, packing)
                switch known {
                case .int16: target.storeBytes(of: Int16(truncatingIfNeeded: wide), as: Int16.self)
                case .int32: target.storeBytes(of: Int32(truncatingIfNeeded: wide), as: Int32.self)
                default: target.storeBytes(of: wide, as: Int64.self)
                }
            }
            return level.markPresent(slot)
        }
        level.encoder.need(Column(name: key.stringValue, packing: packing), for: keys)
    }

    // MARK: Optionals

    /// Nil asks for the column too, so that all rows of a type have one shape.
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        if known(key).code != 0 { return }
        if let packing = BuiltinPacking.of(T.self) {
            _ = resolve(key, packing)
        } else if T.self == URL.self {
            _ = resolve(key, .string)
        } else if case .raw(let packing) = level.encoder.trait(of: T.self) {
            _ = resolve(key, packing)
        }
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .bool) }
    }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .string) }
    }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int64) }
    }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int8) }
    }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int16) }
    }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int32) }
    }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int64) }
    }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .uint64) }
    }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int16) }
    }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int32) }
    }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .int64) }
    }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .uint64) }
    }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .double) }
    }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { _ = slot(key, .float) }
    }

    // MARK: Nested

    private func anySlot(_ key: Key) -> EncodingSlot { slot(key, .any) }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
        level.makeChild(at: anySlot(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        level.makeChild(at: anySlot(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        level.makeChild(named: "super")
    }

    func superEncoder(forKey key: Key) -> any Encoder { level.makeChild(at: anySlot(key)) }
}
