/// How text is compared: exactly (the default: canonical equivalence, case and marks matter), or folded.
public struct TextOptions: OptionSet, Sendable, Hashable, Codable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `[c]`: full Unicode case folding, independent of locale.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `[d]`: combining marks are dropped after decomposition, in every script.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
    /// `[n]`: the strings are compared as their bytes are; overrides the other two.
    public static let normalized = TextOptions(rawValue: 4)
    /// `[l]`: accepted, and printed back; compares as without it, since results must not depend on a locale.
    public static let localeSensitive = TextOptions(rawValue: 8)
}
