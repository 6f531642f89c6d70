import Foundation

/// A stored value as its tag and bytes, wherever it lies in a row.
struct Payload {
    var tag: UInt8
    var bytes: UnsafeRawBufferPointer

    static var null: Payload { Payload(tag: PayloadTag.null, bytes: UnsafeRawBufferPointer(start: nil, count: 0)) }

    /// The start of the bytes; throws when there are fewer than asked for.
    @inline(__always)
    func base(_ count: Int) throws -> UnsafeRawPointer {
        guard let base = bytes.baseAddress, bytes.count >= count else {
            throw CodingFailure.corruptRow("a value ends early")
        }
        return base
    }

    /// An integer of any width. The bytes are there.
    @inline(__always)
    static func integer(_ base: UnsafeRawPointer, _ packing: Packing) -> Int64 {
        switch packing {
        case .int8: Int64(base.load(as: Int8.self))
        case .int16: Int64(base.loadUnaligned(as: Int16.self))
        case .int32: Int64(base.loadUnaligned(as: Int32.self))
        default: base.loadUnaligned(as: Int64.self)
        }
    }

    /// The bytes as text; what is not UTF-8 becomes replacement characters.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: As a value

    func value(_ registry: ShapeRegistry, depth: Int = 0) throws -> Value {
        guard depth <= RowLayout.depthLimit else { throw CodingFailure.corruptRow("nested too deep") }
        if let packing = Packing(rawValue: tag), packing != .any {
            return try Payload.value(packing, base(packing.isReference ? 0 : packing.size, or: bytes), bytes.count)
        }
        switch tag {
        case PayloadTag.null: return .null
        case PayloadTag.row: return .object(try RowView(nested: bytes, registry).record(depth: depth + 1))
        case PayloadTag.list, PayloadTag.set:
            var elements: [Value] = []
            var reader = try ListReader(bytes)
            while let next = try reader.next() { elements.append(try next.value(registry, depth: depth + 1)) }
            return tag == PayloadTag.set ? .set(elements) : .array(elements)
        case PayloadTag.map:
            var fields = Value.Fields()
            var reader = try ListReader(bytes)
            while let (key, payload) = try reader.nextEntry() {
                fields.pairs.append(
                    (String(decoding: key, as: UTF8.self), try payload.value(registry, depth: depth + 1)))
            }
            return .object(fields)
        default: throw CodingFailure.corruptRow("a value has the unknown tag \(tag)")
        }
    }

    private func base(_ count: Int, or bytes: UnsafeRawBufferPointer) throws -> UnsafeRawPointer? {
        count == 0 ? bytes.baseAddress : try base(count)
    }

    /// The value of a packing at an address; `count` counts for text and data alone.
    static func value(_ packing: Packing, _ base: UnsafeRawPointer?, _ count: Int) throws -> Value {
        guard let base else {
            switch packing {
            case .string: return .string("")
            case .data: return .data(Data())
            default: throw CodingFailure.corruptRow("a value ends early")
            }
        }
        switch packing {
        case .bool: return .bool(base.load(as: UInt8.self) != 0)
        case .int8, .int16, .int32, .int64: return .int(integer(base, packing))
        case .uint64: return .uint(base.loadUnaligned(as: UInt64.self))
        case .float: return .double(Double(base.loadUnaligned(as: Float.self)))
        case .double: return .double(base.loadUnaligned(as: Double.self))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: base.loadUnaligned(as: Double.self)))
        case .uuid: return .uuid(UUID(uuid: base.loadUnaligned(as: uuid_t.self)))
        case .decimal: return .decimal(try DecimalBytes.decimal(base))
        case .string: return .string(String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self))
        case .data: return .data(Data(bytes: base, count: count))
        case .any: throw CodingFailure.corruptRow("a value without its type")
        }
    }
}

extension Packing {
    /// Whether the slot holds where the value lies instead of the value.
    @inline(__always)
    var isReference: Bool { rawValue >= Packing.string.rawValue }
}

/// Walks the elements of a list, or the entries of a map, and never past its bytes.
struct ListReader {
    let count: Int
    private(set) var index = 0
    private let bytes: UnsafeRawBufferPointer
    private var place = 4

    init(_ bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count >= 4 else { throw ListReader.early }
        let stated = Int(bytes.loadUnaligned(as: UInt32.self))
        // An element takes a byte at least.
        guard stated <= bytes.count - 4 else { throw ListReader.early }
        count = stated
        self.bytes = bytes
    }

    private static var early: CodingFailure { .corruptRow("a list ends early") }

    private mutating func take(_ size: Int) throws -> UnsafeRawBufferPointer {
        guard size >= 0, size <= bytes.count - place else { throw ListReader.early }
        defer { place += size }
        return UnsafeRawBufferPointer(rebasing: bytes[place..<(place + size)])
    }

    private mutating func takeLength() throws -> Int { Int(try take(4).loadUnaligned(as: UInt32.self)) }

    private mutating func takeValue() throws -> Payload {
        let tag = try take(1)[0]
        if let size = PayloadTag.size(tag) { return Payload(tag: tag, bytes: try take(size)) }
        return Payload(tag: tag, bytes: try take(try takeLength()))
    }

    /// The next element; nil after the last.
    mutating func next() throws -> Payload? {
        guard index < count else { return nil }
        index += 1
        return try takeValue()
    }

    /// The next entry of a map; nil after the last.
    mutating func nextEntry() throws -> (key: UnsafeRawBufferPointer, value: Payload)? {
        guard index < count else { return nil }
        index += 1
        let key = try take(try takeLength())
        return (key, try takeValue())
    }
}

/// A decimal in 20 bytes: exponent, sign, 1 for NaN, a byte of 0, the significand in sixteen bytes.
enum DecimalBytes {
    static func append(_ decimal: Decimal, to bytes: UnsafeMutablePointer<RowBytes>) {
        let significand = decimal.isNaN ? 0 : UInt128(decimal.significand.magnitude.description) ?? 0
        bytes.append(Int8(truncatingIfNeeded: decimal.isNaN ? 0 : decimal.exponent))
        bytes.append(UInt8(decimal.sign == .minus ? 1 : 0))
        bytes.append(UInt8(decimal.isNaN ? 1 : 0))
        bytes.append(UInt8(0))
        bytes.append(UInt64(truncatingIfNeeded: significand))
        bytes.append(UInt64(truncatingIfNeeded: significand >> 64))
    }

    static func decimal(_ base: UnsafeRawPointer) throws -> Decimal {
        if base.load(fromByteOffset: 2, as: UInt8.self) != 0 { return .nan }
        let low = Decimal(base.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
        let high = base.loadUnaligned(fromByteOffset: 12, as: UInt64.self)
        var significand = low
        if high != 0 { significand += Decimal(high) * (Decimal(UInt64.max) + 1) }
        let isNegative = base.load(fromByteOffset: 1, as: UInt8.self) != 0
        return Decimal(
            sign: isNegative ? .minus : .plus, exponent: Int(base.load(as: Int8.self)), significand: significand)
    }
}
