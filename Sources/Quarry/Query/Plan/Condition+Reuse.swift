import QuarryPredicate

extension Condition {
    /// Whether a compiled matcher belongs to one run: it holds the time, or the transaction's decoder.
    var needsFreshMatcher: Bool {
        switch self {
        case .constant: false
        case .native: true
        case .all(let parts), .any(let parts): parts.contains(where: \.needsFreshMatcher)
        case .not(let part): part.needsFreshMatcher
        case .compare(let comparison), .quantified(_, let comparison):
            comparison.left.needsFreshMatcher || comparison.right.needsFreshMatcher
        case .truth(let operand): operand.needsFreshMatcher
        case .choice(let test, let then, let other):
            test.needsFreshMatcher || then.needsFreshMatcher || other.needsFreshMatcher
        case .elements(_, of: let operand, variable: _, satisfy: let condition):
            operand.needsFreshMatcher || condition.needsFreshMatcher
        }
    }
}

extension Operand {
    var needsFreshMatcher: Bool {
        switch self {
        case .constant, .field, .variable, .element: false
        case .step(let base, _, _): base.needsFreshMatcher
        case .list(let items): items.contains(where: \.needsFreshMatcher)
        case .call(let function, let arguments, dialect: _, _):
            function == .now || arguments.contains(where: \.needsFreshMatcher)
        case .ternary(let test, let then, let other):
            test.needsFreshMatcher || then.needsFreshMatcher || other.needsFreshMatcher
        case .subquery(of: let operand, variable: _, where: let condition):
            operand.needsFreshMatcher || condition.needsFreshMatcher
        case .ifPresent(let operand, variable: _, let then):
            operand.needsFreshMatcher || then.needsFreshMatcher
        case .condition(let condition): condition.needsFreshMatcher
        }
    }
}
