import QuarryCoding

/// The `$variables` that a condition needs values for.
package func variables(in condition: Condition) -> Set<String> {
    var found: Set<String> = []
    _ = condition.mapVariables { name in
        found.insert(name)
        return nil
    }
    return found
}

/// The condition with constants for the variables that are given.
package func substitute(_ values: [String: Value], in condition: Condition) -> Condition {
    condition.mapVariables { values[$0] }
}

extension Condition {
    /// Replaces the variables for which there is a value.
    func mapVariables(_ value: (String) -> Value?) -> Condition {
        switch self {
        case .constant, .native: self
        case .all(let parts): .all(parts.map { $0.mapVariables(value) })
        case .any(let parts): .any(parts.map { $0.mapVariables(value) })
        case .not(let part): .not(part.mapVariables(value))
        case .compare(let comparison): .compare(comparison.mapVariables(value))
        case .quantified(let quantifier, let comparison): .quantified(quantifier, comparison.mapVariables(value))
        case .truth(let operand): .truth(operand.mapVariables(value))
        case .choice(let test, let first, let second):
            .choice(
                test.mapVariables(value), then: first.mapVariables(value), else: second.mapVariables(value))
        case .elements(let quantifier, let operand, let variable, let satisfy):
            .elements(
                quantifier, of: operand.mapVariables(value), variable: variable,
                satisfy: satisfy.mapVariables(value))
        }
    }
}

extension Comparison {
    fileprivate func mapVariables(_ value: (String) -> Value?) -> Comparison {
        var copy = self
        copy.left = left.mapVariables(value)
        copy.right = right.mapVariables(value)
        return copy
    }
}

extension Operand {
    fileprivate func mapVariables(_ value: (String) -> Value?) -> Operand {
        switch self {
        case .constant, .field, .element: return self
        case .variable(let name, let position):
            return value(name).map { .constant(Constant($0, position: position)) } ?? self
        case .step(let base, let step, let position):
            return .step(base.mapVariables(value), step.mapVariables(value), position)
        case .list(let items):
            let mapped = items.map { $0.mapVariables(value) }
            let values = mapped.compactMap(\.constantValue)
            return values.count == mapped.count ? .constant(Constant(.array(values))) : .list(mapped)
        case .call(let function, let operands, let dialect, let position):
            return .call(function, operands.map { $0.mapVariables(value) }, dialect: dialect, position)
        case .ternary(let test, let first, let second):
            return .ternary(test.mapVariables(value), first.mapVariables(value), second.mapVariables(value))
        case .subquery(let operand, let variable, let condition):
            return .subquery(
                of: operand.mapVariables(value), variable: variable, where: condition.mapVariables(value))
        case .ifPresent(let operand, let variable, let body):
            return .ifPresent(
                operand.mapVariables(value), variable: variable, then: body.mapVariables(value))
        case .condition(let condition): return .condition(condition.mapVariables(value))
        }
    }
}

extension Step {
    fileprivate func mapVariables(_ value: (String) -> Value?) -> Step {
        switch self {
        case .subscripted(let index, let dialect): .subscripted(index.mapVariables(value), dialect: dialect)
        case .subscriptedDefault(let index, let other):
            .subscriptedDefault(index.mapVariables(value), other.mapVariables(value))
        case .slice(let from, let to, let isClosed):
            .slice(from.mapVariables(value), to.mapVariables(value), closed: isClosed)
        default: self
        }
    }
}
