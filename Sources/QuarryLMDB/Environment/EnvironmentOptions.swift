/// How an environment is opened.
package struct EnvironmentOptions: Sendable {
    package enum Mode: Sendable {
        case readWrite, readOnly
        /// Read without any lock: only right while nobody writes.
        case immutable
    }

    package enum Durability: Sendable {
        case full
        /// The meta page is not synced: a commit may be lost with the machine, the file stays whole.
        case noMetaSync
        /// Nothing is synced.
        case noSync
    }

    /// Address space to reserve, in bytes; halved until the system grants it.
    package var maximumSize = 1 << 40
    package var maximumReaders = 1024
    package var maximumDatabases = 1024
    package var mode = Mode.readWrite
    package var durability = Durability.full
    package var createsFile = true

    package init() {}
}

/// Sizes and readers of an environment.
package struct EnvironmentStatistics: Sendable {
    /// Bytes a page.
    package var pageSize: Int
    /// Bytes of address space reserved.
    package var mapSize: Int
    /// Bytes of the file.
    package var fileSize: Int
    /// Pages in use or free.
    package var pages: Int
    /// Pages that later commits may use again.
    package var freePages: Int
    package var lastTransaction: UInt64
    package var readers: Int
    package var maximumReaders: Int
    /// The commit that the oldest running snapshot sees; nil when none runs.
    package var oldestReader: UInt64?
}
