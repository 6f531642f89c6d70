public import QuarryCoding

/// How an entity is kept: its id, its indexes, renamed and defaulted fields.
public struct Schema<E: Entity>: Sendable {
    /// The stored property behind `id`.
    package var id: any KeyPath<E, E.ID> & Sendable
    package var isGenerated: Bool
    package var layout: Layout
    package var indexes: [Index<E>]
    package var rules: [FieldRule<E>]

    /// - Parameters:
    ///   - id: the stored property that holds the id, where `id` itself is computed from it.
    ///   - generated: an integer id of 0 is replaced by the next number on insert. Numbers are never reused.
    ///   - layout: `.direct` reads and writes fields by their offsets; only for a synthesized `Codable`.
    ///   - indexes: see ``Index``.
    public init(
        id: any KeyPath<E, E.ID> & Sendable = \E.id, generated: Bool = false, layout: Layout = .codable,
        _ indexes: Index<E>...
    ) {
        self.id = id
        self.isGenerated = generated
        self.layout = layout
        self.indexes = indexes
        self.rules = []
    }

    /// A copy that reads the field `name` from rows that still call it `old`.
    ///
    /// Names are coding keys. Chain several calls for a field that was renamed more than once.
    public func renamed(_ old: String, to name: String) -> Schema {
        var copy = self
        copy.rules.append(FieldRule(field: name, kind: .renamed(old)))
        return copy
    }

    /// A copy that gives `field` this value when a row was written before the field existed.
    ///
    /// A default in the struct's source is not used by the synthesized `init(from:)`, so state it here.
    public func defaulting<V: Codable & Sendable>(_ field: String, to value: V) -> Schema {
        var copy = self
        copy.rules.append(FieldRule(field: field, kind: .defaulted(value)))
        return copy
    }
}

/// How an entity's rows are read and written.
public enum Layout: Sendable {
    /// Through `Codable`: right for every type.
    case codable
    /// By field offsets, for structs whose `Codable` is the synthesized one. The row bytes are the same; the claim is
    /// checked against `Codable` when the store opens.
    case direct
}

package struct FieldRule<E>: Sendable {
    package enum Kind: Sendable {
        case renamed(String)
        case defaulted(any Codable & Sendable)
    }
    package var field: String
    package var kind: Kind
}

/// A secondary index: one or several fields, kept sorted, chosen by the query planner.
public struct Index<E>: Sendable {
    package struct Part: Sendable {
        package var keyPath: any PartialKeyPath<E> & Sendable
        package var options: TextOptions
        package var isEach: Bool
    }
    package var parts: [Part]
    package var isUnique: Bool
    package var name: String?

    /// An index over one or more fields, most significant first: `.index(\.classid, \.name)`.
    public static func index<each V: Sendable>(
        _ paths: repeat any KeyPath<E, each V> & Sendable, named name: String? = nil
    ) -> Index<E> {
        var parts: [Part] = []
        for path in repeat each paths { parts.append(Part(keyPath: path, options: [], isEach: false)) }
        return Index(parts: parts, isUnique: false, name: name)
    }

    /// An index over folded text, for `==[c]`, `BEGINSWITH[cd]` and sorts with the same options.
    public static func index(_ path: any KeyPath<E, String> & Sendable, _ options: TextOptions) -> Index<E> {
        Index(parts: [Part(keyPath: path, options: options, isEach: false)], isUnique: false, name: nil)
    }

    /// An index over folded text that may be nil.
    public static func index(_ path: any KeyPath<E, String?> & Sendable, _ options: TextOptions) -> Index<E> {
        Index(parts: [Part(keyPath: path, options: options, isEach: false)], isUnique: false, name: nil)
    }

    /// An index that refuses a second row with the same values. Rows in which any of them is nil are not compared.
    public static func unique<each V: Sendable>(_ paths: repeat any KeyPath<E, each V> & Sendable) -> Index<E> {
        var parts: [Part] = []
        for path in repeat each paths { parts.append(Part(keyPath: path, options: [], isEach: false)) }
        return Index(parts: parts, isUnique: true, name: nil)
    }

    /// An index with one entry for each distinct element of a collection: `.each(\.tags)`.
    public static func each<S: Sequence>(_ path: any KeyPath<E, S> & Sendable) -> Index<E> {
        Index(parts: [Part(keyPath: path, options: [], isEach: true)], isUnique: false, name: nil)
    }
}
