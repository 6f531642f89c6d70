import Foundation

// Plain lookups by one field, for which no predicate is built. They are planned once for each field and kind.
extension Readable where Self: ~Copyable {
    /// The objects whose field has this value, in the order of their ids: `fetch(Student.self, \.name, equals: "Ann")`.
    public func fetch<E: Entity, V: Sendable>(
        _ type: E.Type, _ path: any KeyPath<E, V> & Sendable, equals value: V
    ) throws -> [E] {
        try withReader { try $0.core.lookup(type, path, .equal, value) }
    }

    /// The objects whose field lies in the range, both ends included, in the order of their ids.
    public func fetch<E: Entity, V: Comparable & Sendable>(
        _ type: E.Type, _ path: any KeyPath<E, V> & Sendable, in range: ClosedRange<V>
    ) throws -> [E] {
        try withReader { try $0.core.lookup(type, path, .between, [range.lowerBound, range.upperBound]) }
    }

    /// The objects whose text begins so, in the order of their ids.
    public func fetch<E: Entity>(
        _ type: E.Type, _ path: any KeyPath<E, String> & Sendable, prefix: String
    ) throws -> [E] {
        try withReader { try $0.core.lookup(type, path, .beginsWith, prefix) }
    }

    /// The first object whose field has this value, or nil: for unique fields.
    public func first<E: Entity, V: Sendable>(
        _ type: E.Type, _ path: any KeyPath<E, V> & Sendable, equals value: V
    ) throws -> E? {
        try withReader { try $0.core.lookup(type, path, .equal, value, limit: 1).first }
    }

    /// How many objects have this value in the field.
    public func count<E: Entity, V: Sendable>(
        _ type: E.Type, _ path: any KeyPath<E, V> & Sendable, equals value: V
    ) throws -> Int {
        try withReader { try $0.core.lookupCount(type, path, .equal, value) }
    }

    /// Whether any object has this value in the field.
    public func exists<E: Entity, V: Sendable>(
        _ type: E.Type, _ path: any KeyPath<E, V> & Sendable, equals value: V
    ) throws -> Bool {
        try withReader { try $0.core.lookupExists(type, path, .equal, value) }
    }
}
