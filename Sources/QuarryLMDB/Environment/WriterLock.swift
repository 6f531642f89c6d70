#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One writer of this process at a time, with a timeout, and a clear answer to a thread that asks twice.
///
/// LMDB's own lock hangs for ever in both cases. Unchecked, because the pthread objects are at fixed addresses and
/// `owner` is only touched under the mutex.
final class WriterLock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var owner: pthread_t?

    init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// - Parameter timeout: seconds; nil waits for ever.
    func lock(timeout: Double?) throws(LMDBError) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if let owner, pthread_equal(owner, pthread_self()) != 0 {
            throw LMDBError(.nestedWrite, "this thread is in a write transaction already", operation: "begin write")
        }
        var deadline = timespec()
        if let timeout {
            clock_gettime(CLOCK_REALTIME, &deadline)
            let whole = min(max(timeout, 0), 1e9)
            deadline.tv_sec += Int(whole)
            deadline.tv_nsec += Int((whole - Double(Int(whole))) * 1e9)
            if deadline.tv_nsec >= 1_000_000_000 {
                deadline.tv_nsec -= 1_000_000_000
                deadline.tv_sec += 1
            }
        }
        while owner != nil {
            if timeout == nil {
                pthread_cond_wait(condition, mutex)
            } else if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT, owner != nil {
                throw LMDBError(.busy, "another write is still running", operation: "begin write")
            }
        }
        owner = pthread_self()
    }

    func unlock() {
        pthread_mutex_lock(mutex)
        owner = nil
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }
}
