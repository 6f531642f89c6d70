import QuarryCoding
import QuarryPredicate

/// One key of a sort over stored rows.
package struct SortTerm: Hashable, Sendable {
    /// Coding keys from the row.
    package var path: [String]
    package var options: TextOptions
    package var descending: Bool
    /// Where rows without a value come in the output, whatever the direction.
    package var nilsLast: Bool

    package init(path: [String], options: TextOptions = [], descending: Bool = false, nilsLast: Bool = false) {
        self.path = path
        self.options = options
        self.descending = descending
        self.nilsLast = nilsLast
    }
}

/// What a query asks for, in stored terms.
package struct QuerySpecification: Sendable {
    /// Bound to the entity's fields; may hold `$variables`.
    package var condition: Condition
    package var sort: [SortTerm]
    package var offset: Int
    package var limit: Int?
    package var after: PageToken?

    package init(
        condition: Condition = .constant(true), sort: [SortTerm] = [], offset: Int = 0, limit: Int? = nil,
        after: PageToken? = nil
    ) {
        self.condition = condition
        self.sort = sort
        self.offset = offset
        self.limit = limit
        self.after = after
    }
}

/// The order a query's rows must come in: sort terms that matter, then ids.
struct RequiredOrder: Hashable, Sendable {
    /// Without terms that an earlier one makes meaningless.
    var terms: [SortTerm]
    var idsDescending: Bool

    /// Only the ids count.
    var isByID: Bool { terms.isEmpty }

    /// - Parameter idPath: a term on the id decides everything after it.
    init(_ sort: [SortTerm], idPath: [String]?) {
        terms = []
        idsDescending = false
        for term in sort {
            if term.path == idPath, term.options.folding.isEmpty {
                idsDescending = term.descending
                break
            }
            // A field that nobody has written yet orders nothing.
            if term.path.isEmpty { continue }
            if !terms.contains(where: { $0.path == term.path && $0.options.folding == term.options.folding }) {
                terms.append(term)
            }
        }
    }
}

extension TextOptions {
    /// What changes the text that is compared; `[n]` overrides, `[l]` changes nothing.
    var folding: TextOptions {
        contains(.normalized) ? [] : intersection([.caseInsensitive, .diacriticInsensitive])
    }
}
