public import Foundation

/// What to fetch: which rows, in what order, how many.
///
/// Filtering comes first, then sorting, then the offset, then the limit.
public struct FetchDescriptor<E: Entity>: Sendable {
    /// Which rows; nil means all.
    public var filter: Filter<E>?
    /// The sort, most significant key first. Without one, rows come in the order of their ids.
    public var sortBy: [SortKey<E>]
    /// At most so many rows; nil means all, 0 none. Negative is an error when the query runs.
    public var fetchLimit: Int?
    /// Rows to leave out at the start. Negative is an error when the query runs.
    public var fetchOffset: Int
    /// Where the previous page ended, for pages that stay right while rows come and go.
    public var continuation: PageToken?
    /// What to do with a row that does not decode.
    public var undecodable: UndecodablePolicy = .fail
    package var unsupportedSort: String?

    /// With Foundation's predicate and sort descriptors, as SwiftData has them.
    public init(
        predicate: Predicate<E>? = nil, sortBy: [SortDescriptor<E>] = [], fetchLimit: Int? = nil, fetchOffset: Int = 0
    ) {
        filter = predicate.map { Filter($0) }
        self.sortBy = []
        self.fetchLimit = fetchLimit
        self.fetchOffset = fetchOffset
        for descriptor in sortBy {
            guard let path = descriptor.keyPath else {
                unsupportedSort = "a SortDescriptor without a key path"
                continue
            }
            if let comparator = descriptor.stringComparator, comparator != .lexical {
                unsupportedSort = "a localized SortDescriptor; use SortKey, which means the same everywhere"
            }
            let direction: Direction = descriptor.order == .forward ? .ascending : .descending
            // Foundation sorts nil before every value, and after them in reverse.
            let nils: NilOrder = descriptor.order == .forward ? .first : .last
            self.sortBy.append(SortKey(target: .keyPath(SendableKeyPath(path)), direction, [], nils: nils))
        }
    }

    /// With a filter, which composes and can come from text, and sort keys.
    public init(filter: Filter<E>, sortBy: [SortKey<E>] = [], fetchLimit: Int? = nil, fetchOffset: Int = 0) {
        self.filter = filter
        self.sortBy = sortBy
        self.fetchLimit = fetchLimit
        self.fetchOffset = fetchOffset
    }

    /// All rows in the order of the sort keys.
    public init(sortBy: [SortKey<E>], fetchLimit: Int? = nil, fetchOffset: Int = 0) {
        self.sortBy = sortBy
        self.fetchLimit = fetchLimit
        self.fetchOffset = fetchOffset
    }

    /// The same query from where a page ended. The token must come from a query with the same sort.
    public func after(_ token: PageToken?) -> FetchDescriptor {
        var copy = self
        copy.continuation = token
        return copy
    }
}

/// What a fetch does with a stored row that the Swift type cannot read.
public enum UndecodablePolicy: Sendable {
    /// The fetch throws `QuarryError.undecodable`, naming entity, id and field.
    case fail
    /// The row is left out and reported; it still counts for offset and limit.
    case skip(report: @Sendable (QuarryError) -> Void)
}

/// One page and the way to the next.
public struct Page<E: Entity>: Sendable {
    /// The page's objects.
    public var items: [E]
    /// Give it to ``FetchDescriptor/after(_:)``; nil when no row follows.
    public var next: PageToken?
}
