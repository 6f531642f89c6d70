import QuarryLMDB

extension StoreCore {
    /// Runs `body` in a read transaction, with the core that belongs to the pooled LMDB transaction.
    @inline(__always)
    func read<R>(_ body: (TransactionCore) throws -> R) throws -> R {
        let core = try beginRead()
        defer { endRead(core) }
        return try body(core)
    }

    func beginRead() throws -> TransactionCore {
        let transaction: ReadTransaction
        do {
            transaction = try environment.beginRead()
        } catch {
            throw QuarryError(error, path: path)
        }
        let core: TransactionCore
        if let known = transaction.attachment as? TransactionCore, known.store === self {
            core = known
        } else {
            core = TransactionCore(store: self, transaction: transaction, catalog: catalog)
            transaction.attachment = core
        }
        do {
            try core.refresh()
        } catch {
            environment.endRead(transaction)
            throw QuarryError.any(error, path: path)
        }
        return core
    }

    func endRead(_ core: TransactionCore) {
        if let transaction = core.transaction as? ReadTransaction { environment.endRead(transaction) }
    }

    /// Runs `body` in a write transaction on this thread and commits; any error rolls everything back.
    func write<R>(_ body: (TransactionCore) throws -> R) throws -> R {
        if options.access != .readWrite { throw QuarryError.readOnly(path: path) }
        if ReadDepth.current > 0 { throw QuarryError.writeInsideRead }
        let transaction: WriteTransaction
        do {
            transaction = try environment.beginWrite(timeout: options.writeTimeout)
        } catch {
            throw QuarryError(error, path: path)
        }
        let core = TransactionCore(store: self, transaction: transaction, catalog: catalog)
        do {
            try core.refresh()
            core.changes = ChangeSet(registry: registry, encoder: takeEncoder())
            let result = try body(core)
            try core.commit()
            return result
        } catch {
            core.abort()
            throw QuarryError.any(error, path: path)
        }
    }
}
