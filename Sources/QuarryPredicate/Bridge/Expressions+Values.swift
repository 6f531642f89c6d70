import Foundation
import QuarryCoding

extension PredicateExpressions.Variable: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered { .operand(try lowering.operand(of: key)) }
}

extension PredicateExpressions.NilLiteral: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered { .operand(.constant(Constant(.null))) }
}

extension PredicateExpressions.KeyPath: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let base = try lowering.operand(root)
        if let kind {
            guard let step = try property(kind, of: Root.Output.self) else {
                throw NotLowerable(summary: "\(kind) of \(Root.Output.self)")
            }
            return .operand(.step(base, step, .none))
        }
        let steps = try lowering.steps(of: keyPath)
        if case .field(let path) = base { return .operand(.field(FieldPath(path.steps + steps))) }
        return .operand(steps.reduce(base) { .step($0, .key($1), .none) })
    }

    /// Nil where the stored form knows less than the Swift value.
    private func property(_ kind: CommonKeyPathKind, of type: Any.Type) throws -> Step? {
        let isList = type is any StoredCollection.Type && !(type is any AnySet.Type)
        let hasCount =
            type is any StoredCollection.Type || StoredTypes.isText(type) || type == Data.self
            || (type as? any AnyDictionary.Type)?.hasNamedKeys == true
        switch kind {
        case .collectionCount: return hasCount ? .count : nil
        case .collectionIsEmpty: return hasCount ? .isEmpty : nil
        case .collectionFirst: return isList || StoredTypes.isText(type) ? .first : nil
        case .bidirectionalCollectionLast: return isList || StoredTypes.isText(type) ? .last : nil
        @unknown default: return nil
        }
    }
}

private protocol AnySet {}
extension Set: AnySet {}

extension PredicateExpressions.Value: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        if let range = value as? any ConstantRange { return try range.lowered() }
        return .operand(.constant(Constant(try constant(value))))
    }
}

/// A captured Swift value as it is stored.
private func constant(_ value: Any) throws -> Value {
    switch value {
    case let value as Int: return .int(Int64(value))
    case let value as String: return .string(value)
    case let value as Double: return .double(value)
    case let value as Bool: return .bool(value)
    case let value as Date: return .date(value)
    case let value as Character: return .string(String(value))
    case let value as Substring: return .string(String(value))
    case let value as any AnyOptional:
        guard let inner = value.unwrapped else { return .null }
        return try constant(inner)
    default:
        guard StoredTypes.isEquatable(type(of: value)), let encodable = value as? any Encodable else {
            throw NotLowerable(summary: "a constant of type \(type(of: value))")
        }
        do {
            return try Value(encoding: encodable)
        } catch {
            throw NotLowerable(summary: "a constant that does not encode: \(error)")
        }
    }
}

/// Ranges that a program made itself. Their bounds are in order.
private protocol ConstantRange { func lowered() throws -> Lowered }

extension Range: ConstantRange {
    fileprivate func lowered() throws -> Lowered { try bounds(lowerBound, upperBound, isClosed: false) }
}
extension ClosedRange: ConstantRange {
    fileprivate func lowered() throws -> Lowered { try bounds(lowerBound, upperBound, isClosed: true) }
}
extension PartialRangeFrom: ConstantRange {
    fileprivate func lowered() throws -> Lowered { try bounds(lowerBound, nil, isClosed: true) }
}
extension PartialRangeThrough: ConstantRange {
    fileprivate func lowered() throws -> Lowered { try bounds(nil, upperBound, isClosed: true) }
}
extension PartialRangeUpTo: ConstantRange {
    fileprivate func lowered() throws -> Lowered { try bounds(nil, upperBound, isClosed: false) }
}

private func bounds<Bound>(_ low: Bound?, _ high: Bound?, isClosed: Bool) throws -> Lowered {
    guard StoredTypes.isOrdered(Bound.self) else { throw NotLowerable(summary: "a range of \(Bound.self)") }
    return .range(
        try low.map { .constant(Constant(try constant($0))) }, try high.map { .constant(Constant(try constant($0))) },
        isClosed: isClosed)
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let function: Function
        switch op {
        case .add: function = .add
        case .subtract: function = .subtract
        case .multiply: function = .multiply
        @unknown default: throw NotLowerable(summary: "unknown arithmetic")
        }
        return try arithmetic(function, lhs, rhs, LHS.Output.self, lowering)
    }
}

extension PredicateExpressions.IntDivision: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        try arithmetic(.divide, lhs, rhs, LHS.Output.self, lowering)
    }
}

extension PredicateExpressions.IntRemainder: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        try arithmetic(.remainder, lhs, rhs, LHS.Output.self, lowering)
    }
}

extension PredicateExpressions.FloatDivision: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        try arithmetic(.floatDivide, lhs, rhs, LHS.Output.self, lowering)
    }
}

extension PredicateExpressions.UnaryMinus: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        lowering.noteArithmetic()
        return .operand(.call(.negate, [try lowering.operand(wrapped)], dialect: .swift, .none))
    }
}

private func arithmetic(
    _ function: Function, _ left: Any, _ right: Any, _ type: Any.Type, _ lowering: Lowering
) throws -> Lowered {
    let isFloating = type == Float.self || type == Double.self || type == Decimal.self
    if !isFloating { lowering.noteArithmetic() }
    let (a, b) = try lowering.operands(left, right)
    // A Float's sums are rounded to Floats, which stored doubles do not do.
    if type == Float.self { throw NotLowerable(summary: "arithmetic on Float") }
    return .operand(.call(function, [a, b], dialect: .swift, .none))
}
