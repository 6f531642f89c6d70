/// How a store is opened.
public struct StoreOptions: Sendable {
    /// How safe a commit is when the machine (not only the process) goes down.
    public enum Durability: Sendable {
        /// A commit is on the medium when the call returns. The default.
        case full
        /// A commit may be lost when the machine goes down, but the store stays whole.
        case relaxed
        /// The system writes when it likes: a crash of the machine may damage the store. For data that can be made again.
        case none
    }

    /// Who may do what.
    public enum Access: Sendable {
        case readWrite
        /// No write; nothing is created. The lock file must be writable, or there (read-only media work without).
        case readOnly
        /// No write and no lock, for a file that nobody changes while it is open, such as a bundled resource. With a
        /// writer around, reads may see damage.
        case immutable
    }

    public var access: Access
    public var durability: Durability
    /// The largest size of the file, in bytes: address space, not disk. Reaching it is `QuarryError.storeFull`.
    public var maximumSize: Int
    /// Readers at one time, over all processes.
    public var maximumReaders: Int
    /// How long a write waits for another writer of this process, in seconds; nil waits for ever.
    public var writeTimeout: Double?
    /// Bytes of rows and index entries a write keeps in memory, each, before it puts them.
    public var bufferSize: Int
    /// Whether a missing file is created.
    public var createsFile: Bool

    public init(
        access: Access = .readWrite, durability: Durability = .full, maximumSize: Int = 1 << 40,
        maximumReaders: Int = 1024, writeTimeout: Double? = nil, bufferSize: Int = 64 << 20, createsFile: Bool = true
    ) {
        self.access = access
        self.durability = durability
        self.maximumSize = maximumSize
        self.maximumReaders = maximumReaders
        self.writeTimeout = writeTimeout
        self.bufferSize = bufferSize
        self.createsFile = createsFile
    }
}
