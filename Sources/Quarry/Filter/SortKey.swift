import Foundation
public import QuarryCoding

/// The direction of one sort key.
public enum Direction: String, Sendable, Hashable, Codable { case ascending, descending }

/// Where rows without a value come in a sort, whatever its direction.
public enum NilOrder: String, Sendable, Hashable, Codable { case first, last }

/// One key of a sort, with the same meaning on every platform: numbers by value, text by its NFC UTF-8 bytes, folded
/// if asked, dates by time, false before true. Rows that are equal under all keys come in the order of their ids.
public struct SortKey<Root>: Sendable {
    package enum Target: Sendable {
        case keyPath(SendableKeyPath)
        case field(String)
    }
    package var target: Target
    package var direction: Direction
    package var options: TextOptions
    package var nils: NilOrder

    /// A key by key path. `options` fold text; they are ignored for other types.
    public init<V>(
        _ path: any KeyPath<Root, V> & Sendable, _ direction: Direction = .ascending, _ options: TextOptions = [],
        nils: NilOrder = .first
    ) {
        self.init(target: .keyPath(SendableKeyPath(path)), direction, options, nils: nils)
    }

    /// A key by the stored name of a field (its coding key); dots reach into nested objects.
    public init(
        field: String, _ direction: Direction = .ascending, _ options: TextOptions = [], nils: NilOrder = .first
    ) {
        self.init(target: .field(field), direction, options, nils: nils)
    }

    package init(target: Target, _ direction: Direction, _ options: TextOptions, nils: NilOrder) {
        self.target = target
        self.direction = direction
        self.options = options
        self.nils = nils
    }
}

/// A key path carried across isolation domains.
///
/// Unchecked, because `AnyKeyPath` itself is not marked Sendable: key paths are immutable, and the ones that reach this
/// type came in as `& Sendable` or inside a Sendable `SortDescriptor` or `Predicate`.
package struct SendableKeyPath: @unchecked Sendable, Hashable {
    package let path: AnyKeyPath
    package init(_ path: AnyKeyPath) { self.path = path }
}
