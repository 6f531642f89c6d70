import QuarryCoding
import QuarryLMDB
import QuarryPredicate

extension Plan {
    /// Plans a query as this transaction's tables are: which indexes, which order, what is left to check.
    package static func makePlan(
        _ specification: QuerySpecification, table: EntityTable, core: TransactionCore
    ) throws -> Plan {
        try specification.validate(table)
        // Index entries that wait in a write are part of the estimates.
        try core.flush(table)
        let planner = Planner(specification, table, Estimator(table, core.transaction))
        defer { planner.estimator.close() }
        return try planner.plan()
    }
}

extension QuerySpecification {
    fileprivate func validate(_ table: EntityTable) throws {
        if offset < 0 { throw QuarryError.invalidArgument("the offset is \(offset); it cannot be negative") }
        if let limit {
            if limit < 0 { throw QuarryError.invalidArgument("the limit is \(limit); it cannot be negative") }
            if offset.addingReportingOverflow(limit).overflow {
                throw QuarryError.invalidArgument("offset \(offset) and limit \(limit) pass the largest integer")
            }
        }
        try after?.check(sort, table)
    }
}

/// What rows cost, in the unit of one row of a scan.
enum Cost {
    /// One row fetched by its key. A scan wins above about 5 % of the rows.
    static let fetch = 18.0
    static let entry = 0.4
    static let checked = 0.5
    static let sorted = 3.0
    /// A top-k sort: most rows are turned away by one comparison.
    static let offered = 0.3
    /// What part of the rows passes a condition nobody can estimate.
    static let unknownShare = 0.3
}

/// Makes one plan.
final class Planner {
    let specification: QuerySpecification
    let table: EntityTable
    let estimator: Estimator
    let condition: Condition
    let conjuncts: [Condition]
    let parts: [FieldCondition?]
    let order: RequiredOrder
    /// Sources of fewer rows are not worth intersecting: the rows are fetched and checked.
    var intersectionFloor = Double(Estimator.steps)

    /// Smaller tables are costed as if they had so many rows: a kept plan must still be right when they have grown.
    static let leastRows = 10_000.0
    /// Rows a top-k sort keeps at most; beyond it everything is sorted.
    static let topLimit = 10_000

    init(_ specification: QuerySpecification, _ table: EntityTable, _ estimator: Estimator) {
        self.specification = specification
        self.table = table
        self.estimator = estimator
        condition = specification.condition.normalized
        conjuncts = condition.conjuncts
        parts = conjuncts.map { $0.fieldCondition(table.fields) }
        order = RequiredOrder(specification.sort, idPath: table.idPath)
    }

    /// One way to reach the rows, and which conjuncts need no check after it.
    struct Candidate {
        var access: Access
        var covered: Set<Int>
        var isExact: Bool
        var estimate: Double
        /// Entries read to find the ids.
        var entries: Double
    }

    /// Weighs the strategies and keeps the cheapest, or the one that `choose` picks.
    func plan(choose: ([Strategy]) -> Strategy? = { $0.min { $0.cost < $1.cost } }) throws -> Plan {
        let stored = try estimator.rows
        let rows = max(stored, Self.leastRows)
        let found =
            try condition == .constant(false)
            ? [Candidate(access: .nothing, covered: Set(conjuncts.indices), isExact: true, estimate: 0, entries: 0)]
            : candidates(conjuncts, parts)
        let matches = estimateMatches(found, rows)
        let needed = specification.limit.map { Double(specification.offset) + Double($0) } ?? .infinity
        let effective = effectiveTerms()
        let isByID = effective.isEmpty

        var strategies: [Strategy] = []
        let scan = scanStrategy(rows, matches, needed, isByID)
        strategies.append(scan)
        var exact: [Strategy] = []
        for candidate in found {
            let strategy = accessStrategy(candidate, matches, needed, isByID)
            strategies.append(strategy)
            if strategy.residual == nil { exact.append(strategy) }
        }
        if let both = try intersection(found, matches, needed, isByID) { strategies.append(both) }
        if !isByID {
            for index in table.indexes {
                if let walk = try walkStrategy(index, effective, rows, matches, needed) { strategies.append(walk) }
            }
        }
        let best = choose(strategies) ?? scan
        return Plan(
            table: table, specification: specification, order: order, isByID: isByID, condition: condition,
            strategy: best, fallback: scan, counting: exact.min { $0.reads < $1.reads }, rows: stored,
            matches: min(matches, stored))
    }

    private func estimateMatches(_ candidates: [Candidate], _ rows: Double) -> Double {
        if conjuncts.isEmpty { return rows }
        var result = rows
        for candidate in candidates {
            let open = Double(conjuncts.count - candidate.covered.count)
            result = min(result, open > 0 ? candidate.estimate * 0.6 : candidate.estimate)
        }
        return candidates.isEmpty ? rows * Cost.unknownShare : result
    }

    /// The sort terms that remain when fields with one possible value are left out.
    private func effectiveTerms() -> [Int] {
        order.terms.indices.filter { i in
            // A token compares all terms.
            if specification.after != nil { return true }
            let term = order.terms[i]
            return !parts.contains { part in
                guard let part, !part.isEach, part.path == term.path, let equated = part.test.equated else {
                    return false
                }
                return equated.options.folding == term.options.folding && !equated.options.contains(.normalized)
            }
        }
    }

    func residual(without covered: Set<Int>) -> Condition? {
        let open = conjuncts.indices.filter { !covered.contains($0) }.map { conjuncts[$0] }
        return open.isEmpty ? nil : open.count == 1 ? open[0] : .all(open)
    }

    // MARK: Costs

    private func sortCost(_ matches: Double, _ needed: Double) -> Double {
        needed <= Double(Self.topLimit)
            ? matches * Cost.offered : matches * Cost.sorted * max(1, log2Of(matches) / 10)
    }

    private func log2Of(_ value: Double) -> Double { value < 2 ? 1 : Double(value.exponent) + 1 }

    /// Rows to look at until enough of them match.
    private func visits(_ total: Double, _ matches: Double, _ needed: Double) -> Double {
        needed.isFinite && matches > 0 ? min(total, needed * total / matches) : total
    }

    private func scanStrategy(_ rows: Double, _ matches: Double, _ needed: Double, _ isByID: Bool) -> Strategy {
        let residual = residual(without: [])
        let visited = isByID ? visits(rows, matches, needed) : rows
        var cost = visited * (1 + (residual == nil ? 0 : Cost.checked))
        if !isByID { cost += sortCost(matches, needed) }
        return Strategy(
            source: .access(.everything), residual: residual, assumesExact: false, isOrdered: isByID, reads: visited,
            cost: cost)
    }

    private func accessStrategy(
        _ candidate: Candidate, _ matches: Double, _ needed: Double, _ isByID: Bool
    ) -> Strategy {
        let residual = residual(without: candidate.covered)
        var fetched = candidate.estimate
        if isByID { fetched = residual == nil ? min(needed, fetched) : visits(fetched, min(matches, fetched), needed) }
        var cost = candidate.entries * Cost.entry
        if case .primary = candidate.access {
            cost = fetched * (1 + Cost.checked) + Cost.fetch
        } else {
            cost += fetched * Cost.fetch
        }
        if !isByID { cost += sortCost(min(matches, candidate.estimate), needed) }
        return Strategy(
            source: .access(candidate.access), residual: residual, assumesExact: candidate.isExact, isOrdered: isByID,
            reads: candidate.estimate, cost: cost)
    }

    /// Two indexes at once, where both reach many rows and few are in both.
    private func intersection(
        _ candidates: [Candidate], _ matches: Double, _ needed: Double, _ isByID: Bool
    ) throws -> Strategy? {
        let rows = max(try estimator.rows, Self.leastRows)
        let usable = candidates.filter { candidate in
            if case .nothing = candidate.access { return false }
            return candidate.estimate > intersectionFloor && candidate.estimate < rows / 4
        }.sorted { $0.estimate < $1.estimate }
        guard let first = usable.first,
            let second = usable.dropFirst().first(where: { !$0.covered.isSubset(of: first.covered) })
        else { return nil }
        let both = Candidate(
            access: .intersection([first.access, second.access]), covered: first.covered.union(second.covered),
            isExact: first.isExact && second.isExact, estimate: first.estimate * second.estimate / max(rows, 1),
            entries: (first.entries + second.entries) * 2)
        return accessStrategy(both, min(matches, both.estimate), needed, isByID)
    }

    private func walkStrategy(
        _ index: IndexTable, _ effective: [Int], _ rows: Double, _ matches: Double, _ needed: Double
    ) throws -> Strategy? {
        guard let (walk, covered, isExact) = try indexWalk(index, effective) else { return nil }
        let entries = try walk.access?.estimate ?? max(estimator.entries(index.database), Self.leastRows)
        let residual = residual(without: covered)
        let visited = visits(entries, min(matches, entries), needed)
        let fetched: Double
        if residual == nil {
            let skipped = walk.groupsKeys ? 0 : min(visited, Double(specification.offset))
            fetched = visited - skipped
        } else {
            fetched = visited
        }
        return Strategy(
            source: .walk(walk), residual: residual, assumesExact: isExact, isOrdered: true, reads: visited,
            cost: visited * Cost.entry + fetched * Cost.fetch)
    }
}
