import QuarryCoding
import QuarryLMDB

/// What a write transaction keeps besides its LMDB transaction.
final class ChangeSet {
    /// By entity name.
    var writers: [String: TableWriter] = [:]
    /// Shapes added since are written with the commit, and forgotten with an abort.
    let registryMark: ShapeRegistry.Mark
    /// Shapes written to the catalogue so far.
    var savedShapes: Int
    /// The last generated id given out, by entity.
    var generated: [String: UInt64] = [:]
    /// The catalogue's records changed, beyond new shapes.
    var hasCatalogueChanges = false
    /// Why nothing more can be written; set when LMDB has failed in the middle of a change.
    var failure: String?
    var depth = 0
    let encoder: RowEncoder

    init(registry: ShapeRegistry, encoder: RowEncoder) {
        registryMark = registry.mark()
        savedShapes = registry.count
        self.encoder = encoder
    }
}

extension TransactionCore {
    /// The running LMDB write transaction.
    @inline(__always)
    func writeTransaction() throws -> RawWriteTransaction {
        guard let changes else { throw QuarryError.readOnly(path: store.path) }
        if let failure = changes.failure { throw QuarryError.rolledBack(reason: failure) }
        return unsafeDowncast(transaction, to: RawWriteTransaction.self)
    }

    func writer(_ table: EntityTable) throws -> TableWriter {
        guard let changes else { throw QuarryError.readOnly(path: store.path) }
        if let known = changes.writers[table.name], known.table === table { return known }
        if let stale = changes.writers[table.name] { try stale.flush() }
        let writer = TableWriter(table: table, core: self)
        writer.defersUnique = changes.depth > 0
        changes.writers[table.name] = writer
        return writer
    }

    /// Brings the index tables up to date before a query of this transaction reads them.
    func flush(_ table: EntityTable) throws {
        try changes?.writers[table.name]?.flush()
    }

    /// Runs `body` all-or-nothing: an error it throws undoes what it wrote, and the transaction goes on.
    ///
    /// Unique values are checked at its end, so that they may move between rows within it.
    func savepoint<R>(_ body: () throws -> R) throws -> R {
        guard let changes else { throw QuarryError.readOnly(path: store.path) }
        let parent = try writeTransaction()
        // What is buffered so far belongs to the parent, whatever becomes of the savepoint.
        for writer in changes.writers.values { try writer.flush() }
        let catalog = catalog
        let generated = changes.generated
        do {
            transaction = try parent.beginChild()
        } catch {
            throw QuarryError.any(error, path: store.path)
        }
        changes.depth += 1
        for writer in changes.writers.values { writer.defersUnique = true }
        defer {
            changes.depth -= 1
            if changes.depth == 0 { for writer in changes.writers.values { writer.defersUnique = false } }
        }
        do {
            let result = try body()
            for writer in changes.writers.values { try writer.flush(uniqueOnly: true) }
            try unsafeDowncast(transaction, to: RawWriteTransaction.self).commit()
            transaction = parent
            return result
        } catch {
            unsafeDowncast(transaction, to: RawWriteTransaction.self).abort()
            transaction = parent
            for writer in changes.writers.values { writer.forget() }
            if catalog !== self.catalog { replaceCatalog(catalog) }
            changes.generated.merge(generated) { now, before in max(now, before) }
            throw QuarryError.any(error, path: store.path)
        }
    }

    func commit() throws {
        guard let changes else { return }
        let transaction = try writeTransaction()
        for writer in changes.writers.values { try writer.flush() }
        guard let table = try store.catalogueTable() else { return try transaction.commit() }
        for (name, number) in changes.generated {
            try table.write(number: number, CatalogueKey.generated(name), transaction)
        }
        let added = store.registry.shapes(since: changes.registryMark)
        var committed = catalog
        if !added.isEmpty || changes.hasCatalogueChanges {
            for shape in added { try table.write(shape, transaction) }
            let stamp = catalog.stamp + 1
            try table.write(number: stamp, CatalogueKey.stamp, transaction)
            committed = Catalog(stamp: stamp, storeID: catalog.storeID, entities: catalog.entities)
        }
        try transaction.commit()
        if committed !== catalog { store.install(committed) }
        store.give(changes.encoder)
    }

    func abort() {
        guard let changes else { return }
        transaction.abortWrite()
        store.registry.rollback(to: changes.registryMark)
        for writer in changes.writers.values { writer.forget() }
    }
}
