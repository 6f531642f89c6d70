import QuarryCoding
import QuarryLMDB
import QuarryPredicate

extension Planner {
    /// A walk through the index that delivers the order; nil when it cannot.
    ///
    /// - Parameter effective: the sort terms that matter, as positions in `order.terms`.
    func indexWalk(
        _ index: IndexTable, _ effective: [Int]
    ) throws -> (walk: IndexWalkPlan, covered: Set<Int>, isExact: Bool)? {
        let components = index.definition.components
        if components.contains(where: \.isEach) { return nil }
        var terms: [Int?] = []
        var open = effective[...]
        for (c, component) in components.enumerated() {
            if let next = open.first, delivers(component, order.terms[next]) {
                terms.append(next)
                open.removeFirst()
            } else if isFixed(index, c) {
                terms.append(nil)
            } else {
                break
            }
        }
        guard open.isEmpty, let first = terms.firstIndex(where: { $0 != nil }), let lead = terms[first] else {
            return nil
        }
        // A token says nothing of components held constant in between.
        if specification.after != nil, terms[first...].contains(nil) { return nil }
        let isReversed = order.terms[lead].descending
        for (c, place) in terms.enumerated() {
            guard let place else { continue }
            let term = order.terms[place]
            if term.descending != isReversed { return nil }
            // An index has nil first; only the leading component's nils can be walked apart.
            if c > first, term.nilsLast != isReversed, mayBeNil(components[c].path) { return nil }
        }
        let groupsKeys = terms.count < components.count
        let candidate = try indexCandidate(index, parts, limit: groupsKeys ? terms.count : .max)
        var access: IndexAccess?
        if case .index(let found)? = candidate?.access { access = found }
        if case .nothing? = candidate?.access { return nil }
        let fixed = terms.prefix { $0 == nil }.count
        if fixed > 0, (access?.parts.count ?? 0) < fixed { return nil }
        let walk = IndexWalkPlan(
            index: index, access: access, isReversed: isReversed, terms: terms, groupsKeys: groupsKeys,
            splitsNils: order.terms[lead].nilsLast != isReversed, nilsLast: order.terms[lead].nilsLast,
            idsDescending: order.idsDescending)
        return (walk, access == nil ? [] : candidate?.covered ?? [], candidate?.isExact ?? true)
    }

    private func delivers(_ component: IndexComponent, _ term: SortTerm) -> Bool {
        guard component.path == term.path, component.type != .any else { return false }
        return component.type != .string || component.options.folding == term.options.folding
    }

    /// Whether the conditions leave the component one value only.
    private func isFixed(_ index: IndexTable, _ c: Int) -> Bool {
        let component = index.definition.components[c]
        let column = index.definition.column(c)
        return parts.contains { part in
            guard let part, !part.isEach, part.path == component.path, part.test.equated != nil else { return false }
            guard let answer = part.test.answer(in: column) else { return false }
            return answer.isExact && answer.ranges.count == 1 && answer.arePoints
        }
    }

    private func mayBeNil(_ path: [String]) -> Bool {
        for end in path.indices where table.fields.info(Array(path[...end]))?.isOptional ?? true { return true }
        return false
    }
}
