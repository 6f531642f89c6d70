import QuarryCoding

/// A type's table and coders inside one transaction.
final class TypeState<E: Entity> {
    let binding: Binding<E>
    let table: EntityTable
    /// Whether the catalogue knows the type's fields. Not before the first row of a type that could not be probed.
    let isDeclared: Bool
    private let registry: ShapeRegistry
    private let decoder: RowDecoder
    private let direct: DirectCodec<E>?
    private var key = KeyBuffer()

    init(binding: Binding<E>, entity: CatalogEntity, registry: ShapeRegistry) {
        self.binding = binding
        self.registry = registry
        table = entity.table
        isDeclared = !entity.record.fields.isEmpty
        decoder = RowDecoder(registry, rules: binding.rules)
        direct = binding.direct
    }

    /// The key bytes of an id, valid until the next call.
    @inline(__always)
    func keyBytes(of id: E.ID) throws -> UnsafeRawBufferPointer {
        key.reset()
        do {
            try KeyCoder.primaryKey(of: id, into: &key)
        } catch {
            throw QuarryError.key(error, entity: binding.name)
        }
        return key.bytes
    }

    /// The object in a row; `key` is named in errors.
    @inline(__always)
    func decode(_ row: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer? = nil) throws -> E {
        do {
            if let direct, let object = try direct.decode(row, registry) { return object }
            return try decoder.decode(E.self, from: row)
        } catch {
            throw QuarryError.decoding(error, entity: binding.name, id: key.map(table.idDescription) ?? "")
        }
    }

    /// The object as a row, valid until the encoder's next use.
    @inline(__always)
    func encode(_ object: E, _ encoder: RowEncoder) throws -> UnsafeRawBufferPointer {
        do {
            if let direct { return try direct.encode(object, encoder) }
            return try encoder.encode(object)
        } catch {
            throw QuarryError.encoding(error, entity: binding.name)
        }
    }
}
