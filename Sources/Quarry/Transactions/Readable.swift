/// What can be read from: a store, and both kinds of transaction.
///
/// On a store each verb runs in a snapshot of its own; inside a transaction all see the same one.
public protocol Readable: ~Copyable {
    /// Lends the running snapshot to a verb. Not for you to call.
    func withReader<R>(_ body: (Reader) throws -> R) throws -> R
}

/// What can be written to: a store, and a write transaction.
///
/// On a store each verb is a commit of its own; inside a transaction all commit together, or none does.
public protocol Writable: Readable, ~Copyable {
    /// Lends the running write transaction to a verb. Not for you to call.
    func withWriter<R>(_ body: (Writer) throws -> R) throws -> R
}

/// A running snapshot, lent to the verbs of ``Readable``.
public struct Reader {
    let core: TransactionCore
}

/// A running write transaction, lent to the verbs of ``Writable``.
public struct Writer {
    let core: TransactionCore
    /// The verb is all that its transaction does, so that a failure may roll back the whole of it.
    let isWhole: Bool
}

/// One snapshot of the store, inside `Store.read`. It cannot leave its closure.
public struct ReadTransaction: ~Copyable, Readable {
    let core: TransactionCore

    public func withReader<R>(_ body: (Reader) throws -> R) throws -> R { try body(Reader(core: core)) }
}

/// One commit in the making, inside `Store.write`. It cannot leave its closure.
///
/// It reads its own changes. An error that leaves the closure rolls everything back.
public struct WriteTransaction: ~Copyable, Writable {
    let core: TransactionCore

    public func withReader<R>(_ body: (Reader) throws -> R) throws -> R { try body(Reader(core: core)) }
    public func withWriter<R>(_ body: (Writer) throws -> R) throws -> R {
        try body(Writer(core: core, isWhole: false))
    }

    /// Runs `body` all-or-nothing: when it throws, its changes are undone, and the transaction goes on without them.
    ///
    /// Unique values are checked when it ends, so that they may move between rows within it.
    public func savepoint<R>(_ body: (borrowing WriteTransaction) throws -> R) throws -> R {
        try core.savepoint { try body(WriteTransaction(core: core)) }
    }
}
