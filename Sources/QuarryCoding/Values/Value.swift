public import Foundation

/// A stored value without its Swift type: what a record's field holds, and what predicates compare.
///
/// `int` covers every signed integer and the unsigned ones that fit 64 signed bits by declared type
/// (`UInt8`, `UInt16`, `UInt32`); `uint` is `UInt` and `UInt64`. `object` keeps its keys in stored order.
public enum Value: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    indirect case array([Value])
    indirect case set([Value])
    indirect case object(Fields)

    /// The fields of an object in stored order. Names are unique.
    public struct Fields: Sendable {
        public var pairs: [(name: String, value: Value)]
        public init(_ pairs: [(name: String, value: Value)] = []) { self.pairs = pairs }
    }
}

extension Value {
    /// The same kind and the same value, bit for bit where it matters: NaN is itself, -0.0 is not 0.0.
    package func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int(let a), .int(let b)): a == b
        case (.uint(let a), .uint(let b)): a == b
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.decimal(let a), .decimal(let b)): a == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.date(let a), .date(let b)):
            a.timeIntervalSinceReferenceDate.bitPattern == b.timeIntervalSinceReferenceDate.bitPattern
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.array(let a), .array(let b)), (.set(let a), .set(let b)):
            a.count == b.count && zip(a, b).allSatisfy { $0.isIdentical(to: $1) }
        case (.object(let a), .object(let b)):
            a.pairs.count == b.pairs.count
                && zip(a.pairs, b.pairs).allSatisfy { $0.name == $1.name && $0.value.isIdentical(to: $1.value) }
        default: false
        }
    }
}
