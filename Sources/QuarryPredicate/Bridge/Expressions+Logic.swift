import Foundation
import QuarryCoding

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        var parts: [Condition] = []
        for side in [lhs as Any, rhs as Any] {
            let part = try lowering.condition(side)
            // One flat list, however the macro nests it.
            if case .all(let inner) = part { parts += inner } else { parts.append(part) }
        }
        return .condition(.all(parts))
    }
}

extension PredicateExpressions.Disjunction: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        var parts: [Condition] = []
        for side in [lhs as Any, rhs as Any] {
            let part = try lowering.condition(side)
            if case .any(let inner) = part { parts += inner } else { parts.append(part) }
        }
        return .condition(.any(parts))
    }
}

extension PredicateExpressions.Negation: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered { .condition(.not(try lowering.condition(wrapped))) }
}

extension PredicateExpressions.Conditional: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let test = try lowering.condition(test)
        if Output.self == Bool.self {
            return .condition(
                .choice(test, then: try lowering.condition(trueBranch), else: try lowering.condition(falseBranch)))
        }
        let (first, second) = try lowering.operands(trueBranch, falseBranch)
        return .operand(.ternary(test, first, second))
    }
}

extension PredicateExpressions.NilCoalesce: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let (left, right) = try lowering.operands(lhs, rhs)
        return .operand(.call(.coalesce, [left, right], dialect: .swift, .none))
    }
}

extension PredicateExpressions.OptionalFlatMap: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let inner = try lowering.operand(wrapped)
        return try lowering.scoped(variable.key) { element in
            .operand(.ifPresent(inner, variable: element, then: try lowering.operand(transform)))
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        .operand(.step(try lowering.operand(inner), .unwrapped, .none))
    }
}
