import Foundation
import QuarryCoding
import QuarryPredicate

/// How a Swift type's key paths lead to its stored fields. One a type and process, without any store.
final class TypeMap<E: Entity>: Sendable {
    let probe = FieldProbe.of(E.self)

    /// Static stored properties of generic types do not exist, hence one table for all.
    static var shared: TypeMap<E> {
        typeMaps.withLock { maps in
            if let known = maps[ObjectIdentifier(E.self)] as? TypeMap<E> { return known }
            let map = TypeMap<E>()
            maps[ObjectIdentifier(E.self)] = map
            return map
        }
    }

    private init() {}

    func trace(_ keyPath: AnyKeyPath) -> FieldProbe.Trace {
        probe.path(of: keyPath, allowingComputed: keyPath == \E.id)
    }

    /// The steps of a key path, whatever type it starts from; nil when it is no stored field.
    func path(of keyPath: AnyKeyPath) -> [String]? { tracedPath(of: keyPath) }

    /// The fields, for predicates. Open while the type could not be probed.
    var fieldCatalog: FieldCatalog {
        let fields = probe.fields
        return FieldCatalog(
            entity: E.entityName, fields: fields.map { FieldRecord($0).info }, isOpen: fields.isEmpty)
    }

    // MARK: In memory

    /// Whether the object passes: it is encoded as a row, and the one evaluator looks at the row.
    func matches(_ object: E, filter: Filter<E>) throws -> Bool {
        let bench = MemoryBench.take()
        defer { MemoryBench.give(bench) }
        let row: UnsafeRawBufferPointer
        do {
            row = try bench.encoder.encode(object)
        } catch {
            throw QuarryError.encoding(error, entity: E.entityName)
        }
        do {
            if probe.fields.isEmpty { probe.learn(from: .object(try RowView(row, bench.registry).record())) }
            let matcher: Matcher
            if let pooled = filter.matchers.take() {
                matcher = pooled
            } else {
                let condition = try bind(filter.condition(resolve: tracedPath), to: fieldCatalog, text: filter.text)
                matcher = try Matcher(
                    condition, registry: MemoryBench.registry, now: Date(),
                    decode: { try RowDecoder(MemoryBench.registry).decode(E.self, from: $0) })
            }
            let result = try matcher.matches(row: row)
            filter.matchers.give(matcher)
            return result
        } catch let failure as PredicateFailure {
            throw QuarryError(failure, entity: E.entityName)
        }
    }
}

private let typeMaps = Locked<[ObjectIdentifier: AnyObject & Sendable]>([:])

/// The stored steps of one key path hop: empty for a raw value, which is stored as itself; nil for no stored field.
func tracedPath(of keyPath: AnyKeyPath) -> [String]? {
    let root = type(of: keyPath).rootType
    if let raw = root as? any (RawRepresentable & Codable).Type, isRawValue(keyPath, of: raw) { return [] }
    guard let decodable = root as? any Decodable.Type else { return nil }
    switch FieldProbe.of(decodable).path(of: keyPath, allowingComputed: isEntityID(keyPath, of: root)) {
    case .field(let path): return path
    case .computed, .unprobed: return nil
    }
}

private func isRawValue<R: RawRepresentable>(_ keyPath: AnyKeyPath, of type: R.Type) -> Bool {
    keyPath == \R.rawValue
}

private func isEntityID(_ keyPath: AnyKeyPath, of root: Any.Type) -> Bool {
    func check<E: Entity>(_ type: E.Type) -> Bool { keyPath == \E.id }
    guard let entity = root as? any Entity.Type else { return false }
    return check(entity)
}

/// Encoder and shapes for predicates over objects in memory. Shapes are shared by the whole process.
final class MemoryBench {
    static let registry = ShapeRegistry()
    private static let pool = Pool<MemoryBench>(limit: 8)

    let registry = MemoryBench.registry
    let encoder = RowEncoder(MemoryBench.registry)

    static func take() -> MemoryBench { pool.take() ?? MemoryBench() }
    static func give(_ bench: MemoryBench) { pool.give(bench) }
}
