import Foundation
import QuarryCoding

/// Arithmetic that cannot trap. Integers stay integers; what overflows or divides by zero is an error in Swift's dialect,
/// a double or nil in the format language's.
struct Calculation {
    let function: Function
    let dialect: Dialect
    let position: SourcePosition

    func failure(_ message: String) -> PredicateFailure { PredicateFailure(.arithmetic, message, at: position) }

    func apply(_ a: Value, _ b: Value) throws(PredicateFailure) -> Value {
        if a.isNil || b.isNil { return .null }
        if case .date(let date) = a { return try apply(date, b) }
        guard a.isNumber, b.isNumber else {
            let wrong = a.isNumber ? b : a
            throw PredicateFailure(
                .type, "arithmetic needs numbers, not \(FormatPrinter.shown(wrong))", at: position)
        }
        if function == .floatDivide || function == .raise {
            return .double(doubles(a.number ?? .nan, b.number ?? .nan))
        }
        if let x = a.integer, let y = b.integer { return try integers(x, y, isUnsigned: a.isUnsigned || b.isUnsigned) }
        let isExact: (Value) -> Bool = { if case .double = $0 { false } else { true } }
        if isExact(a), isExact(b), let x = a.exactDecimal, let y = b.exactDecimal { return try decimals(x, y) }
        return .double(doubles(a.number ?? .nan, b.number ?? .nan))
    }

    private func apply(_ date: Date, _ other: Value) throws(PredicateFailure) -> Value {
        switch (function, other) {
        case (.subtract, .date(let earlier)): return .double(date.timeIntervalSince(earlier))
        case (.add, _) where other.isNumber: return .date(date.addingTimeInterval(other.number ?? .nan))
        case (.subtract, _) where other.isNumber: return .date(date.addingTimeInterval(-(other.number ?? .nan)))
        default:
            throw PredicateFailure(
                .type, "a date takes seconds to add or subtract, not \(FormatPrinter.shown(other))", at: position)
        }
    }

    private func integers(_ a: Int128, _ b: Int128, isUnsigned: Bool) throws(PredicateFailure) -> Value {
        var result: Int128
        var overflows = false
        switch function {
        case .add: result = a + b
        case .subtract: result = a - b
        case .multiply: (result, overflows) = a.multipliedReportingOverflow(by: b)
        case .divide, .modulus, .remainder:
            if b == 0 {
                if dialect == .swift { throw failure("division by zero") }
                return .null
            }
            result = function == .divide ? a / b : a % b
        default: return .null
        }
        if !overflows {
            if isUnsigned, let fitted = UInt64(exactly: result) { return .uint(fitted) }
            if dialect == .format || !isUnsigned, let fitted = Int64(exactly: result) { return .int(fitted) }
        }
        if dialect == .swift { throw failure("the result of \(function.symbol) does not fit an integer") }
        return .double(doubles(Double(a), Double(b)))
    }

    private func doubles(_ a: Double, _ b: Double) -> Double {
        switch function {
        case .add: a + b
        case .subtract: a - b
        case .multiply: a * b
        case .divide, .floatDivide: a / b
        case .modulus, .remainder: a.truncatingRemainder(dividingBy: b)
        case .raise: pow(a, b)
        default: .nan
        }
    }

    private func decimals(_ a: Decimal, _ b: Decimal) throws(PredicateFailure) -> Value {
        var result = Decimal()
        var x = a
        var y = b
        let error: Decimal.CalculationError
        switch function {
        case .add: error = NSDecimalAdd(&result, &x, &y, .plain)
        case .subtract: error = NSDecimalSubtract(&result, &x, &y, .plain)
        case .multiply: error = NSDecimalMultiply(&result, &x, &y, .plain)
        case .divide, .modulus, .remainder:
            if b.isZero {
                if dialect == .swift { throw failure("division by zero") }
                return .null
            }
            error = NSDecimalDivide(&result, &x, &y, .plain)
            if function != .divide, error == .noError || error == .lossOfPrecision {
                var whole = Decimal()
                NSDecimalRound(&whole, &result, 0, result < 0 ? .up : .down)
                return .decimal(a - whole * b)
            }
        default: return .null
        }
        switch error {
        case .overflow, .underflow, .divideByZero:
            if dialect == .swift { throw failure("the result of \(function.symbol) does not fit a decimal") }
            return .double(doubles(Value.decimal(a).number ?? .nan, Value.decimal(b).number ?? .nan))
        default: return .decimal(result)
        }
    }

    func negate(_ value: Value) throws(PredicateFailure) -> Value {
        switch value {
        case .null: return .null
        case .double(let number): return .double(-number)
        case .decimal(let number): return .decimal(-number)
        default:
            guard let number = value.integer else {
                throw PredicateFailure(
                    .type, "a minus needs a number, not \(FormatPrinter.shown(value))", at: position)
            }
            if let fitted = Int64(exactly: -number) { return .int(fitted) }
            if dialect == .swift { throw failure("the result of - does not fit an integer") }
            return .double(Double(-number))
        }
    }

    func bits(_ a: Value, _ b: Value) throws(PredicateFailure) -> Value {
        if a.isNil || b.isNil { return .null }
        guard let x = a.exactInt, let y = b.exactInt else {
            throw PredicateFailure(.type, "\(function.rawValue) works on integers", at: position)
        }
        switch function {
        case .bitwiseAnd: return .int(x & y)
        case .bitwiseOr: return .int(x | y)
        case .bitwiseXor: return .int(x ^ y)
        // Swift's smart shifts: nothing is left beyond 63 places, and a negative count shifts the other way.
        case .leftshift: return .int(x << y)
        case .rightshift: return .int(x >> y)
        default: return .null
        }
    }

    /// A function of one number.
    func number(_ value: Value) throws(PredicateFailure) -> Value {
        if value.isNil { return .null }
        guard value.isNumber, let number = value.number else {
            throw PredicateFailure(
                .type, "\(function.rawValue) needs a number, not \(FormatPrinter.shown(value))", at: position)
        }
        switch function {
        case .sqrt: return .double(number.squareRoot())
        case .log: return .double(log10(number))
        case .ln: return .double(log(number))
        case .exp: return .double(exp(number))
        case .onesComplement:
            guard let whole = value.exactInt else {
                throw PredicateFailure(.type, "\(function.rawValue) works on integers", at: position)
            }
            return .int(~whole)
        case .abs:
            if let whole = value.integer {
                let size = whole.magnitude
                return Int64(exactly: size).map { .int($0) } ?? UInt64(exactly: size).map { .uint($0) } ?? .null
            }
            if case .decimal(let decimal) = value { return .decimal(decimal.magnitude) }
            return .double(number.magnitude)
        case .floor, .ceiling, .trunc:
            if value.integer != nil { return value }
            if case .decimal(var decimal) = value {
                var result = Decimal()
                let isUp = function == .ceiling || (function == .trunc && decimal < 0)
                NSDecimalRound(&result, &decimal, 0, isUp ? .up : .down)
                return .decimal(result)
            }
            return .double(
                number.rounded(function == .floor ? .down : function == .ceiling ? .up : .towardZero))
        default: return .null
        }
    }
}

extension Value {
    fileprivate var isUnsigned: Bool { if case .uint = self { true } else { false } }
}

extension Function {
    /// How it is written between its operands.
    var symbol: String {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide, .floatDivide: "/"
        case .raise: "**"
        case .remainder: "%"
        default: rawValue
        }
    }
}
