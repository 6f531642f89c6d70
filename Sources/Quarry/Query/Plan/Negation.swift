import QuarryPredicate

extension Condition {
    /// The same condition with NOT only in front of single comparisons, and nested AND and OR made flat.
    ///
    /// De Morgan's laws are exact under two-valued logic, and keep the order of evaluation.
    var normalized: Condition { normalized(negated: false) }

    private func normalized(negated: Bool) -> Condition {
        switch self {
        case .constant(let value): return .constant(value != negated)
        case .not(let inner): return inner.normalized(negated: !negated)
        case .all(let parts):
            let parts = parts.map { $0.normalized(negated: negated) }
            return negated ? Condition.joinAny(parts) : Condition.joinAll(parts)
        case .any(let parts):
            let parts = parts.map { $0.normalized(negated: negated) }
            return negated ? Condition.joinAll(parts) : Condition.joinAny(parts)
        case .compare(var comparison) where negated:
            switch comparison.relation {
            case .equal:
                comparison.relation = .notEqual
                return .compare(comparison)
            case .notEqual:
                comparison.relation = .equal
                return .compare(comparison)
            // Not less is more than greater or equal: nil and NaN are neither.
            default: return .not(self)
            }
        case .quantified(.any, let comparison) where negated: return .quantified(.none, comparison)
        case .quantified(.none, let comparison) where negated: return .quantified(.any, comparison)
        default: return negated ? .not(self) : self
        }
    }

    private static func joinAll(_ parts: [Condition]) -> Condition {
        var flat: [Condition] = []
        flat.reserveCapacity(parts.count)
        for part in parts {
            switch part {
            case .all(let inner): flat += inner
            case .constant(true): break
            default: flat.append(part)
            }
        }
        if flat.contains(.constant(false)) { return .constant(false) }
        return flat.count == 1 ? flat[0] : flat.isEmpty ? .constant(true) : .all(flat)
    }

    private static func joinAny(_ parts: [Condition]) -> Condition {
        var flat: [Condition] = []
        flat.reserveCapacity(parts.count)
        for part in parts {
            switch part {
            case .any(let inner): flat += inner
            case .constant(false): break
            default: flat.append(part)
            }
        }
        if flat.contains(.constant(true)) { return .constant(true) }
        return flat.count == 1 ? flat[0] : flat.isEmpty ? .constant(false) : .any(flat)
    }

    /// The parts that all have to hold.
    var conjuncts: [Condition] {
        switch self {
        case .all(let parts): parts
        case .constant(true): []
        default: [self]
        }
    }
}
