internal import CLMDB

/// A write: all of it happens with `commit`, or none. It stays on the thread that began it.
package final class RawWriteTransaction: Transaction {
    private let parent: RawWriteTransaction?
    /// Whether it holds the lock on table handles, which it keeps until it ends once it has opened a table.
    var holdsHandles = false
    private let openCursors = OpenCursors()

    /// LMDB frees the cursors of a write with it, so that those still open must not be closed again.
    final class OpenCursors {
        var hasEnded = false
    }

    init(environment: Environment, handle: OpaquePointer?, parent: RawWriteTransaction?) {
        self.parent = parent
        super.init(environment: environment, handle: handle)
    }

    /// Puts a pair.
    ///
    /// - Returns: false when `flags` forbid it because the key or pair is there already.
    @inline(__always)
    package func put(
        _ database: Database, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, flags: PutFlags
    ) throws(LMDBError) -> Bool {
        var mdbKey = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var mdbValue = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        let rc = mdb_put(try live(), database.handle, &mdbKey, &mdbValue, flags.rawValue)
        if rc == 0 { return true }
        if rc == MDB_KEYEXIST { return false }
        throw LMDBError(code: rc, "put")
    }

    /// Removes a key with all its values; false when it is not there.
    package func delete(_ database: Database, key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        var mdbKey = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        let rc = mdb_del(try live(), database.handle, &mdbKey, nil)
        if rc == 0 { return true }
        if rc == MDB_NOTFOUND { return false }
        throw LMDBError(code: rc, "delete")
    }

    /// Removes one pair of a table with duplicates; false when it is not there.
    package func delete(
        _ database: Database, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) throws(LMDBError) -> Bool {
        var mdbKey = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var mdbValue = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        let rc = mdb_del(try live(), database.handle, &mdbKey, &mdbValue)
        if rc == 0 { return true }
        if rc == MDB_NOTFOUND { return false }
        throw LMDBError(code: rc, "delete")
    }

    /// Removes everything from a table.
    package func empty(_ database: Database) throws(LMDBError) {
        try check(mdb_drop(try live(), database.handle, 0), "empty table")
    }

    /// Removes a table's pages and leaves its empty record.
    ///
    /// LMDB removes the record only by closing the handle for the whole process, at once: another thread's snapshot
    /// would then read through a handle that may have been given to another table.
    package func drop(_ database: Database) throws(LMDBError) { try empty(database) }

    /// A transaction inside this one, which cannot be used until the child has ended.
    package func beginChild() throws(LMDBError) -> RawWriteTransaction {
        var child: OpaquePointer?
        try check(mdb_txn_begin(environment.shared.handle, try live(), 0, &child), "begin savepoint")
        return RawWriteTransaction(environment: environment, handle: child, parent: self)
    }

    package func commit() throws(LMDBError) {
        let live = try live()
        handle = nil
        openCursors.hasEnded = true
        defer { finish() }
        if parent == nil { try environment.shared.verifyPaths(live) }
        let rc = mdb_txn_commit(live)
        if rc != 0 { throw LMDBError(code: rc, "commit") }
        if parent == nil { try environment.shared.extendFile() }
    }

    package func abort() {
        guard let live = handle else { return }
        handle = nil
        openCursors.hasEnded = true
        mdb_txn_abort(live)
        finish()
    }

    package override func abortWrite() { abort() }

    private func finish() {
        guard parent == nil else {
            if holdsHandles { parent?.holdsHandles = true }
            return
        }
        if holdsHandles {
            holdsHandles = false
            environment.shared.releaseHandles()
        }
        environment.endWrite()
    }

    package override func cursor(_ database: Database) throws(LMDBError) -> Cursor {
        let cursor = try super.cursor(database)
        cursor.owner = openCursors
        return cursor
    }
}
