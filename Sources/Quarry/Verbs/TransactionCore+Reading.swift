import Foundation
import QuarryCoding
import QuarryLMDB
import QuarryPredicate

// The typed verbs that read rows. Public transactions and stores call these.
extension TransactionCore {
    @inline(__always)
    func get<E: Entity>(_ type: E.Type, id: E.ID) throws -> E? {
        let state = try state(type)
        let key = try state.keyBytes(of: id)
        guard let row = try transaction.get(state.table.database, key: key) else { return nil }
        return try state.decode(row, key: key)
    }

    func exists<E: Entity>(_ type: E.Type, id: E.ID) throws -> Bool {
        let state = try state(type)
        return try transaction.get(state.table.database, key: try state.keyBytes(of: id)) != nil
    }

    // MARK: Planning

    /// The query a descriptor asks for, with its filter bound to the stored fields.
    func specification<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> QuerySpecification {
        let table = try state(E.self).table
        if let reason = descriptor.unsupportedSort { throw QuarryError.invalidArgument("cannot sort by \(reason)") }
        return try specification(
            filter: descriptor.filter, sortBy: descriptor.sortBy, offset: descriptor.fetchOffset,
            limit: descriptor.fetchLimit, after: descriptor.continuation, table: table)
    }

    func specification<Root: Sendable>(
        filter: Filter<Root>?, sortBy: [SortKey<Root>], offset: Int, limit: Int?, after: PageToken?, table: EntityTable
    ) throws -> QuerySpecification {
        var condition = Condition.constant(true)
        if let filter {
            do {
                condition = try bind(filter.condition(resolve: tracedPath), to: table.fields, text: filter.text)
            } catch {
                throw QuarryError(error, entity: table.name)
            }
        }
        return QuerySpecification(
            condition: condition, sort: try sortBy.map { try sortTerm($0, table) }, offset: offset, limit: limit,
            after: after)
    }

    private func sortTerm<Root>(_ key: SortKey<Root>, _ table: EntityTable) throws -> SortTerm {
        let path: [String]
        switch key.target {
        case .field(let name):
            path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            if !table.fields.isOpen && table.fields.info(path) == nil {
                throw QuarryError.unknownField(
                    entity: table.name, field: name, suggestion: nil, known: table.fields.fields.map(\.name))
            }
        case .keyPath(let keyPath):
            if let traced = tracedPath(of: keyPath.path) {
                path = traced
            } else if table.fields.isOpen {
                // Nothing is known of the type before its first row, and then nothing is there to sort.
                path = []
            } else {
                throw QuarryError.unmappedKeyPath(
                    entity: table.name, keyPath: "\(keyPath.path)", reason: "only stored fields can be sorted by")
            }
        }
        return SortTerm(
            path: path, options: key.options, descending: key.direction == .descending, nilsLast: key.nils == .last)
    }

    // MARK: Running

    func execution<E: Entity>(
        _ plan: Plan, _ state: TypeState<E>, variables: [String: Value] = [:]
    ) throws -> Execution {
        try flush(plan.table)
        return try Execution(plan, core: self, variables: variables, decode: { try state.decode($0) })
    }

    private func execution<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> Execution {
        let state = try state(E.self)
        let plan = try Plan.makePlan(try specification(descriptor), table: state.table, core: self)
        return try execution(plan, state)
    }

    /// Runs a plan and hands out objects until `body` says false.
    func run<E: Entity>(
        _ execution: Execution, _ type: E.Type, undecodable: UndecodablePolicy = .fail, _ body: (E) throws -> Bool
    ) throws {
        let state = try state(type)
        try described(state.table) { () throws in
            try execution.forEachRow { key, row in
                let object: E
                do {
                    object = try state.decode(row, key: key)
                } catch let error as QuarryError {
                    guard case .skip(let report) = undecodable else { throw error }
                    report(error)
                    return true
                }
                return try body(object)
            }
        }
    }

    /// Names the entity in what a predicate throws while it runs.
    func described<R>(_ table: EntityTable, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let failure as PredicateFailure {
            if case .arithmetic = failure.kind { throw QuarryError.arithmetic(failure.message) }
            throw QuarryError(failure, entity: table.name)
        } catch {
            throw QuarryError.any(error, path: store.path)
        }
    }

    func forEach<E: Entity>(_ descriptor: FetchDescriptor<E>, _ body: (E) throws -> Bool) throws {
        let execution = try described(try state(E.self).table) { try self.execution(descriptor) }
        try run(execution, E.self, undecodable: descriptor.undecodable, body)
    }

    func fetch<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> [E] {
        var result: [E] = []
        try forEach(descriptor) {
            result.append($0)
            return true
        }
        return result
    }

    func count<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> Int {
        try described(try state(E.self).table) { try execution(descriptor).count() }
    }

    func exists<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> Bool {
        try described(try state(E.self).table) { try execution(descriptor).exists() }
    }

    func matchingKeys<E: Entity>(_ type: E.Type, where filter: Filter<E>?) throws -> [[UInt8]] {
        var descriptor = FetchDescriptor<E>()
        descriptor.filter = filter
        return try described(try state(type).table) { try execution(descriptor).keys() }
    }

    /// A page and the token of the next. One more row is looked at to know whether another page follows.
    func page<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> Page<E> {
        let state = try state(E.self)
        guard let limit = descriptor.fetchLimit, limit < Int.max else {
            return Page(items: try fetch(descriptor), next: nil)
        }
        var wider = descriptor
        if limit > 0 { wider.fetchLimit = limit + 1 }
        var items: [E] = []
        var token: PageToken?
        var hasMore = false
        try described(state.table) {
            let execution = try self.execution(wider)
            try execution.forEachRow { key, row in
                if items.count == limit {
                    hasMore = true
                    return false
                }
                items.append(try state.decode(row, key: key))
                if items.count == limit { token = try execution.token(after: key, row: row) }
                return true
            }
        }
        return Page(items: items, next: hasMore ? token : nil)
    }

    func explain<E: Entity>(_ descriptor: FetchDescriptor<E>, analyze: Bool) throws -> QueryPlan {
        let state = try state(E.self)
        return try described(state.table) {
            try flush(state.table)
            let plan = try Plan.makePlan(try specification(descriptor), table: state.table, core: self)
            return analyze
                ? try plan.analyze(core: self, decode: { try state.decode($0) }) : try plan.explain(core: self)
        }
    }
}
