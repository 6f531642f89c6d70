/// A named table of an environment.
package struct Database: Hashable, Sendable {
    package let handle: UInt32
    /// Whether a key may have several values, kept in order.
    package let isDuplicates: Bool

    package init(handle: UInt32, isDuplicates: Bool) {
        self.handle = handle
        self.isDuplicates = isDuplicates
    }
}

/// How a put treats what is there.
package struct PutFlags: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The key must be new.
    package static let noOverwrite = PutFlags(rawValue: 0x10)
    /// The pair of key and value must be new.
    package static let noDuplicate = PutFlags(rawValue: 0x20)
    /// The key comes after all others.
    package static let append = PutFlags(rawValue: 0x20000)
    /// The value comes after all others of its key.
    package static let appendDuplicate = PutFlags(rawValue: 0x40000)
}

/// Sizes of one table.
package struct DatabaseStatistics: Sendable {
    package var entries: Int
    package var depth: Int
    package var branchPages: Int
    package var leafPages: Int
    package var overflowPages: Int
    package var pageSize: Int
    package var bytes: Int { (branchPages + leafPages + overflowPages) * pageSize }
}
