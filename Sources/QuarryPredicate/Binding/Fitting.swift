import Foundation
import QuarryCoding

/// The value as a field of this type holds it; nil when it does not fit exactly.
///
/// A text that reads exactly as the type is taken for it, as `stuid = '5'` means 5.
package func fit(_ value: Value, to type: FieldType) -> Value? {
    if value.isNil { return value }
    if case .string(let text) = value, type != .string { return read(text, as: type) }
    switch (type, value) {
    case (.bool, .bool), (.int, .int), (.uint, .uint), (.double, .double), (.decimal, .decimal), (.string, .string),
        (.date, .date), (.data, .data), (.uuid, .uuid), (.array, .array), (.set, .set), (.object, .object), (.any, _):
        return value
    case (.bool, .int(let number)): return number == 0 ? .bool(false) : number == 1 ? .bool(true) : nil
    case (.int, _): return value.exactInt.map { .int($0) }
    case (.uint, .int(let number)): return UInt64(exactly: number).map { .uint($0) }
    case (.uint, .double(let number)): return UInt64(exactly: number).map { .uint($0) }
    case (.double, .int(let number)): return Double(exactly: number).map { .double($0) }
    case (.double, .uint(let number)): return Double(exactly: number).map { .double($0) }
    case (.decimal, .int(let number)): return .decimal(Decimal(number))
    case (.decimal, .uint(let number)): return .decimal(Decimal(number))
    case (.decimal, .double(let number)):
        return number.isFinite ? Decimal(string: number.description).map { .decimal($0) } : nil
    case (.set, .array(let elements)): return .set(elements)
    case (.array, .set(let elements)): return .array(elements)
    default: return nil
    }
}

/// A text that is written as values of the type are.
private func read(_ text: String, as type: FieldType) -> Value? {
    switch type {
    case .any: return .string(text)
    case .bool:
        switch text.lowercased() {
        case "true", "yes", "1": return .bool(true)
        case "false", "no", "0": return .bool(false)
        default: return nil
        }
    case .int: return Int64(text).map { .int($0) }
    case .uint: return UInt64(text).map { .uint($0) }
    case .double: return Double(text).map { .double($0) }
    case .decimal:
        // Decimal takes what it understands of a text; only whole numbers are numbers here.
        guard Double(text) != nil, let decimal = Decimal(string: text) else { return nil }
        return .decimal(decimal)
    case .date: return ISODate.parse(text).map { .date($0) }
    case .data: return Data(base64Encoded: text).map { .data($0) }
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .string: return .string(text)
    case .array, .set, .object: return nil
    }
}

extension Value {
    /// The number as an Int64 where nothing is lost.
    var exactInt: Int64? {
        switch self {
        case .int(let number): number
        case .uint(let number): Int64(exactly: number)
        case .double(let number): Int64(exactly: number)
        case .decimal(let number): Int64(number.description)
        default: nil
        }
    }
}
