import QuarryCoding

extension Parser {
    mutating func expression() throws(PredicateFailure) -> Operand {
        let start = token.position
        switch try expressionOrNode() {
        case .expression(let operand): return operand
        case .predicate:
            throw PredicateFailure(
                .syntax, "a predicate stands where a value is expected",
                at: SourcePosition(start: start.start, end: token.position.start))
        }
    }

    /// The binary operator here and how tight it binds.
    private var binary: (function: Function, binding: Int)? {
        switch token.kind {
        case .symbol(.plus): (.add, 2)
        case .symbol(.minus): (.subtract, 2)
        case .symbol(.times): (.multiply, 3)
        case .symbol(.divide): (.divide, 3)
        default:
            switch keyword {
            case "UNION": (.union, 1)
            case "INTERSECT", "INTERSECTION": (.intersect, 1)
            case "MINUS": (.minus, 1)
            default: nil
            }
        }
    }

    /// Operators over unary terms, by how tight they bind; a parenthesis alone may turn out to be a predicate.
    mutating func expressionOrNode() throws(PredicateFailure) -> Node {
        let first = try unary()
        guard case .expression(let operand) = first else {
            if binary != nil { throw unexpected("AND, OR or the end, after a predicate") }
            return first
        }
        var values = [operand]
        var operators: [(function: Function, binding: Int, position: SourcePosition)] = []
        var count = 0
        func reduce(
            _ values: inout [Operand], _ operators: inout [(function: Function, binding: Int, position: SourcePosition)]
        ) {
            guard let last = operators.popLast(), let right = values.popLast(), let left = values.popLast() else {
                return
            }
            values.append(.call(last.function, [left, right], dialect: .format, last.position))
        }
        while let (function, binding) = binary {
            count += 1
            if count > Parser.chainLimit {
                throw PredicateFailure(
                    .syntax, "an expression of more than \(Parser.chainLimit) operators", at: token.position)
            }
            let position = token.position
            try advance()
            while let last = operators.last, last.binding >= binding { reduce(&values, &operators) }
            operators.append((function, binding, position))
            guard case .expression(let next) = try unary() else { throw unexpected("a value") }
            values.append(next)
        }
        while !operators.isEmpty { reduce(&values, &operators) }
        return .expression(values[0])
    }

    /// Minus signs, then a power.
    private mutating func unary() throws(PredicateFailure) -> Node {
        var signs = 0
        let position = token.position
        while at(.minus) {
            try advance()
            signs += 1
        }
        let base = try postfix()
        guard case .expression(var operand) = base else {
            if signs > 0 || at(.power) { throw unexpected("a value") }
            return base
        }
        var count = 0
        while at(.power) {
            count += 1
            if count > Parser.chainLimit { throw unexpected("fewer than \(Parser.chainLimit) powers") }
            let place = token.position
            try advance()
            let isNegative = try take(.minus)
            guard case .expression(var exponent) = try postfix() else { throw unexpected("a value") }
            if isNegative { exponent = negated(exponent, place) }
            operand = .call(.raise, [operand, exponent], dialect: .format, place)
        }
        if signs % 2 == 1 { operand = negated(operand, position) }
        return .expression(operand)
    }

    private func negated(_ operand: Operand, _ position: SourcePosition) -> Operand {
        if case .constant(let constant) = operand {
            let place = SourcePosition(start: position.start, end: constant.position.end)
            switch constant.value {
            case .int(let number) where number != .min: return .constant(Constant(.int(-number), position: place))
            case .uint(let number) where number == UInt64(Int64.max) + 1:
                return .constant(Constant(.int(.min), position: place))
            case .double(let number): return .constant(Constant(.double(-number), position: place))
            case .decimal(let number): return .constant(Constant(.decimal(-number), position: place))
            default: break
            }
        }
        return .call(.negate, [operand], dialect: .format, position)
    }

    // MARK: Postfix

    /// An atom and the path, subscripts and operators behind it.
    private mutating func postfix() throws(PredicateFailure) -> Node {
        let first = try atom()
        guard case .expression(var operand) = first else { return first }
        var count = 0
        while at(.dot) || at(.openBracket) {
            count += 1
            if count > Parser.chainLimit { throw unexpected("a path of fewer than \(Parser.chainLimit) steps") }
            let position = token.position
            if try take(.dot) {
                operand = try component(operand, position)
            } else {
                try advance()
                operand = try subscripted(operand, position)
            }
        }
        return .expression(operand)
    }

    private mutating func component(_ base: Operand, _ position: SourcePosition) throws(PredicateFailure) -> Operand {
        let place = token.position
        switch token.kind {
        case .word(let name, let isEscaped):
            try advance()
            if !isEscaped, name.uppercased() == "SELF", case .field = base { return base }
            return step(base, key: name, place)
        case .collectionOperator(let name):
            try advance()
            return try collection(base, name, place)
        case .format("K"):
            try advance()
            var operand = base
            for part in try keyPathArgument(place) { operand = try step(operand, part: part, place) }
            return operand
        default: throw unexpected("a key")
        }
    }

    func step(_ base: Operand, key: String, _ position: SourcePosition) -> Operand {
        if case .field(let path) = base {
            return .field(
                FieldPath(
                    path.steps + [key],
                    position: SourcePosition(
                        start: path.steps.isEmpty ? position.start : path.position.start, end: position.end)))
        }
        return .step(base, .key(key), position)
    }

    /// A component of a `%K` path.
    func step(_ base: Operand, part: String, _ position: SourcePosition) throws(PredicateFailure) -> Operand {
        if case .step(let inner, .collection(let name, let path), let place) = base {
            let isSelf = part == "self" || part == "SELF"
            return .step(inner, .collection(name, path: isSelf ? path : path + [part]), place)
        }
        if part.hasPrefix("@") {
            guard let found = Parser.collectionOperator(String(part.dropFirst())) else {
                throw PredicateFailure(.syntax, "\(part) is no collection operator", at: position)
            }
            return .step(base, .collection(found, path: []), position)
        }
        return step(base, key: part, position)
    }

    static func collectionOperator(_ name: String) -> CollectionOperator? {
        name == "size" ? .count : CollectionOperator(rawValue: name)
    }

    /// `@sum.price`: the keys behind the operator belong to it.
    private mutating func collection(
        _ base: Operand, _ name: String, _ position: SourcePosition
    ) throws(PredicateFailure) -> Operand {
        guard let found = Parser.collectionOperator(name) else {
            throw PredicateFailure(.syntax, "@\(name) is no collection operator", at: position)
        }
        var path: [String] = []
        var hasKey = false
        while found != .count, at(.dot) {
            try advance()
            let place = token.position
            switch token.kind {
            case .word(let key, _):
                try advance()
                if key.uppercased() != "SELF" { path.append(key) }
            case .format("K"):
                try advance()
                path += try keyPathArgument(place)
            case .collectionOperator(let inner):
                // `@distinctUnionOfObjects.kind.@count`: the next operator works on what this one gives.
                try advance()
                let result = Operand.step(base, .collection(found, path: path), position)
                return try collection(result, inner, place)
            default: throw unexpected("a key")
            }
            hasKey = true
        }
        if found != .count && !hasKey {
            throw PredicateFailure(
                .syntax, "@\(name) needs a key after it; @\(name).self takes the elements", at: position)
        }
        return .step(base, .collection(found, path: path), position)
    }

    private mutating func subscripted(_ base: Operand, _ position: SourcePosition) throws(PredicateFailure) -> Operand {
        let step: Step
        switch keyword {
        case "FIRST": step = .first
        case "LAST": step = .last
        case "SIZE": step = .size
        default:
            try enter()
            defer { depth -= 1 }
            let index = try expression()
            try expect(.closeBracket)
            return .step(base, .subscripted(index, dialect: .format), position)
        }
        try advance()
        try expect(.closeBracket)
        return .step(base, step, position)
    }

    // MARK: Atoms

    private mutating func atom() throws(PredicateFailure) -> Node {
        let position = token.position
        switch token.kind {
        case .number(let value):
            try advance()
            return .expression(.constant(Constant(value, position: position)))
        case .text(let text):
            try advance()
            return .expression(.constant(Constant(.string(text), position: position)))
        case .variable(let name):
            try advance()
            if let element = scope[name] { return .expression(.element(element)) }
            return .expression(.variable(name, position))
        case .format(let format):
            try advance()
            return .expression(try argument(format, position))
        case .collectionOperator(let name):
            try advance()
            return .expression(try collection(.field(FieldPath([], position: position)), name, position))
        case .symbol(.openBrace): return .expression(try list(position))
        case .symbol(.open):
            try advance()
            let inner = try node()
            try expect(.close)
            return inner
        case .word(let name, let isEscaped):
            if !isEscaped, let keyword { return .expression(try keyworded(keyword, position)) }
            try advance()
            if !isEscaped, at(.open) || at(.colon) { return .expression(try function(name, position)) }
            return .expression(.field(FieldPath([name], position: position)))
        default: throw unexpected("a value")
        }
    }

    private mutating func keyworded(_ keyword: String, _ position: SourcePosition) throws(PredicateFailure) -> Operand {
        func constant(_ value: Value) -> Operand { .constant(Constant(value, position: position)) }
        switch keyword {
        case "NULL", "NIL":
            try advance()
            return constant(.null)
        case "TRUE", "YES":
            try advance()
            return constant(.bool(true))
        case "FALSE", "NO":
            try advance()
            return constant(.bool(false))
        case "SELF":
            try advance()
            return .field(FieldPath([], position: position))
        case "SUBQUERY": return try subquery()
        case "TERNARY": return try ternary()
        case "CAST": return try cast(position)
        case "ANYKEY":
            throw PredicateFailure(.unsupported, "ANYKEY has no meaning in a store", at: position)
        case "FUNCTION":
            throw PredicateFailure(
                .unsupported, "FUNCTION sends messages to objects, which a store does not have", at: position)
        default: throw unexpected("a value; the field of that name is written #\(keyword.lowercased())")
        }
    }

    private mutating func list(_ position: SourcePosition) throws(PredicateFailure) -> Operand {
        try enter()
        defer { depth -= 1 }
        try advance()
        var items: [Operand] = []
        if !at(.closeBrace) {
            repeat { items.append(try expression()) } while try take(.comma)
        }
        let end = token.position.end
        try expect(.closeBrace)
        // A list of constants is a constant: one value to look up in.
        let values = items.compactMap { item -> Value? in
            if case .constant(let constant) = item { constant.value } else { nil }
        }
        if values.count == items.count {
            return .constant(
                Constant(.array(values), position: SourcePosition(start: position.start, end: end)))
        }
        return .list(items)
    }

    private mutating func subquery() throws(PredicateFailure) -> Operand {
        try enter()
        defer { depth -= 1 }
        try advance()
        try expect(.open)
        let collection = try expression()
        try expect(.comma)
        guard case .variable(let name) = token.kind else { throw unexpected("a variable such as $x") }
        if scope[name] != nil {
            throw PredicateFailure(.syntax, "$\(name) is in use by a SUBQUERY around this one", at: token.position)
        }
        try advance()
        try expect(.comma)
        variableCount += 1
        let variable = ElementVariable(id: variableCount, name: name)
        scope[name] = variable
        let condition = try predicate()
        scope[name] = nil
        try expect(.close)
        return .subquery(of: collection, variable: variable, where: condition)
    }

    private mutating func ternary() throws(PredicateFailure) -> Operand {
        try enter()
        defer { depth -= 1 }
        try advance()
        try expect(.open)
        let test = try predicate()
        try expect(.comma)
        let first = try expression()
        try expect(.comma)
        let second = try expression()
        try expect(.close)
        return .ternary(test, first, second)
    }

    private mutating func cast(_ position: SourcePosition) throws(PredicateFailure) -> Operand {
        try enter()
        defer { depth -= 1 }
        try advance()
        try expect(.open)
        let value = try expression()
        try expect(.comma)
        guard case .text(let type) = token.kind else { throw unexpected("the type's name in quotes") }
        guard let target = CastTarget(rawValue: type) else {
            let known = CastTarget.allCases.map(\.rawValue).joined(separator: ", ")
            throw PredicateFailure(
                .unsupported, "CAST to \(type) is not known; there is \(known)", at: token.position)
        }
        let typed = Operand.constant(Constant(.string(type), position: token.position))
        try advance()
        let end = token.position.end
        try expect(.close)
        // Dates, UUIDs and the like have no literals of their own.
        if case .constant(let constant) = value, let result = target.convert(constant.value), !result.isNil {
            return .constant(Constant(result, position: SourcePosition(start: position.start, end: end)))
        }
        return .call(.cast, [value, typed], dialect: .format, position)
    }

    /// `name(…)`, `name:(…)` or `name:name:(…)`.
    private mutating func function(_ first: String, _ position: SourcePosition) throws(PredicateFailure) -> Operand {
        try enter()
        defer { depth -= 1 }
        var name = first
        while try take(.colon) {
            name += ":"
            if case .word(let part, _) = token.kind {
                name += part
                try advance()
                if !at(.colon) { throw unexpected(":") }
            }
        }
        try expect(.open)
        var operands: [Operand] = []
        if !at(.close) {
            repeat { operands.append(try expression()) } while try take(.comma)
        }
        try expect(.close)
        let names = Parser.functions
        guard let function = names[name] ?? names[name + ":"] else {
            let refused = ["random", "randomn", "distanceToLocation:fromLocation"]
            throw PredicateFailure(
                refused.contains(where: name.hasPrefix) ? .unsupported : .syntax,
                refused.contains(where: name.hasPrefix)
                    ? "\(name) would give other rows each time" : "there is no function \(name)", at: position)
        }
        let count = Parser.argumentCount(function)
        guard count.contains(operands.count) else {
            throw PredicateFailure(
                .syntax,
                "\(name) takes \(count.lowerBound) value\(count.lowerBound == 1 ? "" : "s"), not \(operands.count)",
                at: position)
        }
        return .call(function, operands, dialect: .format, position)
    }

    /// The functions that the language can call.
    static let functions: [String: Function] = {
        var names: [String: Function] = [:]
        let excluded: [Function] = [
            .cast, .union, .intersect, .minus, .coalesce, .remainder, .floatDivide, .rangeContains,
            .closedRangeContains,
        ]
        for function in Function.allCases where !excluded.contains(function) { names[function.rawValue] = function }
        return names
    }()

    static func argumentCount(_ function: Function) -> ClosedRange<Int> {
        switch function {
        case .now: 0...0
        case .sum, .count, .min, .max, .average, .median, .mode, .stddev: 1...100_000
        case .sqrt, .log, .ln, .exp, .floor, .ceiling, .abs, .trunc, .onesComplement, .uppercase, .lowercase, .length,
            .canonical, .noindex, .negate:
            1...1
        default: 2...2
        }
    }
}
