import QuarryCoding

/// One way to reach the rows that may match: a superset of those that do.
indirect enum Access: Sendable {
    case nothing
    /// Every row, by the table.
    case everything
    case primary(PrimaryAccess)
    case index(IndexAccess)
    /// Rows that any of these reaches.
    case union([Access])
    /// Rows that all of these reach.
    case intersection([Access])
}

/// Ranges of the primary key.
struct PrimaryAccess: Sendable {
    let test: FieldTest
    let path: [String]
    /// Nil while variables are unbound.
    let ranges: KeyRanges?
    let estimate: Double
}

/// Ranges of one index: tests on its leading components.
struct IndexAccess: Sendable {
    struct Part: Sendable {
        /// All of them hold for the component.
        let tests: [FieldTest]
    }
    let index: IndexTable
    let parts: [Part]
    /// Nil while variables are unbound.
    let ranges: KeyRanges?
    let estimate: Double

    /// Whether each range of `ranges` that is a point is one key of the index.
    var pointsAreKeys: Bool { parts.count == index.definition.components.count }
    var hasEach: Bool { index.definition.components.contains(where: \.isEach) }
}

extension Access {
    var estimate: Double {
        switch self {
        case .nothing: 0
        case .everything: .infinity
        case .primary(let access): access.estimate
        case .index(let access): access.estimate
        case .union(let parts): parts.reduce(0) { $0 + $1.estimate }
        case .intersection(let parts): parts.reduce(.infinity) { Swift.min($0, $1.estimate) }
        }
    }
}

extension IndexDefinition {
    func column(_ i: Int) -> KeyColumn { KeyColumn(components[i], budget: textBudget) }
}

extension IndexAccess {
    /// At most so many ranges come out of crossing lists of several components.
    static let crossLimit = 4096

    /// The ranges of whole index keys; nil when a value does not fit its component.
    static func ranges(
        _ parts: [Part], _ index: IndexDefinition, _ variables: [String: Value]
    ) -> KeyRanges? {
        var result = KeyRanges.everything
        for (i, part) in parts.enumerated() {
            let column = index.column(i)
            var here: KeyRanges?
            for test in part.tests {
                guard let found = test.ranges(in: column, variables) else { return nil }
                here = here?.intersection(found) ?? found
            }
            guard let here else { return nil }
            if i == 0 {
                result = here
                continue
            }
            // Behind a range, a further component narrows nothing.
            guard result.arePoints, result.ranges.count * here.ranges.count <= crossLimit else { return nil }
            var crossed: [KeyRange] = []
            crossed.reserveCapacity(result.ranges.count * here.ranges.count)
            for point in result.ranges {
                for range in here.ranges { crossed.append(range.prefixed(by: point.lower)) }
            }
            result = KeyRanges(crossed, isExact: result.isExact && here.isExact)
        }
        return result
    }
}

/// An access whose variables are bound.
indirect enum ResolvedAccess {
    case nothing
    case everything
    case primary(KeyRanges)
    case index(IndexAccess, KeyRanges)
    case union([ResolvedAccess])
    case intersection([ResolvedAccess])

    var isExact: Bool {
        switch self {
        case .nothing, .everything: true
        case .primary(let ranges), .index(_, let ranges): ranges.isExact
        case .union(let parts), .intersection(let parts): parts.allSatisfy(\.isExact)
        }
    }
}

extension Access {
    /// Nil when a variable's value cannot be looked up this way.
    func resolved(_ variables: [String: Value], idType: FieldType?) -> ResolvedAccess? {
        switch self {
        case .nothing: return .nothing
        case .everything: return .everything
        case .primary(let access):
            if let ranges = access.ranges { return .primary(ranges) }
            guard let column = KeyColumn(primary: idType) else { return nil }
            return access.test.ranges(in: column, variables).map { .primary($0) }
        case .index(let access):
            if let ranges = access.ranges { return .index(access, ranges) }
            return IndexAccess.ranges(access.parts, access.index.definition, variables).map { .index(access, $0) }
        case .union(let parts):
            return Access.resolved(parts, variables, idType).map { .union($0) }
        case .intersection(let parts):
            return Access.resolved(parts, variables, idType).map { .intersection($0) }
        }
    }

    private static func resolved(
        _ parts: [Access], _ variables: [String: Value], _ idType: FieldType?
    ) -> [ResolvedAccess]? {
        var result: [ResolvedAccess] = []
        for part in parts {
            guard let resolved = part.resolved(variables, idType: idType) else { return nil }
            result.append(resolved)
        }
        return result
    }
}
