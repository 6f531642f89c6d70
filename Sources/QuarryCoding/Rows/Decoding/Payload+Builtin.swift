import Foundation

extension Payload {
    func mismatch(_ type: Any.Type) -> any Error {
        let found = Packing(rawValue: tag).map { $0.type.rawValue } ?? (tag == PayloadTag.null ? "nil" : "a collection")
        if tag == PayloadTag.null {
            return DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: [], debugDescription: "nil is stored where \(type) is expected")
            )
        }
        return DecodingError.typeMismatch(
            type,
            DecodingError.Context(codingPath: [], debugDescription: "\(found) is stored where \(type) is expected"))
    }

    /// The value of a type that the format knows; nil for other types.
    ///
    /// Numbers convert where nothing is lost, so that a field may become wider.
    @inline(__always)
    func builtin<T>(_ type: T.Type) throws -> T? {
        if T.self == String.self { return unsafeBitCast(try string(), to: T.self) }
        if T.self == Int.self { return unsafeBitCast(try whole(Int.self), to: T.self) }
        if T.self == Double.self { return unsafeBitCast(try double(), to: T.self) }
        if T.self == Bool.self { return unsafeBitCast(try bool(), to: T.self) }
        return try otherBuiltin(type)
    }

    @inline(never)
    private func otherBuiltin<T>(_ type: T.Type) throws -> T? {
        if T.self == Int8.self { return try whole(Int8.self) as? T }
        if T.self == Int16.self { return try whole(Int16.self) as? T }
        if T.self == Int32.self { return try whole(Int32.self) as? T }
        if T.self == Int64.self { return try whole(Int64.self) as? T }
        if T.self == UInt.self { return try whole(UInt.self) as? T }
        if T.self == UInt8.self { return try whole(UInt8.self) as? T }
        if T.self == UInt16.self { return try whole(UInt16.self) as? T }
        if T.self == UInt32.self { return try whole(UInt32.self) as? T }
        if T.self == UInt64.self { return try whole(UInt64.self) as? T }
        if T.self == Float.self { return try float() as? T }
        if T.self == Date.self {
            guard tag == PayloadTag.date else { throw mismatch(type) }
            return Date(timeIntervalSinceReferenceDate: try base(8).loadUnaligned(as: Double.self)) as? T
        }
        if T.self == UUID.self {
            guard tag == PayloadTag.uuid else { throw mismatch(type) }
            return UUID(uuid: try base(16).loadUnaligned(as: uuid_t.self)) as? T
        }
        if T.self == Data.self {
            guard tag == PayloadTag.data else { throw mismatch(type) }
            return Data(bytes) as? T
        }
        if T.self == Decimal.self { return try decimal() as? T }
        if T.self == URL.self, tag == PayloadTag.string {
            guard let url = URL(string: text) else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: [], debugDescription: "the stored text is no URL"))
            }
            return url as? T
        }
        return nil
    }

    func string() throws -> String {
        guard tag == PayloadTag.string else { throw mismatch(String.self) }
        return text
    }

    func bool() throws -> Bool {
        guard tag == PayloadTag.bool else { throw mismatch(Bool.self) }
        return try base(1).load(as: UInt8.self) != 0
    }

    @inline(never)
    func whole<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
        let exact: I?
        switch tag {
        case Packing.int8.rawValue, Packing.int16.rawValue, Packing.int32.rawValue, Packing.int64.rawValue:
            let packing = Packing(rawValue: tag) ?? .int64
            exact = I(exactly: Payload.integer(try base(packing.size), packing))
        case PayloadTag.uint64: exact = I(exactly: try base(8).loadUnaligned(as: UInt64.self))
        case PayloadTag.double: exact = I(exactly: try base(8).loadUnaligned(as: Double.self))
        case PayloadTag.float: exact = I(exactly: try base(4).loadUnaligned(as: Float.self))
        case PayloadTag.decimal: exact = I(try DecimalBytes.decimal(base(20)).description)
        default: throw mismatch(type)
        }
        guard let exact else {
            throw DecodingError.typeMismatch(
                type,
                DecodingError.Context(codingPath: [], debugDescription: "the stored number does not fit \(type)"))
        }
        return exact
    }

    @inline(never)
    func double() throws -> Double {
        switch tag {
        case PayloadTag.double: return try base(8).loadUnaligned(as: Double.self)
        case PayloadTag.float: return Double(try base(4).loadUnaligned(as: Float.self))
        case PayloadTag.decimal: return NSDecimalNumber(decimal: try DecimalBytes.decimal(base(20))).doubleValue
        default:
            if let whole = try? whole(Int64.self), let exact = Double(exactly: whole) { return exact }
            throw mismatch(Double.self)
        }
    }

    private func float() throws -> Float {
        if tag == PayloadTag.float { return try base(4).loadUnaligned(as: Float.self) }
        let wide = try double()
        let narrow = Float(wide)
        guard Double(narrow) == wide || wide.isNaN else { throw mismatch(Float.self) }
        return narrow
    }

    private func decimal() throws -> Decimal {
        switch tag {
        case PayloadTag.decimal: return try DecimalBytes.decimal(base(20))
        case PayloadTag.double: return Decimal(try double())
        case PayloadTag.uint64: return Decimal(try whole(UInt64.self))
        default: return Decimal(try whole(Int64.self))
        }
    }
}
