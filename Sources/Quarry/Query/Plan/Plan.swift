import QuarryCoding
import QuarryPredicate

/// How a query runs: made once, usable by any thread and transaction while the entity's tables stay the same.
package final class Plan: Sendable {
    package let table: EntityTable
    package let specification: QuerySpecification
    let order: RequiredOrder
    /// No sort term can tell two matching rows apart, so only the ids count.
    let isByID: Bool
    /// The whole condition, with NOT pushed inwards.
    let condition: Condition
    let strategy: Strategy
    /// Runs when a variable's value cannot be looked up, or when the index turns out to reach too many rows.
    let fallback: Strategy
    /// An access that holds exactly the rows that match, for counts.
    let counting: Strategy?
    let variables: Set<String>
    /// Rows of the table when the plan was made.
    let rows: Double
    /// Rows expected to match.
    let matches: Double
    /// Nothing in the condition is tied to one run.
    let keepsMatchers: Bool
    /// Compiled conditions that wait for their next run.
    let matchers = Pool<Matcher>(limit: 4)

    init(
        table: EntityTable, specification: QuerySpecification, order: RequiredOrder, isByID: Bool, condition: Condition,
        strategy: Strategy, fallback: Strategy, counting: Strategy?, rows: Double, matches: Double
    ) {
        self.table = table
        self.specification = specification
        self.order = order
        self.isByID = isByID
        self.condition = condition
        self.strategy = strategy
        self.fallback = fallback
        self.counting = counting
        self.rows = rows
        self.matches = matches
        variables = QuarryPredicate.variables(in: condition)
        keepsMatchers = !condition.needsFreshMatcher
    }

    /// Whether the table has changed so much since that planning again may find something better.
    package func isOutdated(_ core: TransactionCore) throws -> Bool {
        let now = Double(try core.transaction.entryCount(table.database))
        return max(now, rows) > Planner.leastRows && (now > rows * 4 || now < rows / 4)
    }

    var offset: Int { specification.offset }
    var limit: Int? { specification.limit }
}

/// Where rows come from, what is still to be checked, and whether they arrive in order.
struct Strategy: Sendable {
    enum Source: Sendable {
        /// In the order of the ids, in either direction.
        case access(Access)
        /// In the order of an index.
        case walk(IndexWalkPlan)
    }
    var source: Source
    /// What rows are checked for; nil when the source holds matches only.
    var residual: Condition?
    /// Whether the residual counts on keys that were not cut. A value that breaks this brings back the whole condition.
    var assumesExact: Bool
    /// Whether the rows arrive in the order asked for.
    var isOrdered: Bool
    /// Rows expected to be read.
    var reads: Double
    var cost: Double
}

/// Rows in the order of an index.
struct IndexWalkPlan: Sendable {
    var index: IndexTable
    /// Limits the walk; nil means the whole index.
    var access: IndexAccess?
    var isReversed: Bool
    /// For components held constant by `access`, nil; for the others the sort term that they deliver.
    var terms: [Int?]
    /// Rows that agree in the first `terms.count` components lie under several keys.
    var groupsKeys: Bool
    /// The component whose nils come first in the index but last in the output, or the other way round.
    var splitsNils: Bool
    var nilsLast: Bool
    var idsDescending: Bool

    /// The components before the first that is sorted by.
    var fixed: Int { terms.prefix { $0 == nil }.count }
}
