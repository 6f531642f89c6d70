import Foundation
import QuarryCoding

/// What collection operators and functions make of many values. Nils are left out.
struct Statistics {
    let position: SourcePosition
    /// Swift's `min()` and `max()` and the format language's differ only in what they may meet.
    let dialect: Dialect

    private func numbers(_ values: [Value], _ name: String) throws(PredicateFailure) -> [Value] {
        var found: [Value] = []
        found.reserveCapacity(values.count)
        for value in values where !value.isNil {
            guard value.isNumber else {
                throw PredicateFailure(.type, "\(name) needs numbers, not \(FormatPrinter.shown(value))", at: position)
            }
            found.append(value)
        }
        return found
    }

    /// 0 for nothing.
    func sum(_ values: [Value]) throws(PredicateFailure) -> Value {
        let adding = Calculation(function: .add, dialect: .format, position: position)
        var total = Value.int(0)
        for value in try numbers(values, "a sum") { total = try adding.apply(total, value) }
        return total
    }

    /// Nil for nothing.
    func average(_ values: [Value]) throws(PredicateFailure) -> Value {
        let numbers = try numbers(values, "an average")
        guard !numbers.isEmpty else { return .null }
        let total = try sum(numbers)
        if case .decimal = total {
            let dividing = Calculation(function: .divide, dialect: .format, position: position)
            return try dividing.apply(total, .int(Int64(numbers.count)))
        }
        return .double((total.number ?? .nan) / Double(numbers.count))
    }

    /// The least or greatest by the order of their kind; nil for nothing. NaNs are left out unless there is nothing else.
    func extreme(_ values: [Value], isMaximum: Bool) throws(PredicateFailure) -> Value {
        var best = Value.null
        for value in values where !value.isNil {
            if best.isNil {
                best = value
                // Tells whether the value can be ordered at all.
                _ = try Comparing.order(value, value, at: position)
                continue
            }
            if case .double(let number) = best, number.isNaN {
                best = value
                continue
            }
            guard let order = try Comparing.order(value, best, at: position) else { continue }
            if isMaximum ? order > 0 : order < 0 { best = value }
        }
        return best
    }

    func median(_ values: [Value]) throws(PredicateFailure) -> Value {
        let sorted = try numbers(values, "a median").compactMap(\.number).sorted()
        guard !sorted.isEmpty else { return .null }
        let middle = sorted.count / 2
        return .double(sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2)
    }

    /// The most frequent values, in the order they come.
    func mode(_ values: [Value]) throws(PredicateFailure) -> Value {
        var counts: [(value: Value, count: Int)] = []
        for value in try numbers(values, "a mode") {
            if let place = counts.firstIndex(where: { Comparing.equal($0.value, value) }) {
                counts[place].count += 1
            } else {
                counts.append((value, 1))
            }
        }
        let most = counts.map(\.count).max() ?? 0
        return .array(counts.filter { $0.count == most }.map(\.value))
    }

    /// Of the whole population, not of a sample.
    func deviation(_ values: [Value]) throws(PredicateFailure) -> Value {
        let numbers = try numbers(values, "a deviation").compactMap(\.number)
        guard !numbers.isEmpty else { return .null }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return .double((squares / Double(numbers.count)).squareRoot())
    }

    /// The values without repetition, in the order they come.
    static func distinct(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        var result: [Value] = []
        for value in values where seen.insert(value.normalized).inserted { result.append(value) }
        return result
    }
}

extension Value {
    /// Numbers that are equal in value become the same value, so that sets can hold them.
    var normalized: Value {
        switch self {
        case .bool(let flag): .int(flag ? 1 : 0)
        case .uint(let number): Int64(exactly: number).map { .int($0) } ?? self
        case .double(let number): Int64(exactly: number).map { .int($0) } ?? self
        case .decimal(let number):
            Int64(number.description).map { .int($0) } ?? number.shortestDouble.map { .double($0) } ?? self
        case .array(let elements): .array(elements.map(\.normalized))
        default: self
        }
    }
}

extension Decimal {
    /// The double that reads as this decimal, if one does.
    fileprivate var shortestDouble: Double? {
        guard let number = Double(description), Decimal(string: number.description) == self else { return nil }
        return number
    }
}
