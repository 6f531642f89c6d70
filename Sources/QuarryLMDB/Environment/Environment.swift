internal import CLMDB
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An opened LMDB file. Several of them on one file share one LMDB environment.
///
/// Unchecked, because kept read transactions are not Sendable: each is handed to one thread at a time.
package final class Environment: @unchecked Sendable {
    let shared: SharedEnvironment
    private let state = Mutex(State())
    private var kept: [RawReadTransaction] = []
    private static let keepLimit = 64

    private struct State {
        var isClosed = false
        var active = 0
        var isReleased = false
    }

    private init(_ shared: SharedEnvironment) { self.shared = shared }

    /// Opens the file, after looking whether it is a whole LMDB file.
    package static func open(path: String, _ options: EnvironmentOptions) throws(LMDBError) -> Environment {
        Environment(try SharedEnvironment.open(path, options))
    }

    deinit { close() }

    package var path: String { shared.path }

    /// Refuses further transactions. The file is closed when those that run have ended.
    package func close() {
        let drops = state.withLock { state -> Bool in
            state.isClosed = true
            guard state.active == 0, !state.isReleased else { return false }
            state.isReleased = true
            return true
        }
        if drops { release() }
    }

    private func release() {
        if shared.generation == ForkGuard.generation { for transaction in kept { transaction.destroy() } }
        kept = []
        shared.release()
    }

    private func enter() throws(LMDBError) {
        if shared.generation != ForkGuard.generation {
            throw LMDBError(.forked, "the process has forked since it was opened", operation: "begin")
        }
        let isOpen = state.withLock { state in
            if !state.isClosed { state.active += 1 }
            return !state.isClosed
        }
        if !isOpen { throw LMDBError(.closed, "the store is closed", operation: "begin") }
    }

    private func leave() {
        let drops = state.withLock { state -> Bool in
            state.active -= 1
            guard state.isClosed, state.active == 0, !state.isReleased else { return false }
            state.isReleased = true
            return true
        }
        if drops { release() }
    }

    // MARK: Reading

    /// A snapshot of the latest commit. Give it back with `endRead`.
    package func beginRead() throws(LMDBError) -> RawReadTransaction {
        try enter()
        do throws(LMDBError) {
            if let transaction = state.withLock({ _ in kept.popLast() }) {
                let rc = mdb_txn_renew(transaction.handle)
                if rc == 0 {
                    transaction.isActive = true
                    return transaction
                }
                transaction.destroy()
            }
            var handle: OpaquePointer?
            var rc = mdb_txn_begin(shared.handle, nil, UInt32(MDB_RDONLY), &handle)
            if rc == MDB_READERS_FULL {
                var dead: Int32 = 0
                mdb_reader_check(shared.handle, &dead)
                dropKept()
                rc = mdb_txn_begin(shared.handle, nil, UInt32(MDB_RDONLY), &handle)
            }
            try check(rc, "begin read")
            let transaction = RawReadTransaction(environment: self, handle: handle)
            transaction.isActive = true
            return transaction
        } catch {
            leave()
            throw error
        }
    }

    /// Lets the snapshot go, so that it pins no pages, and keeps its slot for the next reader.
    package func endRead(_ transaction: RawReadTransaction) {
        guard transaction.isActive else { return }
        transaction.isActive = false
        if shared.generation != ForkGuard.generation { return leave() }
        if let handle = transaction.handle { mdb_txn_reset(handle) }
        let isKept = state.withLock { state in
            guard !state.isClosed, kept.count < Self.keepLimit else { return false }
            kept.append(transaction)
            return true
        }
        if !isKept { transaction.destroy() }
        leave()
    }

    /// Gives back the slots of snapshots that wait for their next use.
    private func dropKept() {
        let dropped = state.withLock { _ in
            defer { kept = [] }
            return kept
        }
        for transaction in dropped { transaction.destroy() }
    }

    // MARK: Writing

    /// - Parameter timeout: seconds to wait for another write of this process; nil waits for ever.
    package func beginWrite(timeout: Double? = nil) throws(LMDBError) -> RawWriteTransaction {
        if shared.options.mode != .readWrite {
            throw LMDBError(.readOnly, "the store was opened for reading only", operation: "begin write")
        }
        try enter()
        do throws(LMDBError) {
            try shared.writer.lock(timeout: timeout)
        } catch {
            leave()
            throw error
        }
        var handle: OpaquePointer?
        let rc = mdb_txn_begin(shared.handle, nil, 0, &handle)
        guard rc == 0 else {
            shared.writer.unlock()
            leave()
            throw LMDBError(code: rc, "begin write")
        }
        return RawWriteTransaction(environment: self, handle: handle, parent: nil)
    }

    func endWrite() {
        shared.writer.unlock()
        leave()
    }

    // MARK: Tables

    /// The names of the tables in the file.
    package func databaseNames() throws(LMDBError) -> [String] {
        let transaction = try beginRead()
        defer { endRead(transaction) }
        var handle: MDB_dbi = 0
        pthreadLock(transaction)
        let rc = mdb_dbi_open(transaction.handle, nil, 0, &handle)
        shared.unlockHandles(after: transaction)
        try check(rc, "list tables")
        let cursor = try transaction.cursor(Database(handle: handle, isDuplicates: false))
        defer { cursor.close() }
        var names: [String] = []
        var next = try cursor.first()
        while let (key, _) = next {
            names.append(String(decoding: key, as: UTF8.self))
            next = try cursor.next()
        }
        return names
    }

    private func pthreadLock(_ transaction: Transaction) { try? shared.lockHandles(for: transaction) }

    /// Opens tables that are there, each with whether it holds duplicates; nil for those that are not.
    ///
    /// In a read of its own that is committed, which is what makes the handles last.
    package func openDatabases(_ wanted: [(String, Bool)]) throws(LMDBError) -> [Database?] {
        try enter()
        defer { leave() }
        var handle: OpaquePointer?
        try check(mdb_txn_begin(shared.handle, nil, UInt32(MDB_RDONLY), &handle), "open tables")
        let transaction = RawReadTransaction(environment: self, handle: handle)
        var result: [Database?] = []
        do throws(LMDBError) {
            for (name, duplicates) in wanted {
                result.append(try transaction.open(named: name, create: false, duplicates: duplicates))
            }
        } catch {
            transaction.destroy()
            throw error
        }
        transaction.handle = nil
        try check(mdb_txn_commit(handle), "open tables")
        return result
    }

    // MARK: The file

    /// Writes a consistent copy of the latest commit to a new file.
    ///
    /// - Throws: `.other(EEXIST)` when the file is there. What was written is removed after a failure.
    package func copy(to path: String, compacting: Bool) throws(LMDBError) {
        try enter()
        defer { leave() }
        let descriptor = FileCreation.createNew(path)
        guard descriptor >= 0 else { throw LMDBError.errno("copy") }
        do throws(LMDBError) {
            let rc = mdb_env_copyfd2(shared.handle, descriptor, compacting ? UInt32(MDB_CP_COMPACT) : 0)
            if rc == EPIPE { throw LMDBError(code: ENOSPC, "copy") }
            try check(rc, "copy")
            if fsync(descriptor) != 0 { throw LMDBError.errno("copy") }
        } catch {
            FileCreation.close(descriptor)
            unlink(path)
            throw error
        }
        FileCreation.close(descriptor)
        try FileCreation.syncFolder(of: path)
    }

    /// Makes commits without sync last.
    package func sync() throws(LMDBError) {
        try enter()
        defer { leave() }
        try check(mdb_env_sync(shared.handle, 1), "sync")
    }

    package func statistics() throws(LMDBError) -> EnvironmentStatistics {
        let transaction = try beginRead()
        defer { endRead(transaction) }
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(shared.handle, &info)
        mdb_env_stat(shared.handle, &stat)
        // Table 0 lists the free pages: each value is a count and that many page numbers, of a word each.
        var free = 0
        let cursor = try transaction.cursor(Database(handle: 0, isDuplicates: false))
        defer { cursor.close() }
        var next = try cursor.first()
        while let (_, value) = next {
            if value.count >= MemoryLayout<Int>.size { free += value.loadUnaligned(as: Int.self) }
            next = try cursor.next()
        }
        return EnvironmentStatistics(
            pageSize: Int(stat.ms_psize), mapSize: info.me_mapsize, fileSize: FileCheck.size(path) ?? 0,
            pages: info.me_last_pgno + 1, freePages: free, lastTransaction: UInt64(info.me_last_txnid),
            readers: Int(info.me_numreaders), maximumReaders: Int(info.me_maxreaders),
            oldestReader: oldestReader(except: transaction))
    }

    /// The commit of the oldest snapshot, from the text in which LMDB lists its readers.
    private func oldestReader(except own: RawReadTransaction) -> UInt64? {
        final class Lines { var text = "" }
        let lines = Lines()
        _ = withExtendedLifetime(lines) {
            mdb_reader_list(
                shared.handle,
                { message, context in
                    guard let message, let context else { return 0 }
                    Unmanaged<Lines>.fromOpaque(context).takeUnretainedValue().text += String(cString: message)
                    return 0
                }, Unmanaged.passUnretained(lines).toOpaque())
        }
        var commits = lines.text.split(separator: "\n").compactMap {
            $0.split(separator: " ").last.flatMap { UInt64($0) }
        }
        if let place = commits.firstIndex(of: own.id) { commits.remove(at: place) }
        return commits.min()
    }

    /// Frees the slots of readers whose processes have died; tells how many.
    @discardableResult
    package func clearStaleReaders() throws(LMDBError) -> Int {
        try enter()
        defer { leave() }
        var dead: Int32 = 0
        try check(mdb_reader_check(shared.handle, &dead), "check readers")
        return Int(dead)
    }
}
