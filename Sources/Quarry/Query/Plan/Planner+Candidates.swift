import QuarryCoding
import QuarryLMDB
import QuarryPredicate

extension Planner {
    /// At most so many different sources make a union.
    private static let unionLimit = 256

    /// Every way to reach the rows for which all conjuncts hold.
    func candidates(_ conjuncts: [Condition], _ parts: [FieldCondition?]) throws -> [Candidate] {
        var result: [Candidate] = []
        if let candidate = try primaryCandidate(parts) { result.append(candidate) }
        for index in table.indexes {
            if let candidate = try indexCandidate(index, parts, limit: .max) { result.append(candidate) }
        }
        for (i, conjunct) in conjuncts.enumerated() {
            guard case .any(let branches) = conjunct, let union = try unionCandidate(branches, i) else { continue }
            result.append(union)
        }
        return result
    }

    // MARK: Primary key

    private func primaryCandidate(_ parts: [FieldCondition?]) throws -> Candidate? {
        guard let path = table.idPath, let column = KeyColumn(primary: table.idType) else { return nil }
        var tests: [FieldTest] = []
        var covered: Set<Int> = []
        var isExact = true
        for (i, part) in parts.enumerated() {
            guard let part, part.path == path, !part.isEach, let answer = part.test.answer(in: column) else { continue }
            tests.append(part.test)
            if answer.isExact { covered.insert(i) } else { isExact = false }
        }
        if tests.isEmpty { return nil }
        let test = tests.count == 1 ? tests[0] : .all(tests)
        if test.hasVariables {
            let estimate = try guess(test.shape, average: 1, all: estimator.rows)
            let access = PrimaryAccess(test: test, path: path, ranges: nil, estimate: estimate)
            return Candidate(
                access: .primary(access), covered: covered, isExact: isExact, estimate: estimate, entries: 0)
        }
        guard let ranges = test.ranges(in: column, [:]) else { return nil }
        if ranges.isEmpty { return nothing(covered) }
        let estimate = try estimator.estimate(ranges, in: table.database, pointsAreKeys: true)
        let access = PrimaryAccess(test: test, path: path, ranges: ranges, estimate: estimate)
        return Candidate(access: .primary(access), covered: covered, isExact: isExact, estimate: estimate, entries: 0)
    }

    private func nothing(_ covered: Set<Int>) -> Candidate {
        Candidate(access: .nothing, covered: covered, isExact: true, estimate: 0, entries: 0)
    }

    /// Rows of a test whose values are not known yet.
    private func guess(_ shape: FieldTest.Shape, average: Double, all: Double) -> Double {
        switch shape {
        case .points(let count): min(Double(count) * average, all)
        case .bounded: all * 0.04
        case .halfOpen: all * 0.3
        case .open: all * 0.8
        }
    }

    // MARK: Indexes

    /// The index's leading components as far as the conditions go: equalities, then one range.
    func indexCandidate(_ index: IndexTable, _ parts: [FieldCondition?], limit: Int) throws -> Candidate? {
        let definition = index.definition
        var accessParts: [IndexAccess.Part] = []
        var covered: Set<Int> = []
        var isExact = true
        var crossed = 1
        var shape = FieldTest.Shape.points(1)
        for (c, component) in definition.components.enumerated().prefix(limit) {
            let column = definition.column(c)
            var tests: [FieldTest] = []
            var points: Int?
            for (i, part) in parts.enumerated() {
                guard let part, part.path == component.path, part.isEach == component.isEach,
                    let answer = part.test.answer(in: column)
                else { continue }
                // Two conditions on elements may speak of different ones.
                if component.isEach && !tests.isEmpty { continue }
                tests.append(part.test)
                if answer.isExact { covered.insert(i) } else { isExact = false }
                if case .points(let count) = part.test.shape { points = min(points ?? .max, count) }
            }
            if tests.isEmpty { break }
            if let points { crossed = crossed.multipliedReportingOverflow(by: max(points, 1)).partialValue }
            if c > 0, crossed > IndexAccess.crossLimit || crossed <= 0 { break }
            accessParts.append(IndexAccess.Part(tests: tests))
            guard let points else {
                shape = FieldTest.all(tests).shape
                break
            }
            shape = .points(crossed)
            if points > IndexAccess.crossLimit { break }
        }
        // A row without elements has no entry, unless the conditions ask for an element.
        if accessParts.isEmpty || definition.components.dropFirst(accessParts.count).contains(where: \.isEach) {
            return nil
        }
        let all = try estimator.entries(index.database)
        let isWhole = accessParts.count == definition.components.count
        if accessParts.contains(where: { $0.tests.contains(where: \.hasVariables) }) {
            let average = try estimator.average(index) * (isWhole ? 1 : 8)
            let estimate = guess(shape, average: average, all: all)
            let access = IndexAccess(index: index, parts: accessParts, ranges: nil, estimate: estimate)
            return Candidate(
                access: .index(access), covered: covered, isExact: isExact, estimate: estimate, entries: estimate)
        }
        guard let ranges = IndexAccess.ranges(accessParts, definition, [:]) else { return nil }
        if ranges.isEmpty { return nothing(covered) }
        let estimate = try estimator.estimate(ranges, in: index.database, pointsAreKeys: isWhole)
        let access = IndexAccess(index: index, parts: accessParts, ranges: ranges, estimate: estimate)
        return Candidate(
            access: .index(access), covered: covered, isExact: isExact, estimate: estimate, entries: estimate)
    }

    // MARK: Unions

    /// A union when every branch of an OR can be looked up.
    private func unionCandidate(_ branches: [Condition], _ position: Int) throws -> Candidate? {
        var groups: [[Condition]] = []
        var places: [String: Int] = [:]
        for branch in branches {
            // Branches on one field become one lookup of several values.
            if let field = branch.fieldCondition(table.fields) {
                let name = field.path.joined(separator: "\u{0}") + (field.isEach ? "\u{1}" : "")
                if let place = places[name] {
                    groups[place].append(branch)
                    continue
                }
                places[name] = groups.count
            }
            groups.append([branch])
            if groups.count > Self.unionLimit { return nil }
        }
        if groups.count == 1 {
            // One field, which no single index answers: perhaps several do, one with folded text among them.
            if branches.count > Self.unionLimit { return nil }
            groups = branches.map { [$0] }
        }
        var accesses: [Access] = []
        var isCovered = true
        var isExact = true
        var estimate = 0.0
        var entries = 0.0
        for group in groups {
            let branch = group.count == 1 ? group[0] : .any(group)
            let conjuncts = branch.conjuncts
            let parts = conjuncts.map { $0.fieldCondition(table.fields) }
            guard let best = try candidates(conjuncts, parts).min(by: { $0.estimate < $1.estimate }) else { return nil }
            if case .nothing = best.access { continue }
            accesses.append(best.access)
            isCovered = isCovered && best.covered.count == conjuncts.count
            isExact = isExact && best.isExact
            estimate += best.estimate
            entries += best.entries
        }
        let covered: Set<Int> = isCovered ? [position] : []
        if accesses.isEmpty { return nothing([position]) }
        let access = accesses.count == 1 ? accesses[0] : .union(accesses)
        return Candidate(
            access: access, covered: covered, isExact: isExact, estimate: estimate, entries: max(entries, 1) * 2)
    }
}
