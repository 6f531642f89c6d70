import Foundation
import QuarryCoding

extension PredicateExpressions.Equal: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        .condition(.compare(try equality(.equal, lhs, rhs, LHS.Output.self, lowering)))
    }
}

extension PredicateExpressions.NotEqual: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        .condition(.compare(try equality(.notEqual, lhs, rhs, LHS.Output.self, lowering)))
    }
}

private func equality(
    _ relation: Relation, _ left: Any, _ right: Any, _ type: Any.Type, _ lowering: Lowering
) throws -> Comparison {
    let (a, b) = try lowering.operands(left, right)
    // Whether something is nil does not depend on its own ==.
    let isNilTest = a.isNilConstant || b.isNilConstant
    guard isNilTest || StoredTypes.isEquatable(type) else { throw NotLowerable(summary: "== of \(type)") }
    return Comparison(a, relation, b, dialect: .swift)
}

extension Operand {
    fileprivate var isNilConstant: Bool { constantValue?.isNil ?? false }
}

extension PredicateExpressions.Comparison: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let (a, b) = try lowering.operands(lhs, rhs)
        guard StoredTypes.isOrdered(LHS.Output.self) else {
            throw NotLowerable(summary: "the order of \(LHS.Output.self)")
        }
        let relation: Relation
        switch op {
        case .lessThan: relation = .less
        case .lessThanOrEqual: relation = .lessOrEqual
        case .greaterThan: relation = .greater
        case .greaterThanOrEqual: relation = .greaterOrEqual
        @unknown default: throw NotLowerable(summary: "an unknown comparison")
        }
        return .condition(.compare(Comparison(a, relation, b, dialect: .swift)))
    }
}

extension PredicateExpressions.Range: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let (low, high) = try lowering.operands(lower, upper)
        return .range(low, high, isClosed: false)
    }
}

extension PredicateExpressions.ClosedRange: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let (low, high) = try lowering.operands(lower, upper)
        return .range(low, high, isClosed: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let member = try lowering.operand(element)
        guard StoredTypes.isOrdered(Element.Output.self) else {
            throw NotLowerable(summary: "the order of \(Element.Output.self)")
        }
        return .condition(try rangeContains(try lowering.lowered(range), member))
    }
}

/// Constant bounds in their order become comparisons, which an index can answer. Others are checked with each row.
func rangeContains(_ range: Lowered, _ member: Operand) throws -> Condition {
    guard case .range(let low, let high, let isClosed) = range else { throw NotLowerable(summary: "a range") }
    if let low, let high {
        var isInOrder = false
        if let from = low.constantValue, let to = high.constantValue,
            let order = try? Comparing.order(from, to, at: .none)
        {
            isInOrder = order <= 0
        }
        if !isInOrder {
            let function = isClosed ? Function.closedRangeContains : .rangeContains
            return .truth(.call(function, [low, high, member], dialect: .swift, .none))
        }
    }
    var parts: [Condition] = []
    if let low { parts.append(.compare(Comparison(member, .greaterOrEqual, low, dialect: .swift))) }
    if let high {
        parts.append(.compare(Comparison(member, isClosed ? .lessOrEqual : .less, high, dialect: .swift)))
    }
    return parts.count == 1 ? parts[0] : .all(parts)
}
