import QuarryCoding
import QuarryLMDB
import QuarryPredicate

// The one place where the lower layers' errors become the public one.
extension QuarryError {
    init(_ error: LMDBError, path: String, limit: Int = 0) {
        switch error.code {
        case .mapFull: self = .storeFull(path: path, limit: limit)
        case .diskFull, .io: self = .diskFull(path: path, reason: error.message)
        case .corrupted, .truncated: self = .damaged(path: path, reason: error.message)
        case .notLMDB: self = .foreignFile(path: path, reason: error.message)
        case .newerFormat: self = .foreignFile(path: path, reason: error.message)
        case .noSuchFile, .accessDenied, .readersFull: self = .cannotOpen(path: path, reason: error.message)
        case .nestedWrite: self = .alreadyWriting
        case .busy: self = .busy(path: path, seconds: 0)
        case .closed: self = .closed(path: path)
        case .finished: self = .finished
        case .forked: self = .forked(path: path)
        case .readOnly: self = .readOnly(path: path)
        default: self = .file(path: path, operation: error.operation, reason: error.message)
        }
    }

    /// Runs `body` and turns what the lower layers throw into the public error.
    static func mapping<R>(_ path: String, limit: Int = 0, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw any(error, path: path, limit: limit)
        }
    }

    /// The public error for whatever was thrown; errors of the user's closures pass through.
    static func any(_ error: any Error, path: String, limit: Int = 0) -> any Error {
        switch error {
        case let error as LMDBError: QuarryError(error, path: path, limit: limit)
        case let error as PredicateFailure: QuarryError(error, entity: "")
        case let error as CodingFailure: QuarryError.damaged(path: path, reason: error.reason)
        default: error
        }
    }

    init(_ failure: PredicateFailure, entity: String) {
        self = .predicate(
            PredicateError(
                message: failure.message, text: failure.text, offset: failure.position.start,
                description: (entity.isEmpty ? "" : "\(entity): ") + failure.description))
    }

    /// What went wrong with an id.
    static func key(_ error: any Error, entity: String) -> any Error {
        switch error {
        case CodingFailure.keyTooLong(let bytes, let limit):
            QuarryError.idTooLong(entity: entity, bytes: bytes, limit: limit)
        case let error as CodingFailure: QuarryError.schema(entity: entity, reason: "its id: \(error.reason)")
        case is EncodingError: encoding(error, entity: entity)
        default: error
        }
    }

    /// What went wrong while reading a row.
    static func decoding(_ error: any Error, entity: String, id: String) -> any Error {
        func undecodable(_ path: [any CodingKey], _ reason: String) -> QuarryError {
            .undecodable(entity: entity, id: id, field: text(path), reason: reason)
        }
        return switch error {
        case DecodingError.typeMismatch(_, let context), DecodingError.dataCorrupted(let context):
            undecodable(context.codingPath, context.debugDescription)
        case DecodingError.valueNotFound(_, let context):
            undecodable(context.codingPath, context.debugDescription)
        case DecodingError.keyNotFound(let key, let context):
            undecodable(
                context.codingPath + [key], "the row has no such field; give it a default or make it optional")
        case let error as CodingFailure: undecodable([], error.reason)
        default: error
        }
    }

    /// What went wrong while writing a row.
    static func encoding(_ error: any Error, entity: String) -> any Error {
        switch error {
        case EncodingError.invalidValue(_, let context):
            QuarryError.unencodable(
                entity: entity, field: text(context.codingPath), reason: context.debugDescription)
        case let error as CodingFailure: QuarryError.unencodable(entity: entity, field: "", reason: error.reason)
        default: error
        }
    }

    private static func text(_ path: [any CodingKey]) -> String { path.map(\.stringValue).joined(separator: ".") }
}

extension CodingFailure {
    /// What happened, for people.
    var reason: String {
        switch self {
        case .corruptRow(let reason): "a stored row is damaged: \(reason)"
        case .keyTooLong(let bytes, let limit): "a key takes \(bytes) bytes, \(limit) at most"
        case .notAKey(let reason): "not a key: \(reason)"
        case .tooMany(let reason): reason
        }
    }
}
