import QuarryLMDB

extension StoreCore {
    /// How often a transaction is begun again because the catalogue changed in between.
    private static let attempts = 16

    /// Runs `body` in a read transaction, with the core that belongs to the pooled LMDB transaction.
    @inline(__always)
    func read<R>(_ body: (TransactionCore) throws -> R) throws -> R {
        let core = try beginRead()
        defer { endRead(core) }
        return try body(core)
    }

    func beginRead() throws -> TransactionCore {
        for _ in 0..<Self.attempts {
            let transaction: RawReadTransaction
            do {
                transaction = try environment.beginRead()
            } catch {
                throw QuarryError.any(error, path: path)
            }
            let core: TransactionCore
            if let known = transaction.attachment as? TransactionCore, known.store === self {
                core = known
            } else {
                core = TransactionCore(store: self, transaction: transaction, catalog: catalog)
                transaction.attachment = core
            }
            do {
                if try core.refresh() { return core }
            } catch {
                environment.endRead(transaction)
                throw QuarryError.any(error, path: path)
            }
            environment.endRead(transaction)
            try reloadCatalog()
        }
        throw QuarryError.cannotOpen(path: path, reason: "its schema is being changed all the time")
    }

    func endRead(_ core: TransactionCore) {
        if let transaction = core.transaction as? RawReadTransaction { environment.endRead(transaction) }
    }

    /// Runs `body` in a write transaction on this thread and commits; any error rolls everything back.
    func write<R>(_ body: (TransactionCore) throws -> R) throws -> R {
        if options.access != .readWrite { throw QuarryError.readOnly(path: path) }
        if ReadDepth.current > 0 { throw QuarryError.writeInsideRead }
        let core = try beginWrite()
        do {
            core.changes = ChangeSet(registry: registry, encoder: takeEncoder())
            let result = try body(core)
            try core.commit()
            return result
        } catch {
            core.abort()
            throw QuarryError.any(error, path: path, limit: options.maximumSize)
        }
    }

    private func beginWrite() throws -> TransactionCore {
        for _ in 0..<Self.attempts {
            do {
                let transaction = try environment.beginWrite(timeout: options.writeTimeout)
                let core = TransactionCore(store: self, transaction: transaction, catalog: catalog)
                do {
                    if try core.refresh() { return core }
                } catch {
                    transaction.abortWrite()
                    throw error
                }
                transaction.abortWrite()
            } catch let error as LMDBError where error.code == .busy {
                throw QuarryError.busy(path: path, seconds: options.writeTimeout ?? 0)
            } catch {
                throw QuarryError.any(error, path: path, limit: options.maximumSize)
            }
            try reloadCatalog()
        }
        throw QuarryError.cannotOpen(path: path, reason: "its schema is being changed all the time")
    }
}
