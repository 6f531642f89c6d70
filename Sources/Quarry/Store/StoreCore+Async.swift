import Dispatch

extension StoreCore {
    /// Blocking reads run here, so that they do not hold up the threads of the concurrency runtime.
    private static let readers = DispatchQueue(label: "quarry.read", qos: .userInitiated, attributes: .concurrent)

    func readAsync<R: Sendable>(_ body: @escaping @Sendable (TransactionCore) throws -> R) async throws -> R {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            Self.readers.async { continuation.resume(with: Result { try self.read(body) }) }
        }
    }

    func writeAsync<R: Sendable>(_ body: @escaping @Sendable (TransactionCore) throws -> R) async throws -> R {
        if options.access != .readWrite { throw QuarryError.readOnly(path: path) }
        let cancelled = Locked(false)
        return try await withTaskCancellationHandler {
            try Task.checkCancellation()
            return try await withCheckedThrowingContinuation { continuation in
                let outcome = Locked<R?>(nil)
                let job = WriteQueue.Job(
                    isCancelled: { cancelled.withLock { $0 } },
                    run: { core in
                        Result {
                            let value = try body(core)
                            outcome.withLock { $0 = value }
                        }
                    },
                    finish: { result in
                        switch result {
                        case .failure(let error): continuation.resume(throwing: error)
                        case .success:
                            if let value = outcome.withLock({ $0 }) {
                                continuation.resume(returning: value)
                            } else {
                                continuation.resume(throwing: QuarryError.finished)
                            }
                        }
                    })
                writeQueue.add(job, in: self)
            }
        } onCancel: {
            cancelled.withLock { $0 = true }
        }
    }
}
