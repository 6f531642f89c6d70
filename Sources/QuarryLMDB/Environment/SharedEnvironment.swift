internal import CLMDB
internal import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The one LMDB environment that a process has of a file, however often it is opened: two of them lose data.
///
/// Unchecked, because the LMDB handle is a pointer; LMDB itself is safe to call from several threads, and what is
/// mutable here is under a lock.
final class SharedEnvironment: @unchecked Sendable {
    let handle: OpaquePointer
    let path: String
    let options: EnvironmentOptions
    let identity: FileCheck.Identity
    private let lockIdentity: FileCheck.Identity?
    let writer = WriterLock()
    let generation = ForkGuard.generation
    private let pageSize: Int
    private let descriptor: Int32

    /// Guards the table of LMDB's handles, which LMDB does not.
    private let handleMutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    private struct Registry {
        var open: [FileCheck.Identity: SharedEnvironment] = [:]
        var counts: [FileCheck.Identity: Int] = [:]
    }
    private static let registry = Mutex(Registry())

    // MARK: Opening

    /// The environment of a file: the one that is open already, or a new one.
    static func open(_ path: String, _ options: EnvironmentOptions) throws(LMDBError) -> SharedEnvironment {
        let result: Result<SharedEnvironment, LMDBError> = registry.withLock { registry in
            do throws(LMDBError) {
                if let known = FileCheck.identity(path), let shared = registry.open[known] {
                    if options.mode == .readWrite, shared.options.mode != .readWrite {
                        throw LMDBError(
                            .incompatible, "it is open in this process for reading only; close that store first",
                            operation: "open")
                    }
                    registry.counts[known, default: 0] += 1
                    return .success(shared)
                }
                let shared = try SharedEnvironment(path, options)
                registry.open[shared.identity] = shared
                registry.counts[shared.identity] = 1
                return .success(shared)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The last of those who opened it closes it.
    func release() {
        Self.registry.withLock { registry in
            let left = (registry.counts[identity] ?? 1) - 1
            registry.counts[identity] = left
            guard left <= 0 else { return }
            registry.open[identity] = nil
            registry.counts[identity] = nil
            // A forked child must leave the parent's lock file alone.
            if generation == ForkGuard.generation { mdb_env_close(handle) }
        }
    }

    private init(_ path: String, _ options: EnvironmentOptions) throws(LMDBError) {
        if FileCheck.identity(path) == nil {
            guard options.createsFile, options.mode == .readWrite else {
                throw LMDBError(.noSuchFile, "there is no such file", operation: "open")
            }
            try FileCreation.create(path)
        }
        try FileCheck.verify(path)
        var size = max(options.maximumSize, FileCheck.size(path) ?? 0)
        var opened: OpaquePointer?
        while true {
            let rc = Self.tryOpen(path, options, size, &opened)
            if rc == 0 { break }
            // The address space is limited here; a smaller store will do.
            if rc == ENOMEM, size > 1 << 30 {
                size /= 2
                continue
            }
            if rc == EACCES || rc == EROFS, options.mode == .readOnly {
                throw LMDBError(
                    .accessDenied, "its lock file cannot be written; open it as immutable if nobody writes to it",
                    operation: "open")
            }
            throw LMDBError(code: rc, "open")
        }
        guard let opened, let identity = FileCheck.identity(path) else {
            throw LMDBError(.noSuchFile, "the file has gone while it was opened", operation: "open")
        }
        handle = opened
        self.path = path
        self.options = options
        self.identity = identity
        lockIdentity = options.mode == .immutable ? nil : FileCheck.identity(path + "-lock")
        var stat = MDB_stat()
        mdb_env_stat(opened, &stat)
        pageSize = Int(stat.ms_psize)
        var fd: Int32 = -1
        mdb_env_get_fd(opened, &fd)
        descriptor = fd
        handleMutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(handleMutex, nil)
    }

    private static func tryOpen(
        _ path: String, _ options: EnvironmentOptions, _ size: Int, _ result: inout OpaquePointer?
    ) -> Int32 {
        var env: OpaquePointer?
        var rc = mdb_env_create(&env)
        guard rc == 0, let env else { return rc }
        // Whole pages, as mmap wants them.
        rc = mdb_env_set_mapsize(env, size / 65536 * 65536 + 65536)
        if rc == 0 { rc = mdb_env_set_maxdbs(env, UInt32(clamping: options.maximumDatabases)) }
        if rc == 0 { rc = mdb_env_set_maxreaders(env, UInt32(clamping: max(options.maximumReaders, 1))) }
        var flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS)
        switch options.mode {
        case .readWrite: break
        case .readOnly: flags |= UInt32(MDB_RDONLY)
        case .immutable: flags |= UInt32(MDB_RDONLY | MDB_NOLOCK)
        }
        switch options.durability {
        case .full: break
        case .noMetaSync: flags |= UInt32(MDB_NOMETASYNC)
        case .noSync: flags |= UInt32(MDB_NOSYNC)
        }
        if rc == 0 { rc = mdb_env_open(env, path, flags, 0o600) }
        if rc == 0 { result = env } else { mdb_env_close(env) }
        return rc
    }

    deinit {
        pthread_mutex_destroy(handleMutex)
        handleMutex.deallocate()
    }

    // MARK: Table handles

    /// A write keeps the lock from the first table it opens until it ends, since an abort takes the handle back.
    func lockHandles(for transaction: Transaction) throws(LMDBError) {
        if let write = transaction as? RawWriteTransaction {
            if !write.holdsHandles {
                pthread_mutex_lock(handleMutex)
                write.holdsHandles = true
            }
        } else {
            pthread_mutex_lock(handleMutex)
        }
    }

    func unlockHandles(after transaction: Transaction) {
        if !(transaction is RawWriteTransaction) { pthread_mutex_unlock(handleMutex) }
    }

    func releaseHandles() { pthread_mutex_unlock(handleMutex) }

    // MARK: Commits

    /// A commit into a file that has been deleted or replaced would be lost, and without its lock file two could write.
    func verifyPaths(_ transaction: OpaquePointer) throws(LMDBError) {
        guard FileCheck.identity(path) == identity else {
            mdb_txn_abort(transaction)
            throw LMDBError(
                .noSuchFile, "the file has been deleted or replaced while it was open; nothing was written",
                operation: "commit")
        }
        if let lockIdentity, FileCheck.identity(path + "-lock") != lockIdentity {
            mdb_txn_abort(transaction)
            throw LMDBError(
                .accessDenied, "its lock file has been deleted or replaced; close every store on it and open it again",
                operation: "commit")
        }
    }

    /// LMDB does not write pages that a transaction took and gave back, so that the file may be shorter than its meta
    /// page says; a reader would take that for a cut file.
    func extendFile() throws(LMDBError) {
        var info = MDB_envinfo()
        mdb_env_info(handle, &info)
        let needed = off_t((info.me_last_pgno + 1) * pageSize)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size < needed else { return }
        _ = ftruncate(descriptor, needed)
    }
}
