extension Readable where Self: ~Copyable {
    /// The object with this id, or nil.
    ///
    /// - Throws: `QuarryError.undecodable` if the row cannot be read as the type. O(log n).
    public func get<E: Entity>(_ type: E.Type, id: E.ID) throws -> E? {
        try withReader { try $0.core.get(type, id: id) }
    }

    /// The objects with these ids, in their order, leaving out those that are not there.
    public func get<E: Entity>(_ type: E.Type, ids: some Sequence<E.ID>) throws -> [E] {
        try withReader { reader in try ids.compactMap { try reader.core.get(type, id: $0) } }
    }

    /// Whether there is an object with this id.
    public func exists<E: Entity>(_ type: E.Type, id: E.ID) throws -> Bool {
        try withReader { try $0.core.exists(type, id: id) }
    }

    /// Whether any object passes the filter. Stops at the first.
    public func exists<E: Entity>(_ type: E.Type, where filter: Filter<E>) throws -> Bool {
        try withReader { try $0.core.exists(FetchDescriptor<E>(filter: filter)) }
    }

    /// How many objects pass the filter; all of them without one, which costs no scan.
    public func count<E: Entity>(_ type: E.Type, where filter: Filter<E>? = nil) throws -> Int {
        try withReader { reader in
            var descriptor = FetchDescriptor<E>()
            descriptor.filter = filter
            return try reader.core.count(descriptor)
        }
    }

    /// How many objects the descriptor would fetch, its offset and limit applied.
    public func count<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> Int {
        try withReader { try $0.core.count(descriptor) }
    }

    /// The objects the descriptor asks for, in order.
    ///
    /// - Throws: `QuarryError.predicate` for a filter that does not fit the entity, `.unmappedKeyPath` for a sort key that
    ///   is no stored field, `.invalidArgument` for a negative offset or limit.
    public func fetch<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> [E] {
        try withReader { try $0.core.fetch(descriptor) }
    }

    /// The objects that pass the filter; all without one, in the order of their ids.
    public func fetch<E: Entity>(
        _ type: E.Type, where filter: Filter<E>? = nil, sortBy: [SortKey<E>] = [], limit: Int? = nil, offset: Int = 0
    ) throws -> [E] {
        var descriptor = FetchDescriptor<E>(sortBy: sortBy, fetchLimit: limit, fetchOffset: offset)
        descriptor.filter = filter
        return try fetch(descriptor)
    }

    /// The first object the descriptor asks for, or nil.
    public func first<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> E? {
        var descriptor = descriptor
        descriptor.fetchLimit = min(descriptor.fetchLimit ?? 1, 1)
        return try fetch(descriptor).first
    }

    /// Hands out the objects the descriptor asks for one by one. Memory does not grow with their number when an index or
    /// the id delivers the order.
    public func forEach<E: Entity>(_ descriptor: FetchDescriptor<E>, _ body: (E) throws -> Void) throws {
        try withReader { reader in
            try reader.core.forEach(descriptor) {
                try body($0)
                return true
            }
        }
    }

    /// A page of `fetchLimit` objects and the token of the next one; see ``FetchDescriptor/after(_:)``.
    public func page<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> Page<E> {
        try withReader { try $0.core.page(descriptor) }
    }

    /// How the query would run: what it reads, in what order, and why. Nothing is fetched.
    public func explain<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> QueryPlan {
        try withReader { try $0.core.explain(descriptor, analyze: false) }
    }

    /// Runs the query and tells how it ran, with real row counts beside the estimates.
    public func analyze<E: Entity>(_ descriptor: FetchDescriptor<E>) throws -> QueryPlan {
        try withReader { try $0.core.explain(descriptor, analyze: true) }
    }
}
