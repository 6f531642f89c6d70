import Dispatch
import Foundation
import Synchronization

/// Runs async writes on one thread of its own, and commits those that wait together as one.
///
/// LMDB ties a write transaction to its thread, so an async write hops to this thread as a whole. Each write of a
/// group is all-or-nothing in a savepoint of its own, and is acknowledged after the commit they share.
final class WriteQueue: Sendable {
    /// One waiting write. `run` does the work inside the given transaction; `finish` reports the outcome.
    struct Job: Sendable {
        var isCancelled: @Sendable () -> Bool
        var run: @Sendable (TransactionCore) -> Result<Void, any Error>
        var finish: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct State {
        var waiting: [Job] = []
        var isRunning = false
    }

    private let state = Locked(State())
    private let queue: DispatchQueue
    /// At most so many writes share a commit, so that the first of them does not wait for ever.
    private static let groupLimit = 256

    init(label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

    func add(_ job: Job, in store: StoreCore) {
        let starts = state.withLock { state in
            state.waiting.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { queue.async { self.drain(store) } }
    }

    private func drain(_ store: StoreCore) {
        while true {
            let jobs = state.withLock { state -> [Job] in
                let jobs = Array(state.waiting.prefix(Self.groupLimit))
                state.waiting.removeFirst(jobs.count)
                if jobs.isEmpty { state.isRunning = false }
                return jobs
            }
            if jobs.isEmpty { return }
            run(jobs, store)
        }
    }

    private func run(_ jobs: [Job], _ store: StoreCore) {
        var outcomes: [Result<Void, any Error>] = []
        let live = jobs.filter { job in
            guard job.isCancelled() else { return true }
            job.finish(.failure(CancellationError()))
            return false
        }
        if live.isEmpty { return }
        do {
            try store.write { core in
                outcomes.removeAll()
                for job in live {
                    if live.count == 1 {
                        // Alone: a failure aborts the transaction itself, no savepoint is needed.
                        try job.run(core).get()
                        outcomes.append(.success(()))
                    } else {
                        outcomes.append(Result { try core.savepoint { try job.run(core).get() } })
                    }
                }
            }
        } catch {
            // Nothing was committed, whatever a member of the group had reached.
            outcomes = live.map { _ in .failure(error) }
        }
        for (job, outcome) in zip(live, outcomes) { job.finish(outcome) }
    }
}
