internal import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What LMDB or the system answered, with its likely cause.
package struct LMDBError: Error, Equatable, Sendable {
    package enum Code: Equatable, Sendable {
        /// The key is there already.
        case keyExists
        case notFound
        /// The file has reached its map size, or a reader pins what was deleted.
        case mapFull
        /// Every reader slot is taken, after stale ones were cleared.
        case readersFull
        /// One transaction changed too many pages.
        case transactionFull
        case databasesFull
        /// A page is not what it ought to be.
        case corrupted
        /// A key of 0 or more than 511 bytes.
        case badValueSize
        /// The file was not made by LMDB.
        case notLMDB
        /// The file is shorter than its meta page says, or empty.
        case truncated
        /// Another version of LMDB made the file.
        case newerFormat
        case diskFull
        case io
        case noSuchFile
        case accessDenied
        /// This thread has a write transaction already.
        case nestedWrite
        /// Another writer of this process holds the environment.
        case busy
        case closed
        /// The transaction or cursor has ended.
        case finished
        case forked
        case readOnly
        /// A table is of another kind than asked for.
        case incompatible
        case other(Int32)
    }

    package var code: Code
    /// What happened and what it usually comes from, for people.
    package var message: String
    package var operation: String

    package init(_ code: Code, _ message: String, operation: String) {
        self.code = code
        self.message = message
        self.operation = operation
    }

    /// An LMDB return code or errno.
    package init(code rc: Int32, _ operation: String) {
        let (code, message): (Code, String) =
            switch rc {
            case MDB_KEYEXIST: (.keyExists, "the key exists already")
            case MDB_NOTFOUND: (.notFound, "no such key or table")
            case MDB_MAP_FULL: (.mapFull, "the store has reached its maximum size")
            case MDB_READERS_FULL: (.readersFull, "every reader slot is taken; raise maximumReaders")
            case MDB_TXN_FULL: (.transactionFull, "the transaction is too large; split it")
            case MDB_DBS_FULL: (.databasesFull, "too many entities and indexes in one store")
            case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_CURSOR_FULL, MDB_PAGE_FULL:
                (.corrupted, "a page of the file is damaged (LMDB \(rc))")
            case MDB_PANIC: (.corrupted, "an earlier write failed in a way that needs the store opened again")
            case MDB_BAD_VALSIZE: (.badValueSize, "a key of 0 or of more than 511 bytes")
            case MDB_INVALID: (.notLMDB, "the file is not an LMDB file")
            case MDB_VERSION_MISMATCH: (.newerFormat, "the file was written by another version of LMDB")
            case MDB_INCOMPATIBLE: (.incompatible, "the table is of another kind than asked for")
            case MDB_MAP_RESIZED: (.mapFull, "another process has made the file larger than this one allows")
            case MDB_BAD_TXN, MDB_BAD_DBI, MDB_BAD_RSLOT: (.finished, "the transaction cannot be used any more")
            case ENOSPC, EDQUOT: (.diskFull, "no space is left on the disk")
            case EIO: (.io, "input or output failed; a full disk is reported this way too")
            case ENOENT: (.noSuchFile, "there is no such file or folder")
            case EACCES, EPERM, EROFS: (.accessDenied, "the permissions do not allow it")
            default: (.other(rc), String(cString: mdb_strerror(rc)))
            }
        self.init(code, message, operation: operation)
    }

    static func errno(_ operation: String) -> LMDBError { LMDBError(code: systemErrno(), operation) }
}

func systemErrno() -> Int32 {
    #if canImport(Darwin)
        Darwin.errno
    #elseif canImport(Glibc)
        Glibc.errno
    #else
        Musl.errno
    #endif
}

/// Throws unless LMDB said 0.
@inline(__always)
func check(_ rc: Int32, _ operation: @autoclosure () -> String) throws(LMDBError) {
    if rc != 0 { throw LMDBError(code: rc, operation()) }
}
