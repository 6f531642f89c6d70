/// How a query runs: what it reads, in what order, what it checks, and how many rows each step is expected to give.
///
/// Print it for a tree, outermost step first:
/// ```
/// Student: index name, filter, top 20 by score
/// └─ limit 20: 20 rows
///    └─ sort score descending, keeps 20: 20 rows
///       └─ filter sex = "f": about 2 rows
///          └─ index name: name = "Ann": about 4 rows
/// ```
public struct QueryPlan: Sendable, Hashable, Codable, CustomStringConvertible {
    /// One step; its rows come from its children.
    public struct Step: Sendable, Hashable, Codable {
        public enum Kind: String, Sendable, Hashable, Codable {
            case nothing, scan, id, index, union, intersection, filter, sort, page
        }
        public var kind: Kind
        /// The step for people: `index name: name = "Ann"`.
        public var title: String
        /// The index that it walks.
        public var index: String?
        /// Rows it is expected to give.
        public var estimatedRows: Int?
        /// Rows it gave, when the query was run to find out.
        public var actualRows: Int?
        public var children: [Step]

        init(_ kind: Kind, _ title: String, index: String? = nil, estimated: Double? = nil, _ children: [Step] = []) {
            self.kind = kind
            self.title = title
            self.index = index
            estimatedRows = estimated.flatMap { $0.isFinite ? Int(min($0.rounded(.up), 1e18)) : nil }
            self.children = children
        }
    }

    public var entity: String
    /// The whole plan in one line.
    public var summary: String
    public var root: Step

    /// The indexes that the query reads.
    public var indexes: [String] {
        func collect(_ step: Step) -> [String] {
            (step.index.map { [$0] } ?? []) + step.children.flatMap(collect)
        }
        return collect(root)
    }

    /// Whether every row of the entity may have to be read.
    public var isFullScan: Bool {
        func check(_ step: Step) -> Bool { step.kind == .scan || step.children.contains(where: check) }
        return check(root)
    }

    /// Whether rows are sorted after they are read, rather than read in order.
    public var sorts: Bool {
        func check(_ step: Step) -> Bool { step.kind == .sort || step.children.contains(where: check) }
        return check(root)
    }

    public var description: String {
        var lines = ["\(entity): \(summary)"]
        func add(_ step: Step, _ indent: String, isLast: Bool) {
            lines.append(indent + (isLast ? "└─ " : "├─ ") + step.title + step.rows)
            for (i, child) in step.children.enumerated() {
                add(child, indent + (isLast ? "   " : "│  "), isLast: i == step.children.count - 1)
            }
        }
        add(root, "", isLast: true)
        return lines.joined(separator: "\n")
    }
}

extension QueryPlan.Step {
    fileprivate var rows: String {
        func text(_ count: Int) -> String { "\(count) row" + (count == 1 ? "" : "s") }
        return switch (estimatedRows, actualRows) {
        case (let estimate?, let actual?): ": \(text(actual)), estimated \(estimate)"
        case (nil, let actual?): ": \(text(actual))"
        case (let estimate?, nil): ": about \(text(estimate))"
        case (nil, nil): ""
        }
    }
}
