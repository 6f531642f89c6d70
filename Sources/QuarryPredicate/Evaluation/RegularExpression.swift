import Foundation
import QuarryCoding

/// A regular expression over a whole text, with a bound on what it may cost.
///
/// Unchecked, since NSRegularExpression is immutable and documented to be safe from several threads.
final class RegularExpression: @unchecked Sendable {
    private let expression: NSRegularExpression
    private let options: TextOptions
    private let isEmpty: Bool
    private let position: SourcePosition
    private let pattern: String

    /// ICU reports progress after a fixed number of steps; this many reports are allowed for one text.
    private static let reportLimit = 500
    private static let lengthLimit = 20_000
    private static let depthLimit = 200

    /// - Throws: `PredicateFailure.pattern` for what is no pattern, or too large a one.
    static func make(
        _ pattern: String, _ options: TextOptions, at position: SourcePosition
    ) throws(PredicateFailure) -> RegularExpression {
        try RegularExpression(pattern, options, position)
    }

    private init(_ pattern: String, _ options: TextOptions, _ position: SourcePosition) throws(PredicateFailure) {
        self.options = options
        self.position = position
        self.pattern = pattern
        isEmpty = pattern.isEmpty
        guard pattern.utf8.count <= Self.lengthLimit, Self.depth(pattern) <= Self.depthLimit else {
            throw PredicateFailure(
                .pattern,
                "the pattern is longer than \(Self.lengthLimit) bytes or nested deeper than \(Self.depthLimit)",
                at: position)
        }
        var folded = pattern
        if options.contains(.diacriticInsensitive) && !options.contains(.normalized) {
            folded = TextFolding.folded(pattern, .diacriticInsensitive)
        }
        let isInsensitive = options.contains(.caseInsensitive) && !options.contains(.normalized)
        do {
            expression = try NSRegularExpression(
                pattern: "(?:\(TextFolding.composed(folded)))\\z", options: isInsensitive ? .caseInsensitive : [])
        } catch {
            throw PredicateFailure(.pattern, "\"\(pattern.prefix(60))\" is no regular expression", at: position)
        }
    }

    private static func depth(_ pattern: String) -> Int {
        var depth = 0
        var deepest = 0
        var isEscaped = false
        for byte in pattern.utf8 {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "(") {
                depth += 1
                deepest = max(deepest, depth)
            } else if byte == UInt8(ascii: ")") {
                depth -= 1
            }
        }
        return deepest
    }

    /// Whether the whole text matches.
    ///
    /// - Throws: `PredicateFailure.pattern` when the pattern needs too much work on this text.
    func matches(_ text: String) throws(PredicateFailure) -> Bool {
        try run(text, isAnchored: true)
    }

    /// Whether some part of the text matches.
    func finds(in text: String) throws(PredicateFailure) -> Bool { try run(text, isAnchored: false) }

    private func run(_ text: String, isAnchored: Bool) throws(PredicateFailure) -> Bool {
        if isEmpty { return false }
        let subject =
            options.contains(.normalized)
            ? TextFolding.composed(text)
            : TextFolding.folded(text, options.intersection(.diacriticInsensitive))
        var reports = 0
        var found = false
        var gaveUp = false
        expression.enumerateMatches(
            in: subject, options: isAnchored ? [.reportProgress, .anchored] : [.reportProgress],
            range: NSRange(location: 0, length: subject.utf16.count)
        ) { match, flags, stop in
            if match != nil {
                found = true
                stop.pointee = true
            } else if flags.contains(.progress) {
                reports += 1
                if reports > Self.reportLimit {
                    gaveUp = true
                    stop.pointee = true
                }
            } else if flags.contains(.internalError) {
                gaveUp = true
                stop.pointee = true
            }
        }
        if gaveUp && !found {
            throw PredicateFailure(
                .pattern,
                "the pattern \"\(pattern.prefix(60))\" needs too much work on a text of \(text.utf8.count) bytes",
                at: position)
        }
        return found
    }
}
