/// Gives an object the next integer id.
///
/// Unchecked, because key paths are immutable, and the closures capture a type alone.
struct IDGenerator<E: Entity>: @unchecked Sendable {
    private let path: WritableKeyPath<E, E.ID>
    let maximum: UInt64
    private let number: (E.ID) -> UInt64?
    private let make: (UInt64) -> E.ID?

    init(schema: Schema<E>, entity: String) throws {
        guard let path = schema.id as? WritableKeyPath<E, E.ID> else {
            throw QuarryError.schema(
                entity: entity,
                reason: "a generated id needs a stored `var`; name it: Schema(id: \\.number, generated: true)")
        }
        guard let integer = E.ID.self as? any FixedWidthInteger.Type else {
            throw QuarryError.schema(entity: entity, reason: "a generated id is an integer, not \(E.ID.self)")
        }
        self.path = path
        (maximum, number, make) = Self.functions(integer)
    }

    private static func functions<I: FixedWidthInteger>(
        _ type: I.Type
    ) -> (UInt64, (E.ID) -> UInt64?, (UInt64) -> E.ID?) {
        (
            UInt64(clamping: I.max), { id in (id as? I).flatMap { UInt64(exactly: $0) } },
            { number in I(exactly: number).flatMap { $0 as? E.ID } }
        )
    }

    /// The object's number; nil when negative.
    func number(of object: E) -> UInt64? { number(object[keyPath: path]) }

    /// Puts `number` into the object; false when the id's type cannot hold it.
    func assign(_ number: UInt64, to object: inout E) -> Bool {
        guard let id = make(number) else { return false }
        object[keyPath: path] = id
        return true
    }
}
