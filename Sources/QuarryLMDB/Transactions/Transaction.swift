internal import CLMDB

/// One LMDB transaction: what reads and writes have in common.
///
/// Used by one thread at a time; a write stays on the thread that began it. Bytes that it returns point into the map:
/// valid until it ends, and in a write until the next change.
package class Transaction {
    let environment: Environment
    final var handle: OpaquePointer?

    init(environment: Environment, handle: OpaquePointer?) {
        self.environment = environment
        self.handle = handle
    }

    @inline(__always)
    final func live() throws(LMDBError) -> OpaquePointer {
        guard let handle else {
            throw LMDBError(.finished, "the transaction has ended", operation: "use transaction")
        }
        return handle
    }

    /// The commit that it sees; in a write, the one it will be.
    package final var id: UInt64 { handle.map { UInt64(mdb_txn_id($0)) } ?? 0 }

    /// The value under a key; nil when there is none.
    @inline(__always)
    package final func get(
        _ database: Database, key: UnsafeRawBufferPointer
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        var mdbKey = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var value = MDB_val()
        let rc = mdb_get(try live(), database.handle, &mdbKey, &value)
        if rc == 0 { return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size) }
        if rc == MDB_NOTFOUND { return nil }
        // No table holds such a key.
        if rc == MDB_BAD_VALSIZE { return nil }
        throw LMDBError(code: rc, "get")
    }

    package final func statistics(_ database: Database) throws(LMDBError) -> DatabaseStatistics {
        var stat = MDB_stat()
        try check(mdb_stat(try live(), database.handle, &stat), "statistics")
        return DatabaseStatistics(
            entries: stat.ms_entries, depth: Int(stat.ms_depth), branchPages: stat.ms_branch_pages,
            leafPages: stat.ms_leaf_pages, overflowPages: stat.ms_overflow_pages, pageSize: Int(stat.ms_psize))
    }

    /// Entries of a table, duplicates counted each. O(1).
    package final func entryCount(_ database: Database) throws(LMDBError) -> Int {
        var stat = MDB_stat()
        try check(mdb_stat(try live(), database.handle, &stat), "statistics")
        return stat.ms_entries
    }

    /// A cursor over a table. Close it before the transaction ends.
    package func cursor(_ database: Database) throws(LMDBError) -> Cursor {
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(try live(), database.handle, &cursor), "open cursor")
        return Cursor(handle: cursor, transaction: self, database: database)
    }

    /// Opens a table; nil when it is not there and is not to be made.
    ///
    /// - Throws: `.incompatible` when it is there as another kind, which LMDB itself does not say.
    package final func open(
        named name: String, create: Bool, duplicates: Bool, fixedDuplicates: Bool = false
    ) throws(LMDBError) -> Database? {
        let live = try live()
        try environment.shared.lockHandles(for: self)
        defer { environment.shared.unlockHandles(after: self) }
        var flags: UInt32 = 0
        if create { flags |= UInt32(MDB_CREATE) }
        if duplicates { flags |= UInt32(MDB_DUPSORT) }
        if fixedDuplicates { flags |= UInt32(MDB_DUPFIXED) }
        var handle: MDB_dbi = 0
        let rc = mdb_dbi_open(live, name, flags, &handle)
        if rc == MDB_NOTFOUND { return nil }
        try check(rc, "open table \(name)")
        var found: UInt32 = 0
        try check(mdb_dbi_flags(live, handle, &found), "open table \(name)")
        let isDuplicates = found & UInt32(MDB_DUPSORT) != 0
        guard isDuplicates == duplicates else {
            throw LMDBError(.incompatible, "the table \(name) is there as another kind", operation: "open table")
        }
        return Database(handle: handle, isDuplicates: isDuplicates)
    }

    /// Ends a write without its changes; nothing for a read.
    package func abortWrite() {}
}

/// A snapshot. Kept by its environment after use, and renewed for the next reader.
package final class RawReadTransaction: Transaction {
    /// Whatever the layer above keeps with it between uses.
    package var attachment: AnyObject?
    var isActive = false
    private var cursors: [UInt32: [OpaquePointer]] = [:]

    /// Cursors cost an allocation each, so that they are kept and renewed with the transaction.
    package override func cursor(_ database: Database) throws(LMDBError) -> Cursor {
        if let known = cursors[database.handle]?.popLast() {
            let rc = mdb_cursor_renew(try live(), known)
            if rc == 0 { return Cursor(handle: known, transaction: self, database: database) }
            mdb_cursor_close(known)
        }
        return try super.cursor(database)
    }

    func keep(_ cursor: OpaquePointer, _ database: Database) {
        if cursors[database.handle, default: []].count < 4 {
            cursors[database.handle, default: []].append(cursor)
        } else {
            mdb_cursor_close(cursor)
        }
    }

    /// Really ends it. The environment calls this, and nobody uses it after.
    func destroy() {
        for kept in cursors.values { for cursor in kept { mdb_cursor_close(cursor) } }
        cursors = [:]
        if let handle { mdb_txn_abort(handle) }
        handle = nil
        attachment = nil
    }
}
