internal import CLMDB

/// A place in a table. Each move returns the pair it lands on, or nil.
package final class Cursor {
    package typealias Entry = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    private var handle: OpaquePointer?
    private let transaction: Transaction
    private let database: Database
    /// Of a write: whether it has ended and freed its cursors.
    var owner: RawWriteTransaction.OpenCursors?

    init(handle: OpaquePointer?, transaction: Transaction, database: Database) {
        self.handle = handle
        self.transaction = transaction
        self.database = database
    }

    /// Gives the cursor back. Calling it again does nothing.
    package func close() {
        guard let handle else { return }
        self.handle = nil
        if let owner {
            if !owner.hasEnded { mdb_cursor_close(handle) }
        } else if let read = transaction as? RawReadTransaction, read.handle != nil {
            read.keep(handle, database)
        } else {
            mdb_cursor_close(handle)
        }
    }

    deinit { close() }

    @inline(__always)
    private func live() throws(LMDBError) -> OpaquePointer {
        guard let handle, owner?.hasEnded != true else {
            throw LMDBError(.finished, "the cursor's transaction has ended", operation: "move cursor")
        }
        return handle
    }

    @inline(__always)
    private func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Entry? {
        var key = MDB_val()
        var value = MDB_val()
        let rc = mdb_cursor_get(try live(), &key, &value, operation)
        if rc == 0 { return entry(key, value) }
        // EINVAL: the cursor stands nowhere, as after a deletion of the last pair.
        if rc == MDB_NOTFOUND || rc == 22 { return nil }
        throw LMDBError(code: rc, "move cursor")
    }

    @inline(__always)
    private func move(
        _ operation: MDB_cursor_op, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?
    ) throws(LMDBError) -> Entry? {
        var mdbKey = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var mdbValue = MDB_val(
            mv_size: value?.count ?? 0, mv_data: UnsafeMutableRawPointer(mutating: value?.baseAddress))
        let rc = mdb_cursor_get(try live(), &mdbKey, &mdbValue, operation)
        if rc == 0 { return entry(mdbKey, mdbValue) }
        if rc == MDB_NOTFOUND || rc == MDB_BAD_VALSIZE { return nil }
        throw LMDBError(code: rc, "move cursor")
    }

    @inline(__always)
    private func entry(_ key: MDB_val, _ value: MDB_val) -> Entry {
        (
            UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size),
            UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        )
    }

    package func first() throws(LMDBError) -> Entry? { try move(MDB_FIRST) }
    package func last() throws(LMDBError) -> Entry? { try move(MDB_LAST) }
    @inline(__always) package func next() throws(LMDBError) -> Entry? { try move(MDB_NEXT) }
    @inline(__always) package func previous() throws(LMDBError) -> Entry? { try move(MDB_PREV) }
    package func nextNoDuplicate() throws(LMDBError) -> Entry? { try move(MDB_NEXT_NODUP) }
    package func previousNoDuplicate() throws(LMDBError) -> Entry? { try move(MDB_PREV_NODUP) }
    package func current() throws(LMDBError) -> Entry? { try move(MDB_GET_CURRENT) }

    @inline(__always) package func nextDuplicate() throws(LMDBError) -> Entry? { try move(MDB_NEXT_DUP) }
    package func previousDuplicate() throws(LMDBError) -> Entry? { try move(MDB_PREV_DUP) }

    /// The first value of the cursor's key. LMDB returns no key here, so it is asked for again.
    package func firstDuplicate() throws(LMDBError) -> Entry? { try edge(MDB_FIRST_DUP) }
    package func lastDuplicate() throws(LMDBError) -> Entry? { try edge(MDB_LAST_DUP) }

    private func edge(_ operation: MDB_cursor_op) throws(LMDBError) -> Entry? {
        guard database.isDuplicates, try duplicateCount() > 1 else { return try current() }
        guard try move(operation) != nil else { return nil }
        return try current()
    }

    /// The pair under exactly this key: the first of its values.
    package func set(key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
        key.isEmpty ? nil : try move(MDB_SET_KEY, key, nil)
    }

    /// The first pair at or after the key.
    package func setRange(key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
        key.isEmpty ? try first() : try move(MDB_SET_RANGE, key, nil)
    }

    package func set(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
        try move(MDB_GET_BOTH, key, value)
    }

    /// Of exactly this key, the first value at or after `value`.
    package func setRange(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? {
        try move(MDB_GET_BOTH_RANGE, key, value)
    }

    /// Values of the cursor's key that lie side by side, from the cursor's page on; nil at the end. Only for tables with
    /// values of one length.
    package func nextMultiple() throws(LMDBError) -> UnsafeRawBufferPointer? {
        try move(MDB_NEXT_MULTIPLE)?.value
    }

    /// Values under the cursor's key.
    package func duplicateCount() throws(LMDBError) -> Int {
        guard database.isDuplicates else { return 1 }
        var count = 0
        try check(mdb_cursor_count(try live(), &count), "count values")
        return count
    }

    /// Puts a pair and moves there; false when `flags` forbid it because the key or pair is there already.
    @inline(__always)
    package func put(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, flags: PutFlags
    ) throws(LMDBError) -> Bool {
        var mdbKey = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var mdbValue = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        let rc = mdb_cursor_put(try live(), &mdbKey, &mdbValue, flags.rawValue)
        if rc == 0 { return true }
        if rc == MDB_KEYEXIST { return false }
        throw LMDBError(code: rc, "put")
    }

    /// Removes the pair under the cursor.
    package func deleteCurrent() throws(LMDBError) {
        try check(mdb_cursor_del(try live(), 0), "delete")
    }
}
