import Foundation
import QuarryCoding
import QuarryLMDB
import QuarryPredicate

/// One run of a plan inside a transaction.
///
/// Not Sendable: it stays on the transaction's thread. The bytes that it hands out are valid inside the closure, and in
/// a write only until the next change.
package final class Execution {
    let plan: Plan
    let core: TransactionCore
    let transaction: Transaction
    let table: EntityTable
    let registry: ShapeRegistry
    private let variables: [String: Value]
    private let decode: ((UnsafeRawBufferPointer) throws -> Any)?
    private var planned: Matcher?
    private var whole: Matcher?
    private(set) var sortKeys: SortKeyMaker?
    var counters = Counters()
    /// Tables with fewer rows than some multiple of this are never scanned for want of a better index.
    var collectionFloor = 4096

    /// What a run has read, for `analyze`.
    struct Counters {
        var entries = 0
        var rows = 0
        var matches = 0
        var results = 0
        /// The planned access was given up for a scan.
        var fellBack = false
    }

    /// - Parameters:
    ///   - variables: the values of the plan's `$variables`.
    ///   - decode: makes the object for conditions that only Foundation can run.
    package init(
        _ plan: Plan, core: TransactionCore, variables: [String: Value],
        decode: ((UnsafeRawBufferPointer) throws -> Any)?
    ) throws {
        self.plan = plan
        self.core = core
        self.variables = variables
        self.decode = decode
        transaction = core.transaction
        table = plan.table
        registry = core.store.registry
        for name in plan.variables where variables[name] == nil {
            let message = "the variable $\(name) is not bound to a value"
            throw QuarryError.predicate(
                PredicateError(message: message, text: nil, offset: -1, description: "\(table.name): \(message)"))
        }
        try core.flush(table)
    }

    deinit {
        if plan.keepsMatchers, let planned { plan.matchers.give(planned) }
    }

    // MARK: Conditions

    /// What rows of a run are checked for.
    enum Check {
        case none
        /// What the plan's strategy leaves open.
        case planned
        /// The whole condition.
        case whole
    }

    func matcher(_ check: Check) throws -> Matcher? {
        switch check {
        case .none: return nil
        case .planned:
            if let planned { return planned }
            guard let residual = plan.strategy.residual else { return nil }
            let matcher = try plan.keepsMatchers ? plan.matchers.take() ?? make(residual) : make(residual)
            matcher.variables = variables
            planned = matcher
            return matcher
        case .whole:
            if let whole { return whole }
            let matcher = try make(plan.condition)
            matcher.variables = variables
            whole = matcher
            return matcher
        }
    }

    private func make(_ condition: Condition) throws -> Matcher {
        try Matcher(condition, registry: registry, now: Date(), decode: decode)
    }

    // MARK: Sources

    /// A strategy whose variables are bound and whose keys are known.
    struct Run {
        enum Source {
            case nothing
            /// Ranges of the table, in the order of the ids.
            case table([KeyRange])
            /// The ids under one key of an index, which lie in order.
            case duplicates(IndexAccess, [UInt8])
            case list(KeyList)
            case walk(IndexWalk)
        }
        var source: Source
        var check: Check
        var isOrdered: Bool
    }

    func resolve(_ access: Access) -> ResolvedAccess? { access.resolved(variables, idType: table.idType) }

    /// The plan's strategy with everything bound; the scan when that is not possible or reaches too many rows.
    func prepare() throws -> Run {
        let strategy = plan.strategy
        let source: Run.Source?
        var isExact = true
        switch strategy.source {
        case .walk(let walk):
            let walk = try IndexWalk(walk, self, variables)
            isExact = walk?.isExact ?? true
            source = walk.map { .walk($0) }
        case .access(let access):
            let resolved = resolve(access)
            isExact = resolved?.isExact ?? true
            source = try resolved.flatMap { try self.source($0, limit: try collectionLimit()) }
        }
        guard let source else {
            counters.fellBack = true
            return scan()
        }
        let check: Check = strategy.assumesExact && !isExact ? .whole : strategy.residual == nil ? .none : .planned
        return Run(source: source, check: check, isOrdered: strategy.isOrdered)
    }

    /// A source for answers in which order does not matter.
    func prepareUnordered() throws -> Run {
        if case .access = plan.strategy.source { return try prepare() }
        return scan()
    }

    private func scan() -> Run {
        Run(
            source: .table(clipped([.everything])), check: plan.fallback.residual == nil ? .none : .whole,
            isOrdered: plan.fallback.isOrdered)
    }

    /// Beyond so many collected keys, reading the whole table in order is faster.
    private func collectionLimit() throws -> Int {
        max(collectionFloor, try transaction.entryCount(table.database) / 16)
    }

    /// Nil when more than `limit` keys would have to be collected.
    func source(_ resolved: ResolvedAccess, limit: Int) throws -> Run.Source? {
        switch resolved {
        case .nothing: return .nothing
        case .everything: return .table(clipped([.everything]))
        case .primary(let ranges): return .table(clipped(ranges.ranges))
        case .index(let access, let ranges):
            if ranges.isEmpty { return .nothing }
            if access.pointsAreKeys, ranges.ranges.count == 1, ranges.arePoints {
                return .duplicates(access, ranges.ranges[0].lower)
            }
            fallthrough
        case .union, .intersection:
            guard let list = try collect(resolved, limit: limit) else { return nil }
            return .list(list)
        }
    }

    /// Whether rows come in descending order of their ids.
    var isReversed: Bool { plan.isByID && plan.order.idsDescending }

    /// What of the ranges lies after the page token, where ids alone make the order.
    private func clipped(_ ranges: [KeyRange]) -> [KeyRange] {
        guard let token = plan.specification.after, plan.isByID else { return ranges }
        var result: [KeyRange] = []
        for range in ranges {
            var part = range
            if plan.order.idsDescending {
                if part.upper.map({ KeyRange.precedes(token.id, $0) }) ?? true { part.upper = token.id }
            } else {
                let next = token.id + [0]
                if KeyRange.precedes(part.lower, next) { part.lower = next }
            }
            if part != range { part.isPoint = false }
            if !part.isEmpty { result.append(part) }
        }
        return result
    }

    // MARK: Rows

    /// The row under a key. In a write it may be gone since the key was found.
    @inline(__always)
    func row(_ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
        counters.rows += 1
        if let row = try transaction.get(table.database, key: key) { return row }
        if core.changes != nil { return nil }
        throw QuarryError.damaged(
            path: core.store.path,
            reason: "an index of \(table.name) names the id \(table.idDescription(key)), which has no row")
    }

    func makeSortKeys() -> SortKeyMaker {
        if let known = sortKeys { return known }
        let maker = SortKeyMaker(plan.order.terms, table: table, registry: registry)
        sortKeys = maker
        return maker
    }

    // MARK: Results

    /// Calls `body` with each row of the result in order, until it says false.
    package func forEachRow(_ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Bool)
        throws
    {
        if plan.limit == 0 { return }
        let run = try prepare()
        if run.isOrdered { try stream(run, body) } else { try sorted(run, body) }
    }

    /// The same while `body` may change rows: the ids are collected first, and rows gone since are left out.
    package func forEachIsolated(
        _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let list = try keyList()
        for i in 0..<list.count {
            let goesOn = try list.withKey(i) { key in
                guard let row = try row(key) else { return true }
                return try body(key, row)
            }
            if !goesOn { return }
        }
    }

    private func stream(
        _ run: Run, _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var left = plan.limit ?? .max
        guard let matcher = try matcher(run.check) else {
            // Nothing to check, so what the offset leaves out is skipped without reading rows.
            try forEachRow(run.source, skip: plan.offset) { key, row in
                counters.results += 1
                left -= 1
                return try body(key, row) && left > 0
            }
            return
        }
        var skip = plan.offset
        try forEachRow(run.source, skip: 0) { key, row in
            guard try matcher.matches(row: row) else { return true }
            counters.matches += 1
            if skip > 0 {
                skip -= 1
                return true
            }
            counters.results += 1
            left -= 1
            return try body(key, row) && left > 0
        }
    }

    private func sorted(
        _ run: Run, _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        // Checked when the plan was made: the sum does not overflow.
        let needed = plan.limit.map { plan.offset + $0 } ?? .max
        var buffer = SortBuffer(
            limit: needed <= Planner.topLimit ? needed : .max, idsDescending: plan.order.idsDescending)
        let maker = makeSortKeys()
        let matcher = try matcher(run.check)
        let start = try tokenStart()
        // A row's address stays valid in a read transaction; a write may move it before it is handed out.
        let keepsRows = core.changes == nil
        try forEachRow(run.source, skip: 0) { key, row in
            if let matcher, try !matcher.matches(row: row) { return true }
            counters.matches += 1
            guard let sortKey = try maker.make(row, bound: buffer.bound) else { return true }
            if let start, !isAfter(start, sortKey, key) { return true }
            buffer.offer(key: sortKey, id: key, row: keepsRows ? row : UnsafeRawBufferPointer(start: nil, count: 0))
            return true
        }
        buffer.sort()
        let end = min(buffer.count, needed)
        var i = plan.offset
        while i < end {
            let record = buffer[i]
            i += 1
            counters.results += 1
            if record.row.baseAddress != nil {
                guard try body(record.id, record.row) else { return }
            } else if let row = try row(record.id) {
                guard try body(record.id, row) else { return }
            }
        }
    }

    // MARK: Tokens

    /// Where the page before ended, as a whole sort key and id.
    struct TokenStart {
        var sortKey: [UInt8]
        var id: [UInt8]
    }

    func tokenStart() throws -> TokenStart? {
        guard let token = plan.specification.after else { return nil }
        return TokenStart(sortKey: SortKeyMaker.key(token.components, plan.order.terms), id: token.id)
    }

    @inline(__always)
    func isAfter(_ start: TokenStart, _ sortKey: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer) -> Bool {
        let order = start.sortKey.withUnsafeBytes { compareKeys(sortKey, $0) }
        if order != 0 { return order > 0 }
        return isAfter(id: id, start.id)
    }

    @inline(__always)
    func isAfter(id: UnsafeRawBufferPointer, _ start: [UInt8]) -> Bool {
        let order = start.withUnsafeBytes { compareKeys(id, $0) }
        return plan.order.idsDescending ? order < 0 : order > 0
    }

    /// The way to go on behind this row with `QuerySpecification.after`.
    package func token(after key: UnsafeRawBufferPointer, row: UnsafeRawBufferPointer) throws -> PageToken {
        PageToken(
            components: try makeSortKeys().components(row), id: Array(key),
            fingerprint: plan.order.fingerprint(table.name))
    }
}
