import Synchronization

/// Objects kept for their next use, each by one thread at a time.
///
/// Unchecked, because its elements are not Sendable: one is handed out by `take` and not kept here until `give` brings
/// it back, so that no two threads hold it.
final class Pool<Element: AnyObject>: @unchecked Sendable {
    private let lock = Mutex(())
    private var free: [Element] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func take() -> Element? { lock.withLock { _ in free.popLast() } }
    func give(_ element: Element) { lock.withLock { _ in if free.count < limit { free.append(element) } } }
}
