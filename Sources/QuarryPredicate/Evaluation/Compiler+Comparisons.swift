import Foundation
import QuarryCoding

extension Compiler {
    mutating func compile(_ comparison: Comparison) throws(PredicateFailure) -> Test {
        if let fast = try fastTest(comparison) { return fast }
        let left = try compile(comparison.left)
        let right = try compile(comparison.right)
        let relate = try relation(comparison)
        return { view, context in try relate(left(view, context), right(view, context)) }
    }

    /// The comparison of two values.
    func relation(_ comparison: Comparison) throws(PredicateFailure) -> (Value, Value) throws -> Bool {
        let options = comparison.options
        let dialect = comparison.dialect
        let position = comparison.position
        switch comparison.relation {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            let relation = comparison.relation
            return { try Comparing.holds(relation, $0, $1, options, at: position) }
        case .between:
            return { value, bounds in
                guard case .array(let ends) = bounds, ends.count == 2 else {
                    throw PredicateFailure(.type, "BETWEEN takes a list of two bounds, as {1, 9}", at: position)
                }
                if value.isNil || ends[0].isNil || ends[1].isNil { return false }
                guard let low = try Comparing.order(ends[0], value, options, at: position),
                    let high = try Comparing.order(value, ends[1], options, at: position)
                else { return false }
                return low <= 0 && high <= 0
            }
        case .isIn: return { try Compiler.isMember($0, of: $1, options, dialect, position) }
        case .contains: return { try Compiler.isMember($1, of: $0, options, dialect, position) }
        case .beginsWith, .endsWith:
            let isPrefix = comparison.relation == .beginsWith
            return { try Compiler.isEnd($1, of: $0, isPrefix: isPrefix, options, dialect, position) }
        case .like: return like(comparison)
        case .matches: return try matches(comparison)
        }
    }

    /// IN and CONTAINS: an element of a collection, a value of a dictionary, a part of a text.
    static func isMember(
        _ value: Value, of whole: Value, _ options: TextOptions, _ dialect: Dialect, _ position: SourcePosition
    ) throws(PredicateFailure) -> Bool {
        switch whole {
        case .null: return false
        case .array(let elements), .set(let elements):
            if value.isNil, dialect == .format { return false }
            return elements.contains { Comparing.equal(value, $0, options) }
        case .object(let fields):
            if value.isNil { return false }
            return fields.pairs.contains { Comparing.equal(value, $0.value, options) }
        case .string(let text):
            if value.isNil { return false }
            guard case .string(let needle) = value else {
                throw PredicateFailure(.type, "\(FormatPrinter.shown(value)) cannot be part of a text", at: position)
            }
            if needle.isEmpty { return dialect == .swift }
            return TextMatching.contains(Comparing.form(text, options), Comparing.form(needle, options))
        case .data(let data):
            if value.isNil { return false }
            guard case .data(let needle) = value else {
                throw PredicateFailure(.type, "\(FormatPrinter.shown(value)) cannot be part of data", at: position)
            }
            return needle.isEmpty ? dialect == .swift : data.range(of: needle) != nil
        default:
            throw PredicateFailure(
                .type, "\(FormatPrinter.shown(whole)) is no list, set, dictionary or text to look into", at: position)
        }
    }

    static func isEnd(
        _ part: Value, of whole: Value, isPrefix: Bool, _ options: TextOptions, _ dialect: Dialect,
        _ position: SourcePosition
    ) throws(PredicateFailure) -> Bool {
        if part.isNil || whole.isNil { return false }
        switch (whole, part) {
        case (.string(let text), .string(let needle)):
            if needle.isEmpty { return dialect == .swift }
            let text = Comparing.form(text, options)
            let needle = Comparing.form(needle, options)
            return isPrefix ? TextMatching.begins(text, needle) : TextMatching.ends(text, needle)
        case (.data(let data), .data(let needle)):
            if needle.isEmpty { return dialect == .swift }
            return isPrefix ? data.starts(with: needle) : data.suffix(needle.count) == needle
        case (.array(let elements), .array(let needle)) where dialect == .swift:
            guard needle.count <= elements.count else { return false }
            let ends = isPrefix ? elements.prefix(needle.count) : elements.suffix(needle.count)
            return zip(ends, needle).allSatisfy { Comparing.equal($0, $1, options) }
        default:
            throw PredicateFailure(
                .type,
                "\(isPrefix ? "BEGINSWITH" : "ENDSWITH") works on text, not on \(FormatPrinter.shown(whole)) and \(FormatPrinter.shown(part))",
                at: position)
        }
    }

    private static func text(
        _ value: Value, _ name: String, _ position: SourcePosition
    ) throws(PredicateFailure) -> String? {
        if value.isNil { return nil }
        guard case .string(let text) = value else {
            throw PredicateFailure(.type, "\(name) works on text, not on \(FormatPrinter.shown(value))", at: position)
        }
        return text
    }

    private func like(_ comparison: Comparison) -> (Value, Value) throws -> Bool {
        let options = comparison.options
        let position = comparison.position
        var known: [TextMatching.Piece]?
        if case .string(let pattern)? = comparison.right.constantValue {
            known = TextMatching.pieces(Comparing.form(pattern, options))
        }
        let constant = known
        return { value, pattern in
            guard let text = try Compiler.text(value, "LIKE", position),
                let pattern = try Compiler.text(pattern, "LIKE", position)
            else { return false }
            let pieces = constant ?? TextMatching.pieces(Comparing.form(pattern, options))
            return TextMatching.like(Comparing.form(text, options), pieces)
        }
    }

    private func matches(_ comparison: Comparison) throws(PredicateFailure) -> (Value, Value) throws -> Bool {
        let options = comparison.options
        let position = comparison.position
        // `contains(/re/)` looks for a part, MATCHES at the whole.
        let finds = comparison.dialect == .swift
        var constant: RegularExpression?
        if case .string(let pattern)? = comparison.right.constantValue {
            constant = try RegularExpression.make(pattern, options, at: position)
        }
        var last: (pattern: String, expression: RegularExpression)?
        let known = constant
        return { value, pattern in
            guard let text = try Compiler.text(value, "MATCHES", position),
                let pattern = try Compiler.text(pattern, "MATCHES", position)
            else { return false }
            let expression: RegularExpression
            if let known {
                expression = known
            } else if let last, last.pattern == pattern {
                expression = last.expression
            } else {
                expression = try RegularExpression.make(pattern, options, at: position)
                last = (pattern, expression)
            }
            return finds ? try expression.finds(in: text) : try expression.matches(text)
        }
    }
}
