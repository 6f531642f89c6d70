/// What the coding layer throws. The store adds entity and id and turns it into its public error.
package enum CodingFailure: Error, Equatable, Sendable {
    /// The row ends early, names a shape nobody knows, or an offset points outside it.
    case corruptRow(String)
    /// A key would pass LMDB's limit.
    case keyTooLong(bytes: Int, limit: Int)
    /// A value that no key can hold (an array as an id, say).
    case notAKey(String)
    /// More shapes or fields than the format can number.
    case tooMany(String)
}
