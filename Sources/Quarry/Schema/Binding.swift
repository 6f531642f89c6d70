import Foundation
import QuarryCoding
import QuarryPredicate

/// What a store knows about one Swift type that was given to it.
final class Binding<E: Entity>: AnyBinding {
    let name: String
    let schema: Schema<E>
    let rules: FieldRules
    let direct: DirectCodec<E>?
    let map: TypeMap<E>
    let plans = PlanCache()
    /// Sets a generated id; nil when ids are the program's own.
    let generator: IDGenerator<E>?

    init() throws {
        name = E.entityName
        guard !name.isEmpty, name.utf8.count <= 150 else {
            throw QuarryError.schema(entity: name, reason: "an entity's name takes 1 to 150 bytes")
        }
        let schema = E.schema
        self.schema = schema
        map = TypeMap<E>.shared
        rules = try schema.fieldRules(name)
        generator = schema.isGenerated ? try IDGenerator(schema: schema, entity: name) : nil
        if schema.layout == .direct {
            do {
                direct = try DirectCodec<E>.make(E.self)
            } catch {
                throw QuarryError.schema(entity: name, reason: "layout .direct does not fit: \(error)")
            }
        } else {
            direct = nil
        }
    }

    var type: any Entity.Type { E.self }
    var isFixedWidthKey: Bool { KeyCoder.isFixedWidth(E.ID.self) }
    var isGenerated: Bool { schema.isGenerated }

    var fields: [FieldRecord] { map.probe.fields.map(FieldRecord.init) }

    func learn(from record: Value) { map.probe.learn(from: record) }

    func idPath() -> [String]? {
        switch map.probe.path(of: schema.id, allowingComputed: true) {
        case .field(let path): path
        case .computed, .unprobed: nil
        }
    }

    /// The declared indexes; nil while the type could not be probed.
    func indexes(isFinal: Bool) throws -> [IndexRecord]? {
        var records: [IndexRecord] = []
        for index in schema.indexes {
            var components: [IndexRecord.Component] = []
            for part in index.parts {
                switch map.trace(part.keyPath) {
                case .field(let path):
                    let info = map.fieldCatalog.info(path)
                    let type = part.isEach ? info?.element : info?.type
                    components.append(
                        IndexRecord.Component(
                            path: path, options: part.options.rawValue, isEach: part.isEach, type: type ?? .any))
                case .computed(let reason):
                    throw unmapped(part.keyPath, reason)
                case .unprobed(let reason):
                    if isFinal { throw unmapped(part.keyPath, reason) }
                    return nil
                }
            }
            let record = IndexRecord(
                entity: name, components: components, isUnique: index.isUnique, name: index.name)
            if records.contains(where: { $0.name == record.name }) {
                throw QuarryError.schema(entity: name, reason: "the index \(record.name) is declared twice")
            }
            for component in components where component.isEach && index.isUnique {
                throw QuarryError.schema(
                    entity: name,
                    reason: "an index over elements (\(component.path.joined(separator: "."))) cannot be unique")
            }
            records.append(record)
        }
        return records
    }

    private func unmapped(_ keyPath: AnyKeyPath, _ reason: String) -> QuarryError {
        QuarryError.unmappedKeyPath(
            entity: name, keyPath: "\(keyPath)",
            reason: "\(reason); index a stored property, or store the value in one")
    }
}

/// A binding without its type.
protocol AnyBinding: AnyObject, Sendable {
    var name: String { get }
    var type: any Entity.Type { get }
    var rules: FieldRules { get }
    var isFixedWidthKey: Bool { get }
    var isGenerated: Bool { get }
    var fields: [FieldRecord] { get }
    func learn(from record: Value)
    func idPath() -> [String]?
    func indexes(isFinal: Bool) throws -> [IndexRecord]?
}

func makeBinding(_ type: any Entity.Type) throws -> any AnyBinding {
    func make<E: Entity>(_ type: E.Type) throws -> any AnyBinding { try Binding<E>() }
    return try make(type)
}

extension Schema {
    func fieldRules(_ entity: String) throws -> FieldRules {
        var renamed: [String: [String]] = [:]
        var defaults: [String: Value] = [:]
        for rule in rules {
            switch rule.kind {
            case .renamed(let old): renamed[rule.field, default: []].append(old)
            case .defaulted(let value):
                do {
                    defaults[rule.field] = try Value(encoding: value)
                } catch {
                    throw QuarryError.schema(entity: entity, reason: "the default of \(rule.field): \(error)")
                }
            }
        }
        return FieldRules(renamed: renamed, defaults: defaults)
    }
}
