#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// How deep this thread is in `read` closures, so that a write begun inside one is refused instead of running against
/// a snapshot that hides it.
enum ReadDepth {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    static var current: Int { Int(bitPattern: pthread_getspecific(key)) }

    static func enter() { pthread_setspecific(key, UnsafeRawPointer(bitPattern: current + 1)) }
    static func leave() { pthread_setspecific(key, UnsafeRawPointer(bitPattern: current - 1)) }
}
