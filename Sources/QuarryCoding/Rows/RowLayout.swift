/// The bytes that begin a value outside a typed slot. The first of them are the raw values of `Packing`.
enum PayloadTag {
    static let null: UInt8 = 0
    static let bool = Packing.bool.rawValue
    static let int64 = Packing.int64.rawValue
    static let uint64 = Packing.uint64.rawValue
    static let float = Packing.float.rawValue
    static let double = Packing.double.rawValue
    static let date = Packing.date.rawValue
    static let uuid = Packing.uuid.rawValue
    static let decimal = Packing.decimal.rawValue
    static let string = Packing.string.rawValue
    static let data = Packing.data.rawValue
    static let any = Packing.any.rawValue
    /// A row without checksum.
    static let row: UInt8 = 15
    /// u32 count, then elements: tag, u32 length unless the tag tells it, payload.
    static let list: UInt8 = 16
    /// A list in the order of its bytes.
    static let set: UInt8 = 17
    /// u32 count, then u32 length and bytes of the key and a value as in a list, in the order of the keys.
    static let map: UInt8 = 18
    /// Stands for a child while a list or map is written; never in a finished row.
    static let placeholder: UInt8 = 0xF0

    /// The length of payloads that all have one.
    @inline(__always)
    static func size(_ tag: UInt8) -> Int? {
        switch tag {
        case null: 0
        case bool, Packing.int8.rawValue: 1
        case Packing.int16.rawValue: 2
        case Packing.int32.rawValue, float, placeholder: 4
        case int64, uint64, double, date: 8
        case uuid: 16
        case decimal: 20
        default: nil
        }
    }
}

/// Numbers of the row format: a row is a u32 checksum, then from `start` on the u16 shape id, presence bits, slots, tail.
enum RowLayout {
    /// Where the shape id stands; offsets inside the row count from here.
    static let start = 4
    /// Nested values deeper than this are refused, before they exhaust the stack.
    static let depthLimit = 400

    /// The slot of text, data and `any`: u32 offset, u31 length, and whether the text is plain.
    @inline(__always)
    static func reference(offset: Int, length: Int, isPlain: Bool) -> UInt64 {
        UInt64(UInt32(truncatingIfNeeded: offset)) | UInt64(UInt32(truncatingIfNeeded: length)) << 32
            | (isPlain ? 1 << 63 : 0)
    }
    @inline(__always)
    static func offset(_ reference: UInt64) -> Int { Int(reference & 0xFFFF_FFFF) }
    @inline(__always)
    static func length(_ reference: UInt64) -> Int { Int(reference >> 32 & 0x7FFF_FFFF) }
    @inline(__always)
    static func isPlain(_ reference: UInt64) -> Bool { reference >> 63 != 0 }

    /// Whether the text is ASCII without CR: its bytes are its Characters then.
    @inline(__always)
    static func isPlain(_ bytes: UnsafeRawPointer, _ count: Int) -> Bool {
        var i = 0
        var all: UInt64 = 0
        while i &+ 8 <= count {
            let word = (bytes + i).loadUnaligned(as: UInt64.self)
            // The high bit of a byte is set where the byte is not ASCII, or is 0D.
            let cr = word ^ 0x0D0D_0D0D_0D0D_0D0D
            all |= word | ((cr &- 0x0101_0101_0101_0101) & ~cr)
            i &+= 8
        }
        while i < count {
            let byte = (bytes + i).load(as: UInt8.self)
            all |= UInt64(byte == 0x0D ? 0x80 : byte)
            i &+= 1
        }
        return all & 0x8080_8080_8080_8080 == 0
    }

    /// Eight bytes a step; finds a flipped bit, not an attacker.
    @inline(__always)
    static func checksum(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt32 {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(count)
        var i = 0
        while i &+ 8 <= count {
            hash = (hash ^ (bytes + i).loadUnaligned(as: UInt64.self)) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            i &+= 8
        }
        var last: UInt64 = 0
        while i < count {
            last = last << 8 | UInt64((bytes + i).load(as: UInt8.self))
            i &+= 1
        }
        hash = (hash ^ last) &* 0xFF51_AFD7_ED55_8CCD
        return UInt32(truncatingIfNeeded: hash >> 32)
    }
}
