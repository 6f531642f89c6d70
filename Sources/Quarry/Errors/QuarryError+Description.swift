import Foundation

extension QuarryError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .duplicateID(let entity, let id):
            "\(entity) \(id) exists already; use upsert to replace it"
        case .duplicateValue(let entity, let index, let value, let id, let existing):
            "\(entity) \(id): the unique index \(index) holds \(value) already, for \(existing)"
        case .notFound(let entity, let id):
            "there is no \(entity) \(id)"
        case .undecodable(let entity, let id, let field, let reason):
            "\(entity) \(id) cannot be read" + (field.isEmpty ? "" : " at \(field)") + ": \(reason)"
        case .unencodable(let entity, let field, let reason):
            "\(entity) cannot be stored" + (field.isEmpty ? "" : ", field \(field)") + ": \(reason)"
        case .idTooLong(let entity, let bytes, let limit):
            "the id of this \(entity) takes \(bytes) bytes as a key, \(limit) at most; use a shorter id"
        case .idChanged(let entity, let id):
            "the id of \(entity) \(id) was changed; delete it and insert the new one"
        case .generatedIDsExhausted(let entity):
            "no generated id is left for \(entity)"
        case .invalid(let entity, let failures):
            "\(entity) is not valid: " + failures.map(\.description).joined(separator: "; ")
        case .inBatch(let index, let cause):
            "element \(index) of the batch: \(cause.description); nothing of the batch was written"
        case .conflict(let entity, let id):
            "\(entity) \(id) was changed by someone else since this context read it"
        case .unknownEntity(let name, let known):
            "the store has no entity \(name)" + Self.list(known, "it has")
        case .unknownField(let entity, let field, let suggestion, let known):
            "\(entity) has no field \(field)" + (suggestion.map { "; did you mean \($0)?" } ?? "")
                + Self.list(known, "its fields are")
        case .unmappedKeyPath(let entity, let keyPath, let reason):
            "the key path \(keyPath) of \(entity) is not a stored field: \(reason)"
        case .schema(let entity, let reason):
            "the schema of \(entity) cannot be used: \(reason)"
        case .predicate(let error):
            error.description
        case .invalidArgument(let reason), .arithmetic(let reason):
            reason
        case .alreadyWriting:
            "this thread is inside a write already; use its transaction"
        case .writeInsideRead:
            "a write cannot start inside a read closure; finish the read first"
        case .finished:
            "the transaction has ended; it cannot be used after its closure"
        case .rolledBack(let reason):
            "the transaction was rolled back: \(reason)"
        case .busy(let path, let seconds):
            "another writer has held \(path) for \(seconds) s"
        case .closed(let path):
            "the store \(path) is closed"
        case .readOnly(let path):
            "the store \(path) was opened read-only"
        case .forked(let path):
            "the process has forked since \(path) was opened; open it again here"
        case .storeFull(let path, let limit):
            "\(path) has reached its limit of \(limit) bytes; delete rows, compact it, or raise maximumSize"
        case .diskFull(let path, let reason):
            "\(path) could not be written, is the disk full? \(reason)"
        case .damaged(let path, let reason):
            "\(path) is damaged: \(reason)"
        case .foreignFile(let path, let reason):
            "\(path) is not a Quarry store: \(reason)"
        case .newerFormat(let path, let found, let supported):
            "\(path) has format \(found); this Quarry reads up to \(supported)"
        case .cannotOpen(let path, let reason):
            "\(path) cannot be opened: \(reason)"
        case .file(let path, let operation, let reason):
            "\(operation) failed for \(path): \(reason)"
        }
    }

    private static func list(_ names: [String], _ lead: String) -> String {
        names.isEmpty ? "" : "; \(lead) " + names.prefix(40).joined(separator: ", ")
    }
}
