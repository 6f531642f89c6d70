extension Writable where Self: ~Copyable {
    /// Adds an object. The id is returned, which matters where it is generated.
    ///
    /// - Throws: `QuarryError.duplicateID` or `.duplicateValue` when it is there already, `.invalid` when `validate()`
    ///   refuses it, `.idTooLong` or `.unencodable` when it cannot be stored. O(log n) a table.
    @discardableResult
    public func insert<E: Entity>(_ object: E) throws -> E.ID {
        try withWriter { try $0.core.insert(object) }
    }

    /// Adds many objects, all or nothing. Several times as fast as one by one, in whatever order they come.
    ///
    /// - Throws: `QuarryError.inBatch`, which names the offending element and its cause.
    public func insert<S: Sequence>(contentsOf objects: S) throws where S.Element: Entity {
        try withWriter { writer in
            try writer.core.batch(isWhole: writer.isWhole) { try writer.core.insert(contentsOf: objects) }
        }
    }

    /// Replaces the object with the same id.
    ///
    /// - Throws: `QuarryError.notFound` if there is none, and what `insert` throws.
    public func update<E: Entity>(_ object: E) throws {
        try withWriter { try $0.core.update(object) }
    }

    /// Adds the object, or replaces the one with the same id, which is returned.
    @discardableResult
    public func upsert<E: Entity>(_ object: E) throws -> E? {
        try withWriter { try $0.core.upsert(object) }
    }

    /// Adds or replaces many objects, all or nothing.
    public func upsert<S: Sequence>(contentsOf objects: S) throws where S.Element: Entity {
        try withWriter { writer in
            try writer.core.batch(isWhole: writer.isWhole) {
                var index = 0
                for object in objects {
                    do {
                        _ = try writer.core.upsert(object)
                    } catch let error as QuarryError {
                        throw QuarryError.inBatch(index: index, cause: error)
                    }
                    index += 1
                }
            }
        }
    }

    /// The object with this id as it is, or `object` after it has been added.
    public func fetchOrInsert<E: Entity>(_ object: E) throws -> E {
        try withWriter { writer in
            let id = object[keyPath: E.schema.id]
            if let found = try writer.core.get(E.self, id: id) { return found }
            let inserted = try writer.core.insert(object)
            return try writer.core.get(E.self, id: inserted) ?? object
        }
    }

    /// Changes the object with this id in place, and returns it changed.
    ///
    /// - Throws: `QuarryError.notFound`, `.idChanged` if `body` changes the id, what `body` throws, and what `update`
    ///   throws.
    @discardableResult
    public func modify<E: Entity>(_ type: E.Type, id: E.ID, _ body: (inout E) throws -> Void) throws -> E {
        try withWriter { try $0.core.modify(type, id: id, body) }
    }

    /// Removes the object with this id; false if there is none.
    @discardableResult
    public func delete<E: Entity>(_ type: E.Type, id: E.ID) throws -> Bool {
        try withWriter { try $0.core.delete(type, id: id) }
    }

    /// Removes the object with the same id as this one; false if there is none.
    @discardableResult
    public func delete<E: Entity>(_ object: E) throws -> Bool {
        try withWriter { try $0.core.delete(E.self, id: object[keyPath: E.schema.id]) }
    }

    /// Changes every object that passes the filter (all without one), all or nothing, and tells how many.
    ///
    /// Unique values may move between the objects of one call.
    @discardableResult
    public func updateAll<E: Entity>(
        _ type: E.Type, where filter: Filter<E>? = nil, _ body: (inout E) throws -> Void
    ) throws -> Int {
        try withWriter { writer in
            try writer.core.batch(isWhole: writer.isWhole) { try writer.core.updateAll(type, where: filter, body) }
        }
    }

    /// Removes every object that passes the filter (all without one), all or nothing, and tells how many.
    @discardableResult
    public func deleteAll<E: Entity>(_ type: E.Type, where filter: Filter<E>? = nil) throws -> Int {
        try withWriter { writer in
            try writer.core.batch(isWhole: writer.isWhole) { try writer.core.deleteAll(type, where: filter) }
        }
    }
}
