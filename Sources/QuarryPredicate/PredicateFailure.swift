import QuarryCoding

/// What is wrong with a predicate, and where in its text.
package struct PredicateFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The text does not parse.
        case syntax
        /// An argument is missing or does not fit its specifier.
        case argument
        case unknownField
        /// Types that cannot be compared, or a constant that does not fit its field.
        case type
        /// What a store cannot mean, such as `FUNCTION`.
        case unsupported
        /// A bad regular expression, or one that needs too much work.
        case pattern
        /// A `$variable` without a value.
        case variable
        /// Overflow, division by zero, a forced unwrap of nil, an index out of range: while a row is looked at.
        case arithmetic
    }
    package var kind: Kind
    package var message: String
    package var position: SourcePosition
    package var text: String?

    package init(_ kind: Kind, _ message: String, at position: SourcePosition = .none, in text: String? = nil) {
        self.kind = kind
        self.message = message
        self.position = position
        self.text = text
    }

    /// The same failure, pointing into `text` unless it points somewhere already.
    package func located(in text: String?) -> PredicateFailure {
        var copy = self
        if copy.text == nil { copy.text = text }
        return copy
    }

    /// Message, the line of the text, and a caret under the place. Long lines are cut around it.
    package var description: String {
        guard let text, position.start >= 0 else { return message }
        let utf8 = Array(text.utf8)
        let place = min(position.start, utf8.count)
        let before = utf8[..<place]
        let lineStart = before.lastIndex(of: 10).map { $0 + 1 } ?? 0
        let lineEnd = utf8[place...].firstIndex(of: 10) ?? utf8.count
        var lead = String(decoding: utf8[lineStart..<place], as: UTF8.self)
        var tail = String(decoding: utf8[place..<lineEnd], as: UTF8.self)
        if lead.count > 60 { lead = "…" + lead.suffix(59) }
        if tail.count > 60 { tail = tail.prefix(59) + "…" }
        let indent = String(lead.map { $0 == "\t" ? "\t" : " " })
        return "\(message) (at offset \(position.start))\n\(lead)\(tail)\n\(indent)^"
    }
}
