#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Looks at a file before LMDB maps it: LMDB takes an empty file for a new store, and dies of SIGBUS in a short one.
enum FileCheck {
    /// What identifies a file however it is named.
    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    static func identity(_ path: String) -> Identity? {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: info.st_dev), inode: UInt64(info.st_ino))
    }

    static func size(_ path: String) -> Int? {
        var info = stat()
        return stat(path, &info) == 0 ? Int(info.st_size) : nil
    }

    /// Throws if the file is not a whole LMDB file of this version.
    static func verify(_ path: String) throws(LMDBError) {
        let operation = "open"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError.errno(operation) }
        defer { _ = close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw LMDBError.errno(operation) }
        guard info.st_mode & S_IFMT == S_IFREG else {
            throw LMDBError(.notLMDB, "it is not a regular file", operation: operation)
        }
        let size = Int(info.st_size)
        guard size > 0 else {
            throw LMDBError(.truncated, "the file is empty; delete it to begin a new store", operation: operation)
        }
        guard let first = meta(descriptor, at: 0) else {
            throw LMDBError(.notLMDB, "it is too short for a store", operation: operation)
        }
        guard first.magic == 0xBEEF_C0DE else {
            throw LMDBError(.notLMDB, "it does not begin as an LMDB file does", operation: operation)
        }
        guard first.version == 1 else {
            throw LMDBError(.newerFormat, "it has LMDB's format \(first.version), not 1", operation: operation)
        }
        let pageSize = Int(first.pageSize)
        guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0 else {
            throw LMDBError(.corrupted, "its first page names a page size of \(pageSize)", operation: operation)
        }
        guard let second = meta(descriptor, at: pageSize), second.magic == first.magic, second.version == 1 else {
            throw LMDBError(.truncated, "its second meta page is missing or damaged", operation: operation)
        }
        let newest = second.transaction > first.transaction ? second : first
        guard newest.lastPage < UInt64(Int.max / pageSize - 1), newest.lastPage >= 1 else {
            throw LMDBError(.corrupted, "its meta page names an impossible size", operation: operation)
        }
        let needed = (Int(newest.lastPage) + 1) * pageSize
        guard size >= needed else {
            throw LMDBError(
                .truncated, "it has \(size) bytes where its meta page asks for \(needed)", operation: operation)
        }
    }

    private struct Meta {
        var magic: UInt32
        var version: UInt32
        var pageSize: UInt32
        var lastPage: UInt64
        var transaction: UInt64
    }

    /// A meta page: 16 bytes of page header, then magic, version, address, map size, two tables of 48 bytes (the first
    /// one's padding is the page size), the last page and the transaction.
    private static func meta(_ descriptor: Int32, at offset: Int) -> Meta? {
        var bytes = [UInt8](repeating: 0, count: 152)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, 152, off_t(offset)) }
        guard count == 152 else { return nil }
        return bytes.withUnsafeBytes {
            Meta(
                magic: $0.loadUnaligned(fromByteOffset: 16, as: UInt32.self),
                version: $0.loadUnaligned(fromByteOffset: 20, as: UInt32.self),
                pageSize: $0.loadUnaligned(fromByteOffset: 40, as: UInt32.self),
                lastPage: $0.loadUnaligned(fromByteOffset: 136, as: UInt64.self),
                transaction: $0.loadUnaligned(fromByteOffset: 144, as: UInt64.self))
        }
    }
}
