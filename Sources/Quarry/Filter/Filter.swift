public import Foundation
import QuarryCoding
import QuarryPredicate

/// A predicate over entities or records: from `NSPredicate`'s format language, from `#Predicate`, or composed.
///
/// ```swift
/// let a = try Filter<Student>("(stuid = %@ OR name BEGINSWITH[cd] %@) AND NOT sex = 'f'", 5, "li")
/// let b = Filter<Student>(#Predicate { $0.classid == 3 })
/// let c = a && !b
/// ```
/// A filter knows no store. It meets its entity when a query runs (or `matches` is called): unknown fields and constants
/// that do not fit are errors then, never silently false.
public struct Filter<Root: Sendable>: Sendable, CustomStringConvertible {
    package indirect enum Node: Sendable {
        case condition(Condition)
        case predicate(any LowerablePredicate)
        case all([Node])
        case any([Node])
        case not(Node)
    }
    package var node: Node
    /// What the parser accepted but a reader may misread, such as AND beside OR without parentheses.
    public private(set) var warnings: [String] = []
    /// The format text, for errors that point into it; nil for composed filters.
    package private(set) var text: String?
    let matchers = Pool<Matcher>(limit: 4)

    package init(node: Node) { self.node = node }

    package init(condition: Condition) { node = .condition(condition) }

    /// Parses a predicate in `NSPredicate`'s format language. Arguments are values, never parsed again.
    ///
    /// - Throws: `QuarryError.predicate` with offset and caret for a text that does not parse or arguments that do not
    ///   fit their specifiers. Linear time in the length of the text.
    public init(_ format: String, _ arguments: (any Sendable)?...) throws {
        try self.init(format: format, arguments: arguments)
    }

    /// The same with the arguments in an array.
    public init(format: String, arguments: [(any Sendable)?]) throws {
        do {
            let parsed = try parseFormat(format, arguments: arguments)
            node = .condition(parsed.condition)
            warnings = parsed.warnings
            text = format
        } catch {
            throw QuarryError(error, entity: String(describing: Root.self))
        }
    }

    /// A filter that every row passes, and one that none passes.
    public static var everything: Filter { Filter(condition: .constant(true)) }
    public static var nothing: Filter { Filter(condition: .constant(false)) }

    public static func && (a: Filter, b: Filter) -> Filter { .all([a, b]) }
    public static func || (a: Filter, b: Filter) -> Filter { .any([a, b]) }
    public static prefix func ! (a: Filter) -> Filter { Filter(node: .not(a.node)).warned(by: [a]) }

    /// True where every filter is; an empty list is true everywhere.
    public static func all(_ filters: [Filter]) -> Filter {
        Filter(node: .all(filters.map(\.node))).warned(by: filters)
    }

    /// True where at least one filter is; an empty list is true nowhere.
    public static func any(_ filters: [Filter]) -> Filter {
        Filter(node: .any(filters.map(\.node))).warned(by: filters)
    }

    private func warned(by parts: [Filter]) -> Filter {
        var copy = self
        copy.warnings = parts.flatMap(\.warnings)
        return copy
    }

    /// The filter as one tree. Key paths are traced by `resolve`, hop by hop.
    package func condition(resolve: (AnyKeyPath) -> [String]?) -> Condition {
        func build(_ node: Node) -> Condition {
            switch node {
            case .condition(let condition): condition
            case .predicate(let predicate): predicate.lowered(resolve: resolve)
            case .all(let parts): .all(parts.map(build))
            case .any(let parts): .any(parts.map(build))
            case .not(let part): .not(build(part))
            }
        }
        return build(node)
    }

    /// Whether any part came from `#Predicate`, whose key paths need the type's fields.
    package var hasKeyPaths: Bool {
        func check(_ node: Node) -> Bool {
            switch node {
            case .condition: false
            case .predicate: true
            case .all(let parts), .any(let parts): parts.contains(where: check)
            case .not(let part): check(part)
            }
        }
        return check(node)
    }
}

/// A Foundation predicate without its type, so that a filter's nodes need not be generic over it.
package protocol LowerablePredicate: Sendable {
    func lowered(resolve: (AnyKeyPath) -> [String]?) -> Condition
}

struct PredicateBox<Root: Sendable>: LowerablePredicate {
    let predicate: Predicate<Root>
    func lowered(resolve: (AnyKeyPath) -> [String]?) -> Condition { lower(predicate, resolve: resolve) }
}

extension Filter where Root: Entity {
    /// Foundation's `#Predicate`. Parts that cannot run on stored bytes run on the decoded object.
    public init(_ predicate: Predicate<Root>) { self.init(node: .predicate(PredicateBox(predicate: predicate))) }

    /// Canonical format text. It parses back to the same filter unless a part runs in Foundation only.
    public var description: String {
        printFormat(condition { tracedPath(of: $0) })
    }

    /// Whether the object passes, in memory, without a store.
    ///
    /// - Throws: `QuarryError.predicate` when the filter does not fit the type or an operation in it fails.
    public func matches(_ object: Root) throws -> Bool {
        try TypeMap<Root>.shared.matches(object, filter: self)
    }
}

extension Filter {
    /// Canonical format text.
    @_disfavoredOverload public var description: String { printFormat(condition { _ in nil }) }
}
