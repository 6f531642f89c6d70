import Foundation
import QuarryCoding

extension Parser {
    /// The value of a `%` specifier: the next argument.
    mutating func argument(_ format: String, _ position: SourcePosition) throws(PredicateFailure) -> Operand {
        if format == "K" {
            var operand = Operand.field(FieldPath([], position: position))
            for part in try keyPathArgument(position) { operand = try step(operand, part: part, position) }
            return operand
        }
        let given = try nextArgument(format, position)
        var value: Value
        do throws(PredicateFailure) {
            value = try QuarryPredicate.value(fromArgument: given)
        } catch {
            throw PredicateFailure(error.kind, error.message, at: position)
        }
        if format != "@" { value = try number(value, format, position) }
        return .constant(Constant(value, position: position))
    }

    private mutating func nextArgument(
        _ format: String, _ position: SourcePosition
    ) throws(PredicateFailure) -> (any Sendable)? {
        guard usedArguments < arguments.count else {
            throw PredicateFailure(
                .argument, "%\(format) has no argument; \(arguments.count) were given", at: position)
        }
        defer { usedArguments += 1 }
        return arguments[usedArguments]
    }

    /// The steps of a key path argument.
    mutating func keyPathArgument(_ position: SourcePosition) throws(PredicateFailure) -> [String] {
        let given = try nextArgument("K", position)
        guard let path = (given as? String) ?? (given as? Substring).map(String.init) ?? (given as? Value)?.stringValue,
            !path.isEmpty
        else {
            throw PredicateFailure(.argument, "%K takes a key path as a String", at: position)
        }
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map { part in
            part.hasPrefix("#") ? String(part.dropFirst()) : String(part)
        }
        if parts.contains("") {
            throw PredicateFailure(.argument, "the key path \"\(path)\" has an empty step", at: position)
        }
        return parts.first?.uppercased() == "SELF" ? Array(parts.dropFirst()) : parts
    }

    private func number(_ value: Value, _ format: String, _ position: SourcePosition) throws(PredicateFailure) -> Value
    {
        let isFloating = format.last.map { "feEgGaA".contains($0) } ?? false
        switch value {
        case .int, .uint: return isFloating ? .double(value.doubleValue ?? 0) : value
        case .bool(let flag): return isFloating ? .double(flag ? 1 : 0) : .int(flag ? 1 : 0)
        case .double(let number):
            if isFloating { return value }
            if let whole = Int64(exactly: number.rounded(.towardZero)) { return .int(whole) }
        case .decimal: if isFloating { return .double(value.doubleValue ?? 0) }
        default: break
        }
        throw PredicateFailure(.argument, "%\(format) takes a number, not \(value)", at: position)
    }
}

/// A Swift value as what predicates compare.
///
/// Numbers, texts, dates, data, UUIDs, URLs, nil, collections of these, and whatever encodes to one of them.
package func value(fromArgument argument: (any Sendable)?) throws(PredicateFailure) -> Value {
    guard let argument else { return .null }
    switch argument {
    case let value as Value: return value
    case let value as Int: return .int(Int64(value))
    case let value as String: return .string(value)
    case let value as Bool: return .bool(value)
    case let value as Double: return .double(value)
    case let value as Date: return .date(value)
    case let value as UUID: return .uuid(value)
    case let value as Data: return .data(value)
    case let value as Decimal: return .decimal(value)
    case let value as any BinaryInteger:
        if let small = Int64(exactly: value) { return .int(small) }
        if let large = UInt64(exactly: value) { return .uint(large) }
        throw PredicateFailure(.argument, "\(value) has more than 64 bits")
    case let value as Float: return .double(Double(value))
    case let value as Substring: return .string(String(value))
    case let value as Character: return .string(String(value))
    case let value as URL: return .string(value.absoluteString)
    case is NSNull: return .null
    case let value as NSNumber: return number(value)
    case let value as NSString: return .string(String(describing: value))
    default: break
    }
    if let values = argument as? [any Sendable] { return .array(try elements(values)) }
    if let values = argument as? [(any Sendable)?] { return .array(try elements(values)) }
    if let encodable = argument as? any Encodable {
        func encode<E: Encodable>(_ encodable: E) -> Value? { try? Value(encoding: encodable) }
        if let value = encode(encodable) { return value }
    }
    throw PredicateFailure(.argument, "a \(type(of: argument)) cannot be compared with what a store holds")
}

private func elements(_ values: [(any Sendable)?]) throws(PredicateFailure) -> [Value] {
    var result: [Value] = []
    result.reserveCapacity(values.count)
    for value in values { result.append(try QuarryPredicate.value(fromArgument: value)) }
    return result
}

private func number(_ number: NSNumber) -> Value {
    switch String(cString: number.objCType) {
    case "c", "B": .bool(number.boolValue)
    case "f", "d": .double(number.doubleValue)
    case "Q": .uint(number.uint64Value)
    default: .int(number.int64Value)
    }
}
