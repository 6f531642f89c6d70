import QuarryCoding

/// What the catalogue keeps about an entity, as JSON, so that a file can be read without the Swift types.
struct EntityRecord: Codable, Equatable, Sendable {
    var name: String
    /// The sub-database of the rows.
    var table: String
    /// The stored field behind the id; nil while unknown or when the id is made of several.
    var idPath: [String]?
    /// What the key holds; nil for an id of several components.
    var idType: FieldType?
    /// Whether all keys have one length, so that indexes may pack them.
    var isFixedWidth: Bool
    var isGenerated: Bool
    var fields: [FieldRecord]
    var indexes: [IndexRecord]
    /// Rules of entities declared at run time.
    var rules: [RuleRecord]?
}

/// A field's name and type as far as they are known.
struct FieldRecord: Codable, Equatable, Sendable {
    var name: String
    var type: FieldType
    var isOptional: Bool
    /// The fields of a nested object, or of the objects in a collection.
    var fields: [FieldRecord]?
    /// The type of a collection's elements.
    var element: FieldType?
}

/// An index and the sub-database of its entries.
struct IndexRecord: Codable, Equatable, Sendable {
    var name: String
    var table: String
    var components: [Component]
    var isUnique: Bool
    /// Added by a tool rather than declared by the type; kept when the type does not declare it.
    var isManual: Bool?

    struct Component: Codable, Equatable, Sendable {
        var path: [String]
        var options: UInt8
        var isEach: Bool
        var type: FieldType
    }
}

/// A rule of an entity declared at run time.
struct RuleRecord: Codable, Equatable, Sendable {
    enum Kind: String, Codable, Sendable { case required, nonEmpty, range, matching }
    var field: String
    var kind: Kind
    var minimum: Double?
    var maximum: Double?
    var pattern: String?
}
