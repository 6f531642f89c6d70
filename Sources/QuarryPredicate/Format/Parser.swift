import QuarryCoding

/// What a format text means, and what a reader may misread in it.
package struct ParsedFormat: Sendable {
    package var condition: Condition
    package var warnings: [String]
    /// `SORT`, `DISTINCT` and `LIMIT` behind the predicate, in order.
    package var suffixes: [FormatSuffix] = []
}

/// Parses a predicate in `NSPredicate`'s format language. Linear in the length of the text; arguments are values.
package func parseFormat(
    _ text: String, arguments: [(any Sendable)?], allowsSuffixes: Bool = false
) throws(PredicateFailure) -> ParsedFormat {
    do throws(PredicateFailure) {
        var parser = Parser(text, arguments)
        return try parser.parse(allowsSuffixes)
    } catch {
        throw error.located(in: text)
    }
}

/// A recursive descent over tokens with one token of look-ahead. A parenthesis is parsed once, into what may be a
/// predicate or an expression; the token behind it decides.
struct Parser {
    /// Parentheses, NOTs and calls inside one another. Each takes a few frames of the stack.
    static let depthLimit = 100
    /// Operators in one expression, which nest to the left.
    static let chainLimit = 200

    private var lexer: Lexer
    var token: Token
    private var pending: PredicateFailure?
    let arguments: [(any Sendable)?]
    var usedArguments = 0
    var depth = 0
    var warnings: [String] = []
    /// The variables of the SUBQUERYs around this place.
    var scope: [String: ElementVariable] = [:]
    var variableCount = 0

    enum Node {
        case predicate(Condition)
        case expression(Operand)
    }

    init(_ text: String, _ arguments: [(any Sendable)?]) {
        lexer = Lexer(text)
        self.arguments = arguments
        token = Token(kind: .end, position: SourcePosition(start: 0, end: 0))
        do throws(PredicateFailure) { token = try lexer.next() } catch { pending = error }
    }

    mutating func parse(_ allowsSuffixes: Bool) throws(PredicateFailure) -> ParsedFormat {
        if let pending { throw pending }
        let condition = try predicate()
        let suffixes = allowsSuffixes ? try suffixes() : []
        guard token.kind == .end else { throw unexpected("the end, AND or OR") }
        return ParsedFormat(condition: condition, warnings: warnings, suffixes: suffixes)
    }

    // MARK: Tokens

    mutating func advance() throws(PredicateFailure) { token = try lexer.next() }

    func at(_ symbol: Symbol) -> Bool { token.kind == .symbol(symbol) }

    mutating func take(_ symbol: Symbol) throws(PredicateFailure) -> Bool {
        guard at(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: Symbol) throws(PredicateFailure) {
        guard try take(symbol) else { throw unexpected(symbol.rawValue) }
    }

    /// The keyword here, in capitals; nil for anything else.
    var keyword: String? {
        guard case .word(let word, false) = token.kind, word.utf8.count <= 14 else { return nil }
        let upper = word.uppercased()
        return Parser.reserved.contains(upper) ? upper : nil
    }

    mutating func take(keyword word: String) throws(PredicateFailure) -> Bool {
        guard keyword == word else { return false }
        try advance()
        return true
    }

    static let reserved: Set<String> = [
        "AND", "OR", "NOT", "IN", "ALL", "ANY", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH",
        "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY",
        "SUBQUERY", "CAST", "FUNCTION", "TERNARY", "UNION", "INTERSECT", "INTERSECTION", "MINUS", "TRUEPREDICATE",
        "FALSEPREDICATE",
    ]

    func unexpected(_ wanted: String) -> PredicateFailure {
        let found =
            switch token.kind {
            case .end: "the text ends"
            case .word(let word, _): "there is \(word)"
            case .number(let value): "there is \(value)"
            case .text: "there is a text"
            case .symbol(let symbol): "there is \(symbol.rawValue)"
            case .variable(let name): "there is $\(name)"
            case .collectionOperator(let name): "there is @\(name)"
            case .format(let format): "there is %\(format)"
            }
        return PredicateFailure(.syntax, "\(found) where \(wanted) is expected", at: token.position)
    }

    mutating func enter() throws(PredicateFailure) {
        depth += 1
        if depth > Parser.depthLimit {
            throw PredicateFailure(.syntax, "nested more than \(Parser.depthLimit) deep", at: token.position)
        }
    }

    // MARK: Predicates

    mutating func predicate() throws(PredicateFailure) -> Condition {
        let start = token.position
        switch try node() {
        case .predicate(let condition): return condition
        case .expression:
            throw token.kind == .end || at(.close) || at(.comma)
                ? PredicateFailure(
                    .syntax, "an expression alone is no predicate; compare it with something",
                    at: SourcePosition(start: start.start, end: token.position.start))
                : unexpected("a comparison such as = or CONTAINS")
        }
    }

    /// A predicate or an expression: OR over AND over NOT over comparisons, in flat lists.
    mutating func node() throws(PredicateFailure) -> Node {
        try enter()
        defer { depth -= 1 }
        var ors: [Condition] = []
        var ands: [Condition] = []
        var mixedAt: SourcePosition?
        while true {
            let start = token.position
            var negations = 0
            while true {
                if at(.not) || keyword == "NOT" { try advance() } else { break }
                negations += 1
            }
            let first = try operandOrCondition()
            guard case .predicate(var condition) = first else {
                if negations == 0 && ors.isEmpty && ands.isEmpty && !isLogical { return first }
                throw unexpected("a comparison such as = or CONTAINS")
            }
            if negations % 2 == 1 { condition = .not(condition) }
            ands.append(condition)
            if at(.and) || keyword == "AND" {
                if !ors.isEmpty { mixedAt = start }
                try advance()
                continue
            }
            if at(.or) || keyword == "OR" {
                if ands.count > 1 { mixedAt = start }
                ors.append(joined(ands))
                ands = []
                try advance()
                continue
            }
            break
        }
        if let mixedAt, !ors.isEmpty {
            warnings.append(
                "AND binds tighter than OR here (offset \(mixedAt.start)); parentheses would make that plain")
        }
        let last = joined(ands)
        return .predicate(ors.isEmpty ? last : .any(ors + [last]))
    }

    private var isLogical: Bool { at(.and) || at(.or) || keyword == "AND" || keyword == "OR" }

    private func joined(_ parts: [Condition]) -> Condition { parts.count == 1 ? parts[0] : .all(parts) }

    /// One comparison, a constant predicate, a parenthesis, or an expression that something else compares.
    private mutating func operandOrCondition() throws(PredicateFailure) -> Node {
        let start = token.position
        switch keyword {
        case "TRUEPREDICATE":
            try advance()
            return .predicate(.constant(true))
        case "FALSEPREDICATE":
            try advance()
            return .predicate(.constant(false))
        case "ANY", "SOME": return try quantified(.any, start)
        case "ALL": return try quantified(.all, start)
        case "NONE": return try quantified(.none, start)
        default: break
        }
        switch try expressionOrNode() {
        case .predicate(let condition): return .predicate(condition)
        case .expression(let left):
            guard let (relation, options) = try relation() else { return .expression(left) }
            return .predicate(.compare(try comparison(left, relation, options, start)))
        }
    }

    private mutating func quantified(_ quantifier: Quantifier, _ start: SourcePosition) throws(PredicateFailure) -> Node
    {
        try advance()
        let left = try expression()
        guard let (relation, options) = try relation() else { throw unexpected("a comparison such as = or CONTAINS") }
        return .predicate(.quantified(quantifier, try comparison(left, relation, options, start)))
    }

    private mutating func comparison(
        _ left: Operand, _ relation: Relation, _ options: TextOptions, _ start: SourcePosition
    ) throws(PredicateFailure) -> Comparison {
        let right = try expression()
        return Comparison(
            left, relation, right, options: options, dialect: .format,
            position: SourcePosition(start: start.start, end: token.position.start))
    }

    /// The comparison operator here and its options; nil for none.
    private mutating func relation() throws(PredicateFailure) -> (Relation, TextOptions)? {
        let relation: Relation
        switch token.kind {
        case .symbol(.equal): relation = .equal
        case .symbol(.notEqual): relation = .notEqual
        case .symbol(.less): relation = .less
        case .symbol(.lessOrEqual): relation = .lessOrEqual
        case .symbol(.greater): relation = .greater
        case .symbol(.greaterOrEqual): relation = .greaterOrEqual
        default:
            switch keyword {
            case "IN": relation = .isIn
            case "CONTAINS": relation = .contains
            case "BEGINSWITH": relation = .beginsWith
            case "ENDSWITH": relation = .endsWith
            case "LIKE": relation = .like
            case "MATCHES": relation = .matches
            case "BETWEEN": relation = .between
            default: return nil
            }
        }
        try advance()
        guard at(.openBracket) else { return (relation, []) }
        if relation == .between { throw unexpected("a list of two bounds") }
        try advance()
        guard case .word(let letters, false) = token.kind, letters.utf8.count <= 8 else {
            throw unexpected("c, d, n or l")
        }
        var options: TextOptions = []
        for letter in letters.utf8 {
            switch letter | 0x20 {
            case UInt8(ascii: "c"): options.insert(.caseInsensitive)
            case UInt8(ascii: "d"): options.insert(.diacriticInsensitive)
            case UInt8(ascii: "n"): options.insert(.normalized)
            case UInt8(ascii: "l"): options.insert(.localeSensitive)
            default: throw unexpected("c, d, n or l")
            }
        }
        try advance()
        try expect(.closeBracket)
        return (relation, options)
    }
}
