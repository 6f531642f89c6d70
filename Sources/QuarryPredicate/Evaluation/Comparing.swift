import Foundation
import QuarryCoding

/// Equality and order of values as predicates mean them: numbers by value across their kinds, text by its composed or
/// folded form, nil equal to nil.
enum Comparing {
    // MARK: Equality

    static func equal(_ a: Value, _ b: Value, _ options: TextOptions = []) -> Bool {
        switch (a, b) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.string(let x), .string(let y)): return equal(x, y, options)
        case (.date(let x), .date(let y)): return x == y
        case (.data(let x), .data(let y)): return x == y
        case (.uuid(let x), .uuid(let y)): return x == y
        case (.array(let x), .array(let y)):
            return x.count == y.count && zip(x, y).allSatisfy { equal($0, $1, options) }
        case (.set(let x), .set(let y)):
            return x.count == y.count && x.allSatisfy { element in y.contains { equal(element, $0, options) } }
                && y.allSatisfy { element in x.contains { equal(element, $0, options) } }
        case (.object(let x), .object(let y)): return equal(x, y, options)
        default: return Numbers.order(a, b) == .some(0)
        }
    }

    private static func equal(_ a: Value.Fields, _ b: Value.Fields, _ options: TextOptions) -> Bool {
        let x = a.pairs.filter { !$0.value.isNil }
        guard x.count == b.pairs.count(where: { !$0.value.isNil }) else { return false }
        return x.allSatisfy { pair in b[pair.name].map { equal(pair.value, $0, options) } ?? false }
    }

    static func equal(_ a: String, _ b: String, _ options: TextOptions) -> Bool {
        if options.contains(.normalized) { return a.utf8.elementsEqual(b.utf8) }
        if options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) { return a == b }
        return TextFolding.folded(a, options) == TextFolding.folded(b, options)
    }

    /// The text in the form whose bytes are compared.
    static func form(_ text: String, _ options: TextOptions) -> String {
        options.contains(.normalized) ? text : TextFolding.folded(text, options)
    }

    // MARK: Order

    /// Below, at or above 0; nil when a NaN is among them. Neither value is nil.
    ///
    /// - Throws: `PredicateFailure.type` for values of different kinds, or of one that has no order.
    static func order(
        _ a: Value, _ b: Value, _ options: TextOptions = [], at position: SourcePosition
    ) throws(PredicateFailure) -> Int? {
        switch (a, b) {
        case (.string(let x), .string(let y)): return bytes(form(x, options), form(y, options))
        case (.date(let x), .date(let y)):
            return Numbers.order(x.timeIntervalSinceReferenceDate, y.timeIntervalSinceReferenceDate)
        case (.data(let x), .data(let y)):
            return x.lexicographicallyPrecedes(y) ? -1 : x == y ? 0 : 1
        case (.uuid(let x), .uuid(let y)):
            let order = withUnsafeBytes(of: x.uuid) { p in withUnsafeBytes(of: y.uuid) { q in bytes(p, q) } }
            return order
        default:
            if a.isNumber && b.isNumber { return Numbers.order(a, b) }
            throw PredicateFailure(
                .type, "\(FormatPrinter.shown(a)) and \(FormatPrinter.shown(b)) have no order", at: position)
        }
    }

    @inline(__always)
    static func bytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let common = min(a.count, b.count)
        if common > 0, let p = a.baseAddress, let q = b.baseAddress {
            let order = memcmp(p, q, common)
            if order != 0 { return Int(order) }
        }
        return a.count &- b.count
    }

    static func bytes(_ a: String, _ b: String) -> Int {
        var a = a
        var b = b
        return a.withUTF8 { x in b.withUTF8 { y in bytes(UnsafeRawBufferPointer(x), UnsafeRawBufferPointer(y)) } }
    }

    // MARK: Relations

    /// One of the six comparisons.
    static func holds(
        _ relation: Relation, _ a: Value, _ b: Value, _ options: TextOptions, at position: SourcePosition
    ) throws(PredicateFailure) -> Bool {
        switch relation {
        case .equal: return equal(a, b, options)
        case .notEqual: return !equal(a, b, options)
        default:
            if a.isNil || b.isNil {
                return a.isNil && b.isNil && (relation == .lessOrEqual || relation == .greaterOrEqual)
            }
            guard let order = try order(a, b, options, at: position) else { return false }
            return relation.holds(order)
        }
    }
}

extension Relation {
    /// Whether an order below, at or above 0 satisfies one of the six comparisons.
    @inline(__always)
    func holds(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        default: false
        }
    }

    var isOrdering: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }
}

extension Value {
    /// Bools count as 0 and 1.
    var isNumber: Bool {
        switch self {
        case .bool, .int, .uint, .double, .decimal: true
        default: false
        }
    }
}

/// The exact order of numbers of any two kinds.
enum Numbers {
    /// Below, at or above 0; nil for a NaN or what is no number.
    static func order(_ a: Value, _ b: Value) -> Int? {
        switch (a.integer, b.integer) {
        case (let x?, let y?): return x < y ? -1 : x == y ? 0 : 1
        case (let x?, nil):
            if case .double(let y) = b { return order(x, y) }
        case (nil, let y?):
            if case .double(let x) = a { return order(y, x).map { -$0 } }
        case (nil, nil):
            if case .double(let x) = a, case .double(let y) = b { return order(x, y) }
        }
        if case .double(let x) = a, let special = order(special: x, b) { return special.order }
        if case .double(let y) = b, let special = order(special: y, a) { return special.order.map { -$0 } }
        guard let x = a.exactDecimal, let y = b.exactDecimal, !x.isNaN, !y.isNaN else { return nil }
        return x < y ? -1 : x == y ? 0 : 1
    }

    @inline(__always)
    static func order(_ a: Double, _ b: Double) -> Int? { a < b ? -1 : a == b ? 0 : a > b ? 1 : nil }

    /// An integer against a double, without rounding either.
    static func order(_ a: Int128, _ b: Double) -> Int? {
        if b.isNaN { return nil }
        // All integers here lie within 65 bits.
        if b >= 0x1p65 { return -1 }
        if b <= -0x1p65 { return 1 }
        let whole = Int128(b.rounded(.towardZero))
        if a != whole { return a < whole ? -1 : 1 }
        let fraction = b - b.rounded(.towardZero)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }

    /// A double that no decimal can be compared with exactly: NaN, infinity, or beyond a decimal's range.
    private static func order(special x: Double, _ other: Value) -> (order: Int?, Void)? {
        if x.isNaN { return (nil, ()) }
        guard case .decimal(let y) = other else { return nil }
        if y.isNaN { return (nil, ()) }
        if abs(x) > 1e120 { return (x > 0 ? 1 : -1, ()) }
        return nil
    }
}

extension Value {
    /// Integers and Bools of any width.
    var integer: Int128? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Int128(number)
        case .uint(let number): Int128(number)
        default: nil
        }
    }

    /// The number as a decimal: a double as the shortest text that reads back as it.
    var exactDecimal: Decimal? {
        switch self {
        case .bool(let flag): flag ? 1 : 0
        case .int(let number): Decimal(number)
        case .uint(let number): Decimal(number)
        case .double(let number): Decimal(string: number.description)
        case .decimal(let number): number
        default: nil
        }
    }

    /// The number as a double; Bools as 0 and 1.
    var number: Double? {
        if case .bool(let flag) = self { return flag ? 1 : 0 }
        return doubleValue
    }
}
