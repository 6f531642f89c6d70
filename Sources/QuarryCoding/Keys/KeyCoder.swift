import Foundation

/// Values as bytes that memcmp in the order of the values. `FileFormat.md` lists them.
///
/// A component begins with a tag, nil is the tag alone, and no component is the beginning of another, so that compound
/// keys cannot run into each other.
package enum KeyCoder {
    enum Tag {
        static let null: UInt8 = 0x00
        static let bool: UInt8 = 0x10
        static let int: UInt8 = 0x20
        static let uint: UInt8 = 0x21
        static let double: UInt8 = 0x22
        static let decimal: UInt8 = 0x23
        static let number: UInt8 = 0x24
        static let date: UInt8 = 0x30
        static let string: UInt8 = 0x40
        static let data: UInt8 = 0x50
        static let uuid: UInt8 = 0x60
        static let collection: UInt8 = 0x70
    }

    /// Adds one component of an index key.
    ///
    /// - Parameters:
    ///   - budget: the most bytes that a text or data component takes, its tag counted, before it is cut.
    ///   - options: how text is folded.
    ///   - isMixed: numbers of all kinds are ordered among one another.
    /// - Returns: whether the value is nil.
    package static func append(
        _ value: Value, to key: inout KeyBuffer, budget: Int, options: TextOptions = [], isMixed: Bool = false
    ) throws -> Bool {
        switch value {
        case .null:
            key.append(Tag.null)
            return true
        case .int, .uint, .double, .decimal:
            if isMixed {
                key.append(Tag.number)
                KeyNumbers.appendMixed(value, to: &key)
            } else {
                appendNumber(value, to: &key)
            }
        case .bool(let value): append(bool: value, to: &key)
        case .date(let value): append(date: value.timeIntervalSinceReferenceDate, to: &key)
        case .string(let text): append(text: text, to: &key, budget: budget, options: options)
        case .data(let data): data.withUnsafeBytes { append(data: $0, to: &key, budget: budget) }
        case .uuid(let value):
            key.append(Tag.uuid)
            withUnsafeBytes(of: value.uuid) { key.append($0) }
        case .array, .set, .object: key.append(Tag.collection)
        }
        return false
    }

    private static func appendNumber(_ value: Value, to key: inout KeyBuffer) {
        switch value {
        case .int(let number): append(int: number, to: &key)
        case .uint(let number): append(uint: number, to: &key)
        case .double(let number): append(double: number, to: &key)
        case .decimal(let number):
            key.append(Tag.decimal)
            KeyNumbers.append(number, to: &key)
        default: break
        }
    }

    @inline(__always)
    private static func append(_ tag: UInt8, _ bits: UInt64, to key: inout KeyBuffer) {
        let place = key.extend(by: 9)
        place.storeBytes(of: tag, as: UInt8.self)
        place.storeBytes(of: bits.bigEndian, toByteOffset: 1, as: UInt64.self)
    }

    @inline(__always)
    static func append(int value: Int64, to key: inout KeyBuffer) { append(Tag.int, KeyNumbers.bits(value), to: &key) }
    @inline(__always)
    static func append(uint value: UInt64, to key: inout KeyBuffer) { append(Tag.uint, value, to: &key) }
    @inline(__always)
    static func append(double value: Double, to key: inout KeyBuffer) {
        append(Tag.double, KeyNumbers.bits(value), to: &key)
    }
    @inline(__always)
    static func append(date value: Double, to key: inout KeyBuffer) {
        append(Tag.date, KeyNumbers.bits(value), to: &key)
    }
    @inline(__always)
    static func append(bool value: Bool, to key: inout KeyBuffer) {
        key.append(Tag.bool)
        key.append(value ? 1 : 0)
    }

    // MARK: Text and data

    static func append(text: String, to key: inout KeyBuffer, budget: Int, options: TextOptions) {
        var folded = TextFolding.folded(text, options)
        folded.withUTF8 { append(folded: UnsafeRawBufferPointer($0), to: &key, budget: budget) }
    }

    /// Text whose bytes are in their compared form already.
    @inline(__always)
    static func append(folded bytes: UnsafeRawBufferPointer, to key: inout KeyBuffer, budget: Int) {
        let start = key.count
        key.append(Tag.string)
        appendText(bytes, to: &key)
        if key.count - start > budget { cut(&key, from: start, budget: budget) }
    }

    /// The content and the end of a text component.
    @inline(__always)
    static func appendText(_ bytes: UnsafeRawBufferPointer, to key: inout KeyBuffer) {
        if let base = bytes.baseAddress, memchr(base, 0, bytes.count) != nil {
            for byte in bytes {
                key.append(byte)
                if byte == 0 { key.append(0xFF) }
            }
        } else {
            key.append(bytes)
        }
        key.extend(by: 2).storeBytes(of: UInt16(0x0001).bigEndian, as: UInt16.self)
    }

    static func append(data bytes: UnsafeRawBufferPointer, to key: inout KeyBuffer, budget: Int) {
        let start = key.count
        key.append(Tag.data)
        appendData(bytes, to: &key)
        if key.count - start > budget { cut(&key, from: start, budget: budget) }
    }

    static func appendData(_ bytes: UnsafeRawBufferPointer, to key: inout KeyBuffer) {
        for byte in bytes {
            key.append(byte)
            if byte == 0 { key.append(0xFF) }
            if byte == 0xFF { key.append(0x01) }
        }
        key.append(0)
        key.append(1)
    }

    /// Leaves the first `budget` bytes of the component, a mark, and eight bytes of hash.
    ///
    /// The cut is at one fixed byte, even inside an escape, since anything else would change the order. The mark tells
    /// whether it was: FF, which stands nowhere else before a byte of hash, or 02 after half an escape.
    private static func cut(_ key: inout KeyBuffer, from start: Int, budget: Int) {
        let hash = keyHash(UnsafeRawBufferPointer(rebasing: key.bytes[start...]))
        let isData = key.bytes[start] == Tag.data
        key.truncate(to: start + budget)
        key.append(endsInsideEscape(key.bytes, from: start + 1, isData: isData) ? 0x02 : 0xFF)
        var rest = hash
        for _ in 0..<8 {
            key.append(0x10 + UInt8(rest & 0xFF) % 0xE0)
            rest >>= 8
        }
    }

    private static func endsInsideEscape(_ bytes: UnsafeRawBufferPointer, from start: Int, isData: Bool) -> Bool {
        var i = start
        while i < bytes.count {
            if bytes[i] == 0 || (isData && bytes[i] == 0xFF) {
                if i + 1 == bytes.count { return true }
                i += 1
            }
            i += 1
        }
        return false
    }

    /// FNV-1a with a last mix, so that every bit of the text reaches every byte of the hash. Part of the file format.
    private static func keyHash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash ^= hash >> 32
        hash = hash &* 0x9E37_79B9_7F4A_7C15
        return hash ^ (hash >> 29)
    }

    /// The bytes with which the component of every text that begins with these Characters begins, after its tag.
    package static func prefix(_ text: String, options: TextOptions, budget: Int) -> [UInt8] {
        var result: [UInt8] = []
        for byte in TextFolding.folded(text, options).utf8 {
            result.append(byte)
            if byte == 0 { result.append(0xFF) }
        }
        return Array(result.prefix(max(budget - 1, 0)))
    }
}
