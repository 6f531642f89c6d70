import QuarryCoding
import QuarryLMDB

/// Writes rows of one entity and keeps its indexes: the one place where a transaction knows the old and the new row.
final class TableWriter {
    let table: EntityTable
    unowned let core: TransactionCore
    private let makers: [IndexEntryMaker]
    let buffers: [IndexBuffer]
    private var old: [IndexEntries]
    private var new: [IndexEntries]
    /// While a batch runs, unique indexes are checked when it ends, so that values may move between its rows.
    var defersUnique = false

    init(table: EntityTable, core: TransactionCore) {
        self.table = table
        self.core = core
        makers = table.indexes.map { IndexEntryMaker(index: $0, registry: core.store.registry) }
        buffers = table.indexes.map { IndexBuffer(index: $0) }
        old = table.indexes.map { _ in IndexEntries() }
        new = table.indexes.map { _ in IndexEntries() }
    }

    enum Mode { case insert, update, upsert }

    /// Puts a row under its key.
    ///
    /// - Returns: whether a row was there before. With `.insert` a row that is there stays and true is returned; with
    ///   `.update` a missing row stays missing and false is returned.
    ///   `onOld` sees the stored row before it is replaced.
    @discardableResult
    func put(
        _ key: UnsafeRawBufferPointer, row: UnsafeRawBufferPointer, mode: Mode,
        onOld: ((UnsafeRawBufferPointer) throws -> Void)? = nil
    ) throws -> Bool {
        let transaction = try core.writeTransaction()
        try makeEntries(row, &new)
        if mode == .insert {
            for i in old.indices { old[i].reset() }
            if !table.indexes.isEmpty {
                // Looked up first, so that a refused insert leaves no entry behind.
                for i in buffers.indices where table.indexes[i].definition.isUnique && !defersUnique {
                    if try transaction.get(table.database, key: key) != nil { return true }
                    try checkUnique(i, key: key, transaction)
                }
            }
            if try !transaction.put(table.database, key: key, value: row, flags: .noOverwrite) { return true }
            for i in buffers.indices { try addEntries(i, key: key, transaction) }
            return false
        }
        let before = try transaction.get(table.database, key: key)
        if before == nil && mode == .update { return false }
        if let before {
            try onOld?(before)
            try makeEntries(before, &old)
        } else {
            for i in old.indices { old[i].reset() }
        }
        for i in buffers.indices where table.indexes[i].definition.isUnique && !defersUnique {
            try checkUnique(i, key: key, transaction)
        }
        _ = try transaction.put(table.database, key: key, value: row, flags: [])
        for i in buffers.indices {
            try removeEntries(i, key: key, transaction)
            try addEntries(i, key: key, transaction)
        }
        return before != nil
    }

    /// Removes the row and its entries; false if there is none.
    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        let transaction = try core.writeTransaction()
        if !table.indexes.isEmpty {
            guard let before = try transaction.get(table.database, key: key) else { return false }
            try makeEntries(before, &old)
            for i in new.indices { new[i].reset() }
        }
        guard try transaction.delete(table.database, key: key) else { return false }
        for i in buffers.indices { try removeEntries(i, key: key, transaction) }
        return true
    }

    /// Removes every row at once.
    func deleteAll() throws -> Int {
        let transaction = try core.writeTransaction()
        let count = try transaction.entryCount(table.database)
        forget()
        try transaction.empty(table.database)
        for index in table.indexes { try transaction.empty(index.database) }
        return count
    }

    /// Adds the entries of a row that a bulk load has put already.
    func addEntries(of row: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
        let transaction = try core.writeTransaction()
        try makeEntries(row, &new)
        for i in old.indices { old[i].reset() }
        for i in buffers.indices { try addEntries(i, key: key, transaction) }
    }

    // MARK: Entries

    private func makeEntries(_ row: UnsafeRawBufferPointer, _ entries: inout [IndexEntries]) throws {
        for i in makers.indices {
            entries[i].reset()
            do {
                try makers[i].make(row, into: &entries[i])
            } catch {
                throw QuarryError.decoding(error, entity: table.name, id: "")
            }
        }
    }

    private func removeEntries(_ i: Int, key: UnsafeRawBufferPointer, _ transaction: RawWriteTransaction) throws {
        for j in 0..<old[i].count where !new[i].contains(old[i][j]) {
            if table.indexes[i].definition.isUnique && !defersUnique {
                _ = try transaction.delete(table.indexes[i].database, key: old[i][j], value: key)
            } else {
                buffers[i].add(.delete, key: old[i][j], id: key)
            }
        }
    }

    private func addEntries(_ i: Int, key: UnsafeRawBufferPointer, _ transaction: RawWriteTransaction) throws {
        let isUnique = table.indexes[i].definition.isUnique
        for j in 0..<new[i].count where !old[i].contains(new[i][j]) {
            if isUnique && !defersUnique {
                _ = try transaction.put(
                    table.indexes[i].database, key: new[i][j], value: key, flags: .noDuplicate)
            } else {
                buffers[i].add(isUnique && !new[i].hasNil[j] ? .insertUnique : .insert, key: new[i][j], id: key)
            }
        }
        if buffers[i].byteCount > core.store.options.bufferSize { try flush(i) }
    }

    // MARK: Uniqueness

    private func checkUnique(_ i: Int, key: UnsafeRawBufferPointer, _ transaction: RawWriteTransaction) throws {
        for j in 0..<new[i].count where !new[i].hasNil[j] && !old[i].contains(new[i][j]) {
            guard let holder = try transaction.get(table.indexes[i].database, key: new[i][j]) else { continue }
            if equalBytes(holder, key) { continue }
            if let error = try conflict(i, new[i][j], key, holder, transaction) { throw error }
        }
    }

    /// The error for a unique key that `holder` has; nil when the keys are cut and the whole values differ.
    private func conflict(
        _ i: Int, _ entry: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer, _ holder: UnsafeRawBufferPointer,
        _ transaction: RawWriteTransaction
    ) throws -> QuarryError? {
        let index = table.indexes[i]
        let components = KeyCoder.components(entry)
        if components.contains(where: \.isCut), try !holdersMatch(index, key, holder, transaction) { return nil }
        return .duplicateValue(
            entity: table.name, index: index.definition.name,
            value: components.map(\.description).joined(separator: ", "),
            id: table.idDescription(key), existing: table.idDescription(holder))
    }

    /// Compares the whole values of two rows whose cut keys are the same.
    private func holdersMatch(
        _ index: IndexTable, _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer,
        _ transaction: RawWriteTransaction
    ) throws -> Bool {
        func values(_ key: UnsafeRawBufferPointer) throws -> [Value]? {
            guard let row = try transaction.get(table.database, key: key) else { return nil }
            let view = try RowView(row, core.store.registry)
            return try index.definition.components.map { try view.value(of: $0.path) }
        }
        guard let x = try values(a), let y = try values(b) else { return true }
        return zip(x, y).allSatisfy { $0 == $1 }
    }

    // MARK: Flushing

    /// Drops what is buffered, after a rollback.
    func forget() {
        for buffer in buffers { buffer.clear() }
    }

    /// Puts the buffered entries of every index, or of the unique ones only.
    ///
    /// `position` finds a row's place in its batch, for the error about a unique value that is taken.
    func flush(uniqueOnly: Bool = false, position: ((UnsafeRawBufferPointer) -> Int?)? = nil) throws {
        for i in buffers.indices where !uniqueOnly || table.indexes[i].definition.isUnique { try flush(i, position) }
    }

    private func flush(_ i: Int, _ position: ((UnsafeRawBufferPointer) -> Int?)? = nil) throws {
        let transaction = try core.writeTransaction()
        try buffers[i].flush(transaction) { key, id, holder in
            guard let error = try self.conflict(i, key, id, holder, transaction) else { return nil }
            if let index = position?(id) { return QuarryError.inBatch(index: index, cause: error) }
            return error
        }
    }
}
