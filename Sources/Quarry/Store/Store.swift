public import Foundation

/// A store of objects: one file and its lock file.
///
/// ```swift
/// let store = try Store(at: url, for: Student.self)
/// try store.insert(Student(stuid: 1, name: "Ann"))
/// let ann = try store.get(Student.self, id: 1)
/// ```
/// Share one store freely between threads. Opening the same file again in one process shares what is open already.
/// Several processes may use one file; one writes at a time, readers never wait.
public final class Store: Sendable, Writable {
    let core: StoreCore

    /// Opens the store at a file, and makes it if it is not there.
    ///
    /// Indexes that the types declare and the file does not have are built now, in one transaction; those that are no
    /// longer declared are dropped.
    ///
    /// - Throws: `QuarryError.schema` when a declared schema cannot be used, `.duplicateValue` when a new unique index
    ///   meets equal values, `.damaged`, `.foreignFile`, `.newerFormat` or `.cannotOpen` for the file. Nothing is changed
    ///   then.
    public convenience init(at url: URL, for entities: any Entity.Type..., options: StoreOptions = StoreOptions())
        throws
    {
        try self.init(at: url, types: entities, options: options)
    }

    /// The same with the types in an array.
    public init(at url: URL, types: [any Entity.Type], options: StoreOptions = StoreOptions()) throws {
        guard url.isFileURL else {
            throw QuarryError.cannotOpen(path: url.absoluteString, reason: "only file URLs name a store")
        }
        core = try StoreCore(path: url.path, types: types, options: options)
    }

    deinit { core.close() }

    /// The path of the store's file.
    public var path: String { core.path }

    /// Closes the store. Transactions that are running finish; later calls throw `QuarryError.closed`.
    public func close() { core.close() }

    // MARK: Transactions

    /// Runs `body` on one snapshot. Writers do not disturb it, and it does not hold them up.
    ///
    /// Keep it short: while a snapshot is open, the space that later commits free cannot be used again.
    @_disfavoredOverload
    public func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        try core.read { core in
            ReadDepth.enter()
            defer { ReadDepth.leave() }
            return try body(ReadTransaction(core: core))
        }
    }

    /// Runs `body` and commits what it wrote; when it throws, nothing is written.
    ///
    /// One write runs at a time; others wait. The closure runs on this thread.
    ///
    /// - Throws: what `body` throws; `QuarryError.alreadyWriting` inside another write of this thread, `.busy` after the
    ///   timeout, `.storeFull`, `.diskFull`.
    @_disfavoredOverload
    public func write<R>(_ body: (borrowing WriteTransaction) throws -> R) throws -> R {
        try core.write { try body(WriteTransaction(core: $0)) }
    }

    /// Runs `body` on one snapshot, off the caller's thread.
    public func read<R: Sendable>(_ body: @escaping @Sendable (borrowing ReadTransaction) throws -> R) async throws -> R
    {
        try await core.readAsync { core in
            ReadDepth.enter()
            defer { ReadDepth.leave() }
            return try body(ReadTransaction(core: core))
        }
    }

    /// Runs `body` and commits, off the caller's thread. Writes that wait at the same time share one commit; each is
    /// still all-or-nothing, and acknowledged after it is safe.
    public func write<R: Sendable>(_ body: @escaping @Sendable (borrowing WriteTransaction) throws -> R) async throws
        -> R
    {
        try await core.writeAsync { try body(WriteTransaction(core: $0)) }
    }

    public func withReader<R>(_ body: (Reader) throws -> R) throws -> R {
        try core.read { try body(Reader(core: $0)) }
    }

    public func withWriter<R>(_ body: (Writer) throws -> R) throws -> R {
        try core.write { try body(Writer(core: $0, isWhole: true)) }
    }
}
