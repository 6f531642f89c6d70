import QuarryCoding
import QuarryPredicate

/// A query that is planned once and run many times, with `$name` variables that get their values at each run.
///
/// Any thread and any transaction may run it. It plans again by itself when the entity's indexes change, or when the
/// table has grown or shrunk so much that another way may be faster.
///
/// ```swift
/// let byName = try store.prepare(FetchDescriptor(filter: Filter<Student>("name = $name AND classid < $limit")))
/// let some = try byName.fetch(["name": "Ann", "limit": 9])
/// try store.read { tx in try byName.count(["name": "Bob", "limit": 9], in: tx) }
/// ```
public final class PreparedQuery<E: Entity>: Sendable {
    /// What the query asks for.
    public let descriptor: FetchDescriptor<E>
    private let store: Store
    private let plan: Locked<Plan?>

    init(_ descriptor: FetchDescriptor<E>, plan: Plan, store: Store) {
        self.descriptor = descriptor
        self.store = store
        self.plan = Locked(plan)
    }

    /// The names of the variables that each run must give a value.
    public var variables: Set<String> { plan.withLock { $0?.variables ?? [] } }

    // MARK: Running

    /// The objects the query finds, in a snapshot of its own.
    ///
    /// - Throws: `QuarryError.predicate` for a variable without a value or with one that does not fit.
    public func fetch(_ variables: [String: (any Sendable)?] = [:]) throws -> [E] {
        try store.withReader { try fetch(variables, $0.core) }
    }

    /// The objects the query finds, as the transaction sees them.
    public func fetch<T: Readable & ~Copyable>(
        _ variables: [String: (any Sendable)?] = [:], in transaction: borrowing T
    ) throws -> [E] {
        try transaction.withReader { try fetch(variables, $0.core) }
    }

    /// The first object the query finds, or nil. Stops there.
    public func first(_ variables: [String: (any Sendable)?] = [:]) throws -> E? {
        try store.withReader { try first(variables, $0.core) }
    }

    /// The first object the query finds, as the transaction sees it, or nil.
    public func first<T: Readable & ~Copyable>(
        _ variables: [String: (any Sendable)?] = [:], in transaction: borrowing T
    ) throws -> E? {
        try transaction.withReader { try first(variables, $0.core) }
    }

    /// Hands out what the query finds one by one.
    public func forEach(_ variables: [String: (any Sendable)?] = [:], _ body: (E) throws -> Void) throws {
        try store.withReader { try forEach(variables, $0.core, body) }
    }

    /// Hands out what the query finds one by one, as the transaction sees it.
    public func forEach<T: Readable & ~Copyable>(
        _ variables: [String: (any Sendable)?] = [:], in transaction: borrowing T, _ body: (E) throws -> Void
    ) throws {
        try transaction.withReader { try forEach(variables, $0.core, body) }
    }

    /// How many objects the query finds, its offset and limit applied. From an index alone where one can tell.
    public func count(_ variables: [String: (any Sendable)?] = [:]) throws -> Int {
        try store.withReader { reader in try running(variables, reader.core) { try $0.count() } }
    }

    /// How many objects the query finds, as the transaction sees them.
    public func count<T: Readable & ~Copyable>(
        _ variables: [String: (any Sendable)?] = [:], in transaction: borrowing T
    ) throws -> Int {
        try transaction.withReader { reader in try running(variables, reader.core) { try $0.count() } }
    }

    /// Whether the query finds anything. Stops at the first.
    public func exists(_ variables: [String: (any Sendable)?] = [:]) throws -> Bool {
        try store.withReader { reader in try running(variables, reader.core) { try $0.exists() } }
    }

    /// Whether the query finds anything, as the transaction sees it.
    public func exists<T: Readable & ~Copyable>(
        _ variables: [String: (any Sendable)?] = [:], in transaction: borrowing T
    ) throws -> Bool {
        try transaction.withReader { reader in try running(variables, reader.core) { try $0.exists() } }
    }

    // MARK: Inside

    private func fetch(_ variables: [String: (any Sendable)?], _ core: TransactionCore) throws -> [E] {
        var result: [E] = []
        try each(variables, core) {
            result.append($0)
            return true
        }
        return result
    }

    private func first(_ variables: [String: (any Sendable)?], _ core: TransactionCore) throws -> E? {
        var found: E?
        try each(variables, core) {
            found = $0
            return false
        }
        return found
    }

    private func forEach(
        _ variables: [String: (any Sendable)?], _ core: TransactionCore, _ body: (E) throws -> Void
    ) throws {
        try each(variables, core) {
            try body($0)
            return true
        }
    }

    private func each(
        _ variables: [String: (any Sendable)?], _ core: TransactionCore, _ body: (E) throws -> Bool
    ) throws {
        let execution = try running(variables, core) { $0 }
        try core.run(execution, E.self, undecodable: descriptor.undecodable, body)
    }

    private func running<R>(
        _ variables: [String: (any Sendable)?], _ core: TransactionCore, _ body: (Execution) throws -> R
    ) throws -> R {
        let state = try core.state(E.self)
        return try core.described(state.table) {
            let values = try variables.mapValues { value in
                guard let value else { return Value.null }
                return try QuarryPredicate.value(fromArgument: value)
            }
            return try body(try core.execution(try currentPlan(state, core), state, variables: values))
        }
    }

    private func currentPlan(_ state: TypeState<E>, _ core: TransactionCore) throws -> Plan {
        if let known = plan.withLock({ $0 }), known.table === state.table, try !known.isOutdated(core) { return known }
        let fresh = try Plan.makePlan(try core.specification(descriptor), table: state.table, core: core)
        plan.withLock { $0 = fresh }
        return fresh
    }
}

extension Store {
    /// Plans the query once, to be run many times; see ``PreparedQuery``.
    ///
    /// - Throws: what fetching with the descriptor would throw, but for values of variables.
    public func prepare<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> PreparedQuery<E> {
        try withReader { reader in
            let core = reader.core
            let state = try core.state(E.self)
            return try core.described(state.table) {
                let plan = try Plan.makePlan(try core.specification(descriptor), table: state.table, core: core)
                return PreparedQuery(descriptor, plan: plan, store: self)
            }
        }
    }
}
