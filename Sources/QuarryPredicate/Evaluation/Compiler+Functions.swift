import Foundation
import QuarryCoding

extension Compiler {
    mutating func compile(
        _ function: Function, _ operands: [Operand], _ dialect: Dialect, _ position: SourcePosition
    ) throws(PredicateFailure) -> Getter {
        let getters = try compile(operands)
        let calculation = Calculation(function: function, dialect: dialect, position: position)
        func need(_ count: Int) throws(PredicateFailure) {
            guard getters.count >= count else {
                throw PredicateFailure(.syntax, "\(function.rawValue) takes \(count) values", at: position)
            }
        }
        switch function {
        case .add, .subtract, .multiply, .divide, .modulus, .raise, .remainder, .floatDivide:
            try need(2)
            let (a, b) = (getters[0], getters[1])
            return { view, context in try calculation.apply(a(view, context), b(view, context)) }
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftshift, .rightshift:
            try need(2)
            let (a, b) = (getters[0], getters[1])
            return { view, context in try calculation.bits(a(view, context), b(view, context)) }
        case .negate:
            try need(1)
            let a = getters[0]
            return { view, context in try calculation.negate(a(view, context)) }
        case .sqrt, .log, .ln, .exp, .floor, .ceiling, .abs, .trunc, .onesComplement:
            try need(1)
            let a = getters[0]
            return { view, context in try calculation.number(a(view, context)) }
        case .sum, .count, .min, .max, .average, .median, .mode, .stddev:
            try need(1)
            return statistics(function, getters, dialect, position)
        case .uppercase, .lowercase, .length, .canonical:
            try need(1)
            return text(function, getters[0], position)
        case .now: return { _, context in .date(context.now) }
        case .noindex:
            try need(1)
            return getters[0]
        case .objectFromIndex:
            try need(2)
            let (a, b) = (getters[0], getters[1])
            return { view, context in try Stepping.subscripted(a(view, context), b(view, context), .format, position) }
        case .cast, .castObject:
            try need(2)
            return cast(getters[0], getters[1], position)
        case .union, .intersect, .minus:
            try need(2)
            return sets(function, getters[0], getters[1], position)
        case .coalesce:
            try need(2)
            let (a, b) = (getters[0], getters[1])
            return { view, context in
                let value = try a(view, context)
                return value.isNil ? try b(view, context) : value
            }
        case .rangeContains, .closedRangeContains:
            try need(3)
            return range(getters, isClosed: function == .closedRangeContains, position)
        }
    }

    /// Over one collection, or over the arguments themselves.
    private func statistics(
        _ function: Function, _ getters: [Getter], _ dialect: Dialect, _ position: SourcePosition
    ) -> Getter {
        let statistics = Statistics(position: position, dialect: dialect)
        return { view, context in
            var values: [Value] = []
            for getter in getters {
                let value = try getter(view, context)
                if getters.count == 1, let elements = Stepping.elements(value) {
                    values = elements
                } else {
                    values.append(value)
                }
            }
            switch function {
            case .sum: return try statistics.sum(values)
            case .count: return .int(Int64(values.count))
            case .min: return try statistics.extreme(values, isMaximum: false)
            case .max: return try statistics.extreme(values, isMaximum: true)
            case .average: return try statistics.average(values)
            case .median: return try statistics.median(values)
            case .mode: return try statistics.mode(values)
            default: return try statistics.deviation(values)
            }
        }
    }

    private func text(_ function: Function, _ getter: @escaping Getter, _ position: SourcePosition) -> Getter {
        { view, context in
            let value = try getter(view, context)
            if value.isNil { return .null }
            guard case .string(let text) = value else {
                throw PredicateFailure(
                    .type, "\(function.rawValue) works on text, not on \(FormatPrinter.shown(value))", at: position)
            }
            switch function {
            case .uppercase: return .string(text.uppercased())
            case .lowercase: return .string(text.lowercased())
            case .length: return .int(Int64(text.utf16.count))
            default: return .string(TextFolding.folded(text, [.caseInsensitive, .diacriticInsensitive]))
            }
        }
    }

    private func cast(_ getter: @escaping Getter, _ target: @escaping Getter, _ position: SourcePosition) -> Getter {
        { view, context in
            let value = try getter(view, context)
            guard case .string(let name) = try target(view, context), let target = CastTarget(rawValue: name) else {
                throw PredicateFailure(.unsupported, "CAST knows no such type", at: position)
            }
            guard let result = target.convert(value) else {
                throw PredicateFailure(
                    .type, "\(FormatPrinter.shown(value)) cannot become a \(name)", at: position)
            }
            return result
        }
    }

    private func sets(
        _ function: Function, _ left: @escaping Getter, _ right: @escaping Getter, _ position: SourcePosition
    ) -> Getter {
        { view, context in
            let a = try Compiler.elements(left(view, context), position)
            let b = try Compiler.elements(right(view, context), position)
            let others = Set(b.map(\.normalized))
            switch function {
            case .union: return .set(Statistics.distinct(a + b))
            case .intersect: return .set(Statistics.distinct(a.filter { others.contains($0.normalized) }))
            default: return .set(Statistics.distinct(a.filter { !others.contains($0.normalized) }))
            }
        }
    }

    /// `(low..<high).contains(x)`. Bounds in the wrong order are an error, as they are in Swift.
    private func range(_ getters: [Getter], isClosed: Bool, _ position: SourcePosition) -> Getter {
        let (low, high, element) = (getters[0], getters[1], getters[2])
        return { view, context in
            let from = try low(view, context)
            let to = try high(view, context)
            let value = try element(view, context)
            if value.isNil { return .bool(false) }
            guard !from.isNil, !to.isNil, let order = try Comparing.order(from, to, at: position), order <= 0 else {
                throw PredicateFailure(.arithmetic, "a range from \(from) to \(to) is none", at: position)
            }
            guard let below = try Comparing.order(from, value, at: position),
                let above = try Comparing.order(value, to, at: position)
            else { return .bool(false) }
            return .bool(below <= 0 && (isClosed ? above <= 0 : above < 0))
        }
    }
}
