import QuarryCoding

/// What may follow a predicate in a query's text, applied from left to right.
package enum FormatSuffix: Sendable, Equatable {
    /// `SORT(path ASC, path DESC)`.
    case sort([(path: [String], ascending: Bool)])
    /// `DISTINCT(path, path)`: the first row of each group stays.
    case distinct([[String]])
    /// `LIMIT(n)`.
    case limit(Int)

    package static func == (a: FormatSuffix, b: FormatSuffix) -> Bool {
        switch (a, b) {
        case (.sort(let x), .sort(let y)): x.elementsEqual(y) { $0.path == $1.path && $0.ascending == $1.ascending }
        case (.distinct(let x), .distinct(let y)): x == y
        case (.limit(let x), .limit(let y)): x == y
        default: false
        }
    }
}

extension Parser {
    mutating func suffixes() throws(PredicateFailure) -> [FormatSuffix] {
        var result: [FormatSuffix] = []
        while case .word(let name, false) = token.kind {
            switch name.uppercased() {
            case "SORT":
                try advance()
                try expect(.open)
                var terms: [(path: [String], ascending: Bool)] = []
                repeat {
                    let path = try suffixPath()
                    guard case .word(let direction, false) = token.kind else { throw unexpected("ASC or DESC") }
                    switch direction.uppercased() {
                    case "ASC", "ASCENDING": terms.append((path, true))
                    case "DESC", "DESCENDING": terms.append((path, false))
                    default: throw unexpected("ASC or DESC")
                    }
                    try advance()
                } while try take(.comma)
                try expect(.close)
                result.append(.sort(terms))
            case "DISTINCT":
                try advance()
                try expect(.open)
                var paths: [[String]] = []
                repeat { paths.append(try suffixPath()) } while try take(.comma)
                try expect(.close)
                result.append(.distinct(paths))
            case "LIMIT":
                try advance()
                try expect(.open)
                guard case .number(.int(let count)) = token.kind else { throw unexpected("a whole number") }
                try advance()
                try expect(.close)
                result.append(.limit(Int(count)))
            default: throw unexpected("AND, OR, SORT, DISTINCT or LIMIT")
            }
        }
        return result
    }

    private mutating func suffixPath() throws(PredicateFailure) -> [String] {
        var path: [String] = []
        repeat {
            guard case .word(let name, _) = token.kind else { throw unexpected("a key") }
            try advance()
            path.append(name)
        } while try take(.dot)
        return path
    }
}
