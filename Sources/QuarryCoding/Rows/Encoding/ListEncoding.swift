import Foundation

extension EncodingLevel {
    /// Writes the payload of a value, without tag, at the end; tells its tag.
    @inline(__always)
    func write<T: Encodable>(_ value: T) throws -> UInt8 {
        if let packing = BuiltinPacking.of(T.self) {
            writeBuiltin(value, packing)
            return packing.rawValue
        }
        return try writeOther(value)
    }

    @inline(never)
    private func writeOther<T: Encodable>(_ value: T) throws -> UInt8 {
        if T.self == URL.self {
            let url = unsafeBitCast(value, to: URL.self)
            if url.baseURL == nil {
                state.pointee.bytes.append(text: url.absoluteString)
                return PayloadTag.string
            }
        }
        if T.self == Value.self, let value = value as? Value { return try write(untyped: value) }
        guard depth < RowLayout.depthLimit else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [], debugDescription: "nested more than \(RowLayout.depthLimit) deep"))
        }
        return try encoder.write(value, depth: depth + 1)
    }

    /// Remembers that the list just written is a set or a dictionary.
    @inline(__always)
    func noteTrait(of type: Any.Type) {
        guard state.pointee.kind == PayloadTag.list, state.pointee.trait == PayloadTag.null else { return }
        switch encoder.trait(of: type) {
        case .set: state.pointee.trait = PayloadTag.set
        case .pairs: state.pointee.trait = ListOrder.pairs
        case .other, .raw: break
        }
    }

    /// Types that the format knows, by the packing found for them.
    @inline(__always)
    private func writeBuiltin<T>(_ value: T, _ packing: Packing) {
        let bytes = state.pointee.bytes
        if T.self == String.self { return bytes.append(text: unsafeBitCast(value, to: String.self)) }
        if T.self == Int.self { return bytes.append(Int64(unsafeBitCast(value, to: Int.self))) }
        if T.self == Double.self { return bytes.append(unsafeBitCast(value, to: Double.self)) }
        if T.self == Bool.self { return bytes.append(unsafeBitCast(value, to: Bool.self) ? UInt8(1) : 0) }
        if T.self == Int64.self { return bytes.append(unsafeBitCast(value, to: Int64.self)) }
        if T.self == Int32.self { return bytes.append(unsafeBitCast(value, to: Int32.self)) }
        if T.self == Int16.self { return bytes.append(unsafeBitCast(value, to: Int16.self)) }
        if T.self == Int8.self { return bytes.append(unsafeBitCast(value, to: Int8.self)) }
        if T.self == UInt.self { return bytes.append(UInt64(unsafeBitCast(value, to: UInt.self))) }
        if T.self == UInt64.self { return bytes.append(unsafeBitCast(value, to: UInt64.self)) }
        if T.self == UInt32.self { return bytes.append(Int64(unsafeBitCast(value, to: UInt32.self))) }
        if T.self == UInt16.self { return bytes.append(Int32(unsafeBitCast(value, to: UInt16.self))) }
        if T.self == UInt8.self { return bytes.append(Int16(unsafeBitCast(value, to: UInt8.self))) }
        if T.self == Float.self { return bytes.append(unsafeBitCast(value, to: Float.self)) }
        if T.self == Date.self {
            return bytes.append(unsafeBitCast(value, to: Date.self).timeIntervalSinceReferenceDate)
        }
        if T.self == UUID.self { return bytes.append(unsafeBitCast(value, to: UUID.self).uuid) }
        if let data = value as? Data {
            return data.withUnsafeBytes { bytes.append(bytes: $0.baseAddress, count: $0.count) }
        }
        if let decimal = value as? Decimal { DecimalBytes.append(decimal, to: bytes) }
    }

    /// An element of a list or the value of a map entry: tag, length where the tag does not tell it, payload.
    @inline(__always)
    func writeElement<T: Encodable>(_ value: T) throws {
        let bytes = state.pointee.bytes
        let at = bytes.pointee.end
        bytes.append(UInt8(0))
        bytes.append(UInt32(0))
        let kind = try write(value)
        close(kind, at: at)
    }

    func close(_ kind: UInt8, at place: Int) {
        let bytes = state.pointee.bytes
        bytes.store(kind, at: place)
        let length = bytes.pointee.end - place - 5
        if PayloadTag.size(kind) != nil {
            let base = bytes.pointee.base + place + 1
            memmove(base, base + 4, length)
            bytes.pointee.end -= 4
        } else {
            if length > Int(Int32.max) { fail("a row of more than 2 GiB") }
            bytes.store(UInt32(truncatingIfNeeded: length), at: place + 1)
        }
    }
}

struct ListEncoding: UnkeyedEncodingContainer {
    let level: EncodingLevel
    init(_ level: EncodingLevel) { self.level = level }

    var codingPath: [any CodingKey] { [] }
    var count: Int { level.state.pointee.count }

    func encodeNil() throws {
        level.state.pointee.count += 1
        level.state.pointee.bytes.append(PayloadTag.null)
    }

    func encode<T: Encodable>(_ value: T) throws {
        level.state.pointee.count += 1
        try level.writeElement(value)
    }

    private func child() -> EncodingLevel {
        level.state.pointee.count += 1
        return level.makeChild(at: level.placeholder())
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type) -> KeyedEncodingContainer<N> {
        child().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }
    func superEncoder() -> any Encoder { child() }
}

/// Keys that are made at run time, as dictionaries have.
struct MapEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let level: EncodingLevel
    init(_ level: EncodingLevel) { self.level = level }

    var codingPath: [any CodingKey] { [] }

    private func begin(_ key: String) {
        let bytes = level.state.pointee.bytes
        let at = bytes.pointee.end
        bytes.append(UInt32(0))
        bytes.append(text: key)
        bytes.store(UInt32(truncatingIfNeeded: bytes.pointee.end - at - 4), at: at)
        level.state.pointee.count += 1
    }

    func encodeNil(forKey key: Key) throws {
        begin(key.stringValue)
        level.state.pointee.bytes.append(PayloadTag.null)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        begin(key.stringValue)
        try level.writeElement(value)
    }

    private func child(_ key: String) -> EncodingLevel {
        begin(key)
        return level.makeChild(at: level.placeholder())
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
        child(key.stringValue).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key.stringValue).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { child("super") }
    func superEncoder(forKey key: Key) -> any Encoder { child(key.stringValue) }
}

struct SingleEncoding: SingleValueEncodingContainer {
    let level: EncodingLevel
    init(_ level: EncodingLevel) { self.level = level }

    var codingPath: [any CodingKey] { [] }

    private func open() {
        if level.state.pointee.kind != EncodingState.unopened { level.fail("a single value after another value") }
    }

    func encodeNil() throws {
        open()
        level.state.pointee.kind = PayloadTag.null
    }

    func encode<T: Encodable>(_ value: T) throws {
        open()
        if BuiltinPacking.of(T.self) != nil || (value as? URL)?.baseURL == .some(nil) || T.self == Value.self {
            level.state.pointee.kind = try level.write(value)
            level.state.pointee.trait = EncodingState.whole
        } else {
            try value.encode(to: level)
            level.noteTrait(of: T.self)
        }
    }
}
