import Foundation
import QuarryCoding

/// Steps from one value to another inside it.
enum Stepping {
    /// A key of an object; over a collection it is mapped and flattened, nils kept. `length` of a text is its UTF-16 units.
    static func key(_ name: String, of value: Value) -> Value {
        switch value {
        case .object(let fields): return fields[name] ?? .null
        case .array(let elements), .set(let elements):
            var result: [Value] = []
            result.reserveCapacity(elements.count)
            for element in elements {
                switch key(name, of: element) {
                case .array(let inner), .set(let inner): result += inner
                case let single: result.append(single)
                }
            }
            return .array(result)
        case .string(let text) where name == "length": return .int(Int64(text.utf16.count))
        default: return .null
        }
    }

    static func keys(_ path: [String], of value: Value) -> Value { path.reduce(value) { key($1, of: $0) } }

    /// How many elements a collection, entries an object, or Characters a text has.
    static func count(_ value: Value) -> Int? {
        switch value {
        case .array(let elements), .set(let elements): elements.count
        case .object(let fields): fields.pairs.count
        case .string(let text): text.count
        case .data(let data): data.count
        default: nil
        }
    }

    /// The elements that ANY, IN and SUBQUERY look at; nil for what is no collection.
    static func elements(_ value: Value) -> [Value]? {
        switch value {
        case .array(let elements), .set(let elements): elements
        case .null: []
        default: nil
        }
    }

    static func subscripted(
        _ value: Value, _ index: Value, _ dialect: Dialect, _ position: SourcePosition
    ) throws(PredicateFailure) -> Value {
        switch value {
        case .null: return .null
        case .array(let elements):
            if let place = index.integer, place >= 0, place < elements.count { return elements[Int(place)] }
            if case .string(let name) = index { return key(name, of: value) }
            if dialect == .format { return .null }
            throw PredicateFailure(
                .arithmetic, "index \(index) is out of range: there are \(elements.count) elements", at: position)
        case .object(let fields): return fields[index.description] ?? .null
        default:
            throw PredicateFailure(
                .type, "\(FormatPrinter.shown(value)) takes no subscript", at: position)
        }
    }

    static func slice(
        _ value: Value, _ from: Value, _ to: Value, isClosed: Bool, _ position: SourcePosition
    ) throws(PredicateFailure) -> Value {
        guard case .array(let elements) = value, let low = from.integer, let high = to.integer else {
            throw PredicateFailure(.type, "a range of elements is taken from a list, by two integers", at: position)
        }
        let end = isClosed ? high + 1 : high
        guard low >= 0, low <= end, end <= elements.count else {
            throw PredicateFailure(
                .arithmetic, "elements \(low) to \(high) are out of range: there are \(elements.count)", at: position)
        }
        return .array(Array(elements[Int(low)..<Int(end)]))
    }

    static func collection(
        _ name: CollectionOperator, _ path: [String], of value: Value, _ position: SourcePosition
    ) throws(PredicateFailure) -> Value {
        if name == .count {
            if value.isNil { return .int(0) }
            if case .string = value {} else if let count = count(value) { return .int(Int64(count)) }
        }
        guard let elements = elements(value) else {
            throw PredicateFailure(
                .type, "@\(name.rawValue) works on collections, not on \(FormatPrinter.shown(value))", at: position)
        }
        let statistics = Statistics(position: position, dialect: .format)
        // Flattened already, since a key maps over a collection.
        let values = path.isEmpty ? elements : keys(path, of: .array(elements)).arrayValue ?? []
        switch name {
        case .count: return .int(Int64(elements.count))
        case .sum: return try statistics.sum(values)
        case .avg: return try statistics.average(values)
        case .min: return try statistics.extreme(values, isMaximum: false)
        case .max: return try statistics.extreme(values, isMaximum: true)
        case .unionOfObjects: return .array(values)
        case .distinctUnionOfObjects: return .array(Statistics.distinct(values))
        case .unionOfArrays: return .array(flattened(values))
        case .distinctUnionOfArrays, .distinctUnionOfSets: return .array(Statistics.distinct(flattened(values)))
        }
    }

    private static func flattened(_ values: [Value]) -> [Value] {
        values.flatMap { value in value.isNil ? [] : value.arrayValue ?? [value] }
    }
}
