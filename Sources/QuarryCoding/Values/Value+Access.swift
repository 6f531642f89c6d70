public import Foundation

extension Value {
    /// Whether there is no value.
    public var isNil: Bool { if case .null = self { true } else { false } }

    /// The number as an `Int`; nil for other kinds and where it does not fit.
    public var intValue: Int? {
        switch self {
        case .int(let value): Int(exactly: value)
        case .uint(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number as a `Double`: integers and decimals are rounded to the nearest one.
    public var doubleValue: Double? {
        switch self {
        case .int(let value): Double(value)
        case .uint(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        default: nil
        }
    }

    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var dateValue: Date? { if case .date(let value) = self { value } else { nil } }
    public var dataValue: Data? { if case .data(let value) = self { value } else { nil } }
    public var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }

    /// The elements of a list or set.
    public var arrayValue: [Value]? {
        switch self {
        case .array(let elements), .set(let elements): elements
        default: nil
        }
    }

    public var objectValue: Fields? { if case .object(let fields) = self { fields } else { nil } }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Fields(elements.map { (name: $0.0, value: $0.1) }))
    }
}

extension Value: CustomStringConvertible {
    /// The value for people: numbers in full, dates in ISO 8601, text as it is at the top and quoted inside.
    public var description: String { text(isQuoted: false) }

    private func text(isQuoted: Bool) -> String {
        switch self {
        case .null: return "nil"
        case .bool(let value): return value ? "true" : "false"
        case .int(let value): return String(value)
        case .uint(let value): return String(value)
        case .double(let value): return String(value)
        case .decimal(let value): return value.description
        case .string(let value): return isQuoted ? "\"\(value)\"" : value
        case .date(let value): return ISODate.text(value)
        case .data(let value): return value.base64EncodedString()
        case .uuid(let value): return value.uuidString
        case .array(let elements): return "[" + elements.map { $0.text(isQuoted: true) }.joined(separator: ", ") + "]"
        case .set(let elements): return "{" + elements.map { $0.text(isQuoted: true) }.joined(separator: ", ") + "}"
        case .object(let fields):
            let parts = fields.pairs.map { "\($0.name): " + $0.value.text(isQuoted: true) }
            return "{" + parts.joined(separator: ", ") + "}"
        }
    }
}
