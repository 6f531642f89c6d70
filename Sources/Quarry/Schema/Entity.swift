/// A plain `Codable` struct that a store keeps, found by its `id`.
///
/// ```swift
/// struct Student: Entity {
///     var stuid: Int
///     var name: String
///     var classid: Int?
///     var id: Int { stuid }
///     static let schema = Schema<Student>(id: \.stuid, .index(\.name), .index(\.classid, \.name))
/// }
/// ```
/// A struct with a stored `id` and no index needs no schema at all.
public protocol Entity: Codable, Identifiable, Sendable where ID: Codable & Hashable & Sendable {
    /// The id's key path and the indexes. The default is the stored `id` and no index.
    static var schema: Schema<Self> { get }

    /// The name of the entity in the store. The default is the type's name; keep it when you rename the type.
    static var entityName: String { get }

    /// Runs before every insert, update and upsert. Throw to refuse the object: a `ValidationError`, an array of
    /// them by way of ``ValidationErrors``, or any error of yours.
    func validate() throws
}

extension Entity {
    public static var schema: Schema<Self> { Schema() }
    public static var entityName: String { String(describing: Self.self) }
    public func validate() throws {}
}

/// Several refused fields at once, for `Entity.validate()` to throw.
public struct ValidationErrors: Error, Sendable, Equatable {
    public var failures: [ValidationError]
    public init(_ failures: [ValidationError]) { self.failures = failures }
}
