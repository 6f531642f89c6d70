internal import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Tells a forked child from its parent without a system call each time: the child's counter has moved on.
enum ForkGuard {
    private static let forks = Atomic<Int>(0)
    private static let isInstalled: Bool = {
        pthread_atfork(nil, nil) { ForkGuard.forks.wrappingAdd(1, ordering: .relaxed) }
        return true
    }()

    /// Compare with what it was when the environment was opened.
    static var generation: Int {
        _ = isInstalled
        return forks.load(ordering: .relaxed)
    }
}
