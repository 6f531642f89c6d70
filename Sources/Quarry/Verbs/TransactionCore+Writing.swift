import QuarryCoding
import QuarryLMDB

// The typed verbs that change rows. Public transactions and stores call these.
extension TransactionCore {
    /// Runs a change. When LMDB fails in the middle of one, the transaction must not be committed any more.
    @inline(__always)
    private func change<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as LMDBError {
            let error = QuarryError(error, path: store.path, limit: store.options.maximumSize)
            changes?.failure = error.description
            throw error
        }
    }

    private func encoder() throws -> RowEncoder {
        guard let changes else { throw QuarryError.readOnly(path: store.path) }
        return changes.encoder
    }

    /// Runs what the type itself says about its values.
    @inline(__always)
    private func validate<E: Entity>(_ object: E) throws {
        do {
            try object.validate()
        } catch let failure as ValidationError {
            throw QuarryError.invalid(entity: E.entityName, failures: [failure])
        } catch let failures as ValidationErrors {
            throw QuarryError.invalid(entity: E.entityName, failures: failures.failures)
        }
    }

    /// The state to write an object with. The first row of a type that could not be probed teaches its fields.
    private func writeState<E: Entity>(for object: E) throws -> TypeState<E> {
        let known = try state(E.self)
        if known.isDeclared { return known }
        let row = try known.encode(object, try encoder())
        let record = try RowView(row, store.registry).record()
        known.binding.learn(from: .object(record))
        try change { try store.declare(known.binding, self, isFinal: true) }
        return try state(E.self)
    }

    // MARK: Generated ids

    /// Replaces an id of 0 by the next number, and remembers larger ones that the program chose itself.
    private func assignID<E: Entity>(_ object: inout E, _ state: TypeState<E>) throws {
        guard let generator = state.binding.generator, let changes else { return }
        let name = state.binding.name
        let last: UInt64
        if let known = changes.generated[name] {
            last = known
        } else {
            last = try store.catalogueTable()?.generated(name, transaction) ?? 0
        }
        guard let number = generator.number(of: object) else { return }
        if number != 0 {
            changes.generated[name] = max(last, number)
            return
        }
        guard last < generator.maximum, generator.assign(last + 1, to: &object) else {
            throw QuarryError.generatedIDsExhausted(entity: name)
        }
        changes.generated[name] = last + 1
    }

    // MARK: Verbs

    func insert<E: Entity>(_ object: E) throws -> E.ID {
        var object = object
        try validate(object)
        let state = try writeState(for: object)
        if state.binding.generator != nil { try assignID(&object, state) }
        let id = object[keyPath: state.binding.schema.id]
        let row = try state.encode(object, try encoder())
        let key = try state.keyBytes(of: id)
        let existed = try change { try writer(state.table).put(key, row: row, mode: .insert) }
        if existed { throw QuarryError.duplicateID(entity: state.binding.name, id: state.table.idDescription(key)) }
        return id
    }

    func insert<S: Sequence>(contentsOf objects: S) throws where S.Element: Entity {
        typealias E = S.Element
        var index = 0
        var loader: BulkLoader?
        var state: TypeState<E>?
        do {
            for var object in objects {
                try validate(object)
                let current = try state ?? writeState(for: object)
                state = current
                let loading = try loader ?? BulkLoader(writer: writer(current.table), limit: store.options.bufferSize)
                loader = loading
                if current.binding.generator != nil { try assignID(&object, current) }
                let row = try current.encode(object, try encoder())
                let key = try current.keyBytes(of: object[keyPath: current.binding.schema.id])
                try change { try loading.add(key: key, row: row) }
                index += 1
            }
            if let loader { try change { try loader.flush() } }
        } catch let error as QuarryError {
            if case .inBatch = error { throw error }
            throw QuarryError.inBatch(index: index, cause: error)
        }
    }

    func update<E: Entity>(_ object: E) throws {
        try validate(object)
        let state = try writeState(for: object)
        let row = try state.encode(object, try encoder())
        let key = try state.keyBytes(of: object[keyPath: state.binding.schema.id])
        guard try change({ try writer(state.table).put(key, row: row, mode: .update) }) else {
            throw QuarryError.notFound(entity: state.binding.name, id: state.table.idDescription(key))
        }
    }

    func upsert<E: Entity>(_ object: E) throws -> E? {
        var object = object
        try validate(object)
        let state = try writeState(for: object)
        if state.binding.generator != nil { try assignID(&object, state) }
        let row = try state.encode(object, try encoder())
        let key = try state.keyBytes(of: object[keyPath: state.binding.schema.id])
        var old: E?
        _ = try change {
            try writer(state.table).put(key, row: row, mode: .upsert) { old = try state.decode($0, key: key) }
        }
        return old
    }

    @discardableResult
    func modify<E: Entity>(_ type: E.Type, id: E.ID, _ body: (inout E) throws -> Void) throws -> E {
        let state = try state(type)
        guard try modify(state, key: Array(try state.keyBytes(of: id)), body), let modified = try get(type, id: id)
        else {
            throw QuarryError.notFound(
                entity: state.binding.name, id: state.table.idDescription(try state.keyBytes(of: id)))
        }
        return modified
    }

    /// Changes the row under a key; false if there is none.
    private func modify<E: Entity>(
        _ state: TypeState<E>, key: [UInt8], _ body: (inout E) throws -> Void
    ) throws -> Bool {
        try key.withUnsafeBytes { key in
            guard let before = try transaction.get(state.table.database, key: key) else { return false }
            var object = try state.decode(before, key: key)
            try body(&object)
            guard try equalBytes(state.keyBytes(of: object[keyPath: state.binding.schema.id]), key) else {
                throw QuarryError.idChanged(entity: state.binding.name, id: state.table.idDescription(key))
            }
            try validate(object)
            // The closure may have written through this transaction, so the row is looked up again by the writer.
            let row = try state.encode(object, try encoder())
            return try change { try writer(state.table).put(key, row: row, mode: .update) }
        }
    }

    func delete<E: Entity>(_ type: E.Type, id: E.ID) throws -> Bool {
        let state = try state(type)
        let key = try state.keyBytes(of: id)
        return try change { try writer(state.table).delete(key) }
    }

    func updateAll<E: Entity>(_ type: E.Type, where filter: Filter<E>?, _ body: (inout E) throws -> Void) throws -> Int
    {
        let state = try state(type)
        // Collected first: changing what a cursor walks may visit rows twice.
        let keys = try matchingKeys(type, where: filter)
        let writer = try self.writer(state.table)
        // Unique values may move between the rows of one call.
        let deferred = writer.defersUnique
        writer.defersUnique = true
        defer { writer.defersUnique = deferred }
        var count = 0
        for (index, key) in keys.enumerated() {
            do {
                if try modify(state, key: key, body) { count += 1 }
            } catch let error as QuarryError {
                throw QuarryError.inBatch(index: index, cause: error)
            }
        }
        try change { try writer.flush(uniqueOnly: true) }
        return count
    }

    func deleteAll<E: Entity>(_ type: E.Type, where filter: Filter<E>?) throws -> Int {
        let state = try state(type)
        guard let filter else { return try change { try self.writer(state.table).deleteAll() } }
        let keys = try matchingKeys(type, where: filter)
        let writer = try self.writer(state.table)
        return try change {
            var count = 0
            for key in keys where try key.withUnsafeBytes({ try writer.delete($0) }) { count += 1 }
            return count
        }
    }

    /// Runs a change of many rows all-or-nothing inside a transaction that may go on after its failure.
    func batch<R>(isWhole: Bool, _ body: () throws -> R) throws -> R {
        isWhole ? try body() : try savepoint(body)
    }
}
