/// Everything Quarry throws of its own: each case says what happened, to what, and what to do.
///
/// `description` is one sentence for people. Errors that your own closures throw pass through unchanged.
public enum QuarryError: Error, Sendable {
    // MARK: Rows

    /// An insert met a row with the same id. Use `upsert` to replace it.
    case duplicateID(entity: String, id: String)
    /// A unique index holds this value already, for the row with the id `existing`.
    case duplicateValue(entity: String, index: String, value: String, id: String, existing: String)
    /// `update` or `modify` named an id that no row has. Use `upsert` or `insert`.
    case notFound(entity: String, id: String)
    /// A stored row cannot be read as the Swift type; `field` is the coding path, `reason` what was found.
    case undecodable(entity: String, id: String, field: String, reason: String)
    /// A value cannot be stored; nothing was written.
    case unencodable(entity: String, field: String, reason: String)
    /// The encoded id passes LMDB's limit for keys.
    case idTooLong(entity: String, bytes: Int, limit: Int)
    /// A closure changed the id of the row it was given. Delete and insert instead.
    case idChanged(entity: String, id: String)
    /// No integer is left for a generated id of this width.
    case generatedIDsExhausted(entity: String)
    /// `validate()` or a declared rule refused a value.
    case invalid(entity: String, failures: [ValidationError])
    /// Element `index` (from 0) of a batch failed with `cause`; nothing of the batch was written.
    indirect case inBatch(index: Int, cause: QuarryError)
    /// A row changed in the store after this context read it.
    case conflict(entity: String, id: String)

    // MARK: Schema and queries

    /// The store holds no entity of this name, or the type was not given to `Store(at:for:)`.
    case unknownEntity(String, known: [String])
    /// No field of this name; `suggestion` is the nearest one.
    case unknownField(entity: String, field: String, suggestion: String?, known: [String])
    /// A key path could not be traced to a stored field.
    case unmappedKeyPath(entity: String, keyPath: String, reason: String)
    /// The declared schema does not fit what is stored, or itself.
    case schema(entity: String, reason: String)
    /// A predicate text, its arguments or its types are wrong. `detail` points at the place.
    case predicate(PredicateError)
    /// An argument outside what the call accepts, such as a negative offset.
    case invalidArgument(String)
    /// A number did not fit: a sum passed 64 bits, a division by zero in a query.
    case arithmetic(String)

    // MARK: Transactions and the store

    /// This thread is inside a `write` already. Use the transaction at hand.
    case alreadyWriting
    /// A write was begun inside a `read` closure of the same thread, whose snapshot would hide it.
    case writeInsideRead
    /// The transaction's closure has returned; it cannot be used any more.
    case finished
    /// An earlier failure inside this transaction left it unusable; it was rolled back.
    case rolledBack(reason: String)
    /// Another writer held the store for longer than the timeout.
    case busy(path: String, seconds: Double)
    /// The store has been closed.
    case closed(path: String)
    /// The store was opened read-only.
    case readOnly(path: String)
    /// The process forked; open the store again in the child.
    case forked(path: String)

    // MARK: Files

    /// `maximumSize` is reached. Deleting still works; open with a larger limit, or compact.
    case storeFull(path: String, limit: Int)
    /// The disk took no more bytes. The store is as before the write.
    case diskFull(path: String, reason: String)
    /// The file is damaged or cut short. Nothing was changed.
    case damaged(path: String, reason: String)
    /// The file is not a Quarry store.
    case foreignFile(path: String, reason: String)
    /// The store was written by a newer Quarry.
    case newerFormat(path: String, found: Int, supported: Int)
    /// The file is not there, or may not be used this way.
    case cannotOpen(path: String, reason: String)
    /// The system refused a file operation.
    case file(path: String, operation: String, reason: String)
}

/// Why a field's value was refused.
public struct ValidationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The field's stored name; empty for the object as a whole.
    public var field: String
    /// What is wrong with it, for people.
    public var reason: String

    public init(field: String, reason: String) {
        self.field = field
        self.reason = reason
    }

    public var description: String { field.isEmpty ? reason : "\(field): \(reason)" }
}

/// What is wrong with a predicate, and where.
public struct PredicateError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, for people.
    public var message: String
    /// The format text, where the predicate came from one.
    public var text: String?
    /// UTF-8 offset in `text`; -1 when there is no place to point at.
    public var offset: Int
    /// Message, text and a caret line under the place.
    public var description: String

    public init(message: String, text: String?, offset: Int, description: String) {
        self.message = message
        self.text = text
        self.offset = offset
        self.description = description
    }
}
