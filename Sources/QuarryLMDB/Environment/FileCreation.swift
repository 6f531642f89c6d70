internal import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Makes a new store's file whole before it gets its name: at no time is there an empty or half file.
enum FileCreation {
    static func create(_ path: String) throws(LMDBError) {
        let temporary = "\(path).new-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        defer {
            unlink(temporary)
            unlink(temporary + "-lock")
        }
        var env: OpaquePointer?
        try check(mdb_env_create(&env), "create")
        guard let env else { throw LMDBError(.other(0), "no memory", operation: "create") }
        do throws(LMDBError) {
            // A umask may take more away, never add: 0600 at most.
            try check(mdb_env_open(env, temporary, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o600), "create")
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(env, nil, 0, &transaction), "create")
            try check(mdb_txn_commit(transaction), "create")
            try check(mdb_env_sync(env, 1), "create")
        } catch {
            mdb_env_close(env)
            throw error
        }
        mdb_env_close(env)
        if chmod(temporary, 0o600) != 0 { throw LMDBError.errno("create") }
        // Another process may have been faster; then its file is the store.
        if link(temporary, path) != 0, systemErrno() != EEXIST { throw LMDBError.errno("create") }
        try syncFolder(of: path)
    }

    /// Makes a new name in a folder last.
    static func syncFolder(of path: String) throws(LMDBError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }

    /// A descriptor of a file that must not be there yet; below 0 with errno when that fails.
    static func createNew(_ path: String) -> Int32 { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }

    static func close(_ descriptor: Int32) {
        #if canImport(Glibc)
            _ = Glibc.close(descriptor)
        #elseif canImport(Musl)
            _ = Musl.close(descriptor)
        #else
            _ = Darwin.close(descriptor)
        #endif
    }
}
