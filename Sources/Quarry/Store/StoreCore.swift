import Foundation
import QuarryCoding
import QuarryLMDB

/// What all handles to one opened store share.
package final class StoreCore: Sendable {
    let path: String
    let options: StoreOptions
    let environment: Environment
    let registry = ShapeRegistry()
    /// The types given at open, by identity.
    let bindings: [ObjectIdentifier: any AnyBinding]
    private let catalogue: Locked<CatalogueState>
    let writeQueue: WriteQueue
    private let encoders = Pool<RowEncoder>(limit: 4)

    private struct CatalogueState {
        var table: CatalogueTable?
        var catalog: Catalog
        var isClosed = false
    }

    init(path: String, types: [any Entity.Type], options: StoreOptions) throws {
        self.path = path
        self.options = options
        var bindings: [ObjectIdentifier: any AnyBinding] = [:]
        for type in types {
            let binding = try makeBinding(type)
            if let other = bindings.values.first(where: { $0.name == binding.name }), other.type != type {
                throw QuarryError.schema(
                    entity: binding.name, reason: "two types have this name; give one another entityName")
            }
            bindings[ObjectIdentifier(type)] = binding
        }
        self.bindings = bindings
        writeQueue = WriteQueue(label: "quarry.write")
        let empty = Catalog(stamp: 0, storeID: UUID(), entities: [:])
        catalogue = Locked(CatalogueState(table: nil, catalog: empty))
        environment = try QuarryError.mapping(path) { try Environment.open(path: path, options.environment) }
        do {
            try openCatalogue()
        } catch {
            environment.close()
            throw error
        }
    }

    func close() {
        let wasOpen = catalogue.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        if wasOpen { environment.close() }
    }

    // MARK: Catalogue

    var catalog: Catalog { catalogue.withLock { $0.catalog } }

    func catalogueTable() throws -> CatalogueTable? { catalogue.withLock { $0.table } }

    func install(_ table: CatalogueTable) { catalogue.withLock { $0.table = table } }

    func install(_ catalog: Catalog) { catalogue.withLock { $0.catalog = catalog } }

    /// Whether the cached catalogue is the one this transaction sees.
    func isCurrent(_ catalog: Catalog, _ transaction: Transaction) throws -> Bool {
        guard let table = try catalogueTable() else { return true }
        return try table.stamp(transaction) == catalog.stamp
    }

    // MARK: Types

    func binding<E: Entity>(_ type: E.Type) throws -> Binding<E> {
        guard let binding = bindings[ObjectIdentifier(type)] as? Binding<E> else {
            throw QuarryError.unknownEntity(
                E.entityName, known: bindings.values.map(\.name).sorted())
        }
        return binding
    }

    // MARK: Coders

    func takeEncoder() -> RowEncoder { encoders.take() ?? RowEncoder(registry) }
    func give(_ encoder: RowEncoder) { encoders.give(encoder) }
}

extension StoreOptions {
    var environment: EnvironmentOptions {
        var result = EnvironmentOptions()
        result.maximumSize = maximumSize
        result.maximumReaders = maximumReaders
        switch access {
        case .readWrite: result.mode = .readWrite
        case .readOnly: result.mode = .readOnly
        case .immutable: result.mode = .immutable
        }
        switch durability {
        case .full: result.durability = .full
        case .relaxed: result.durability = .noMetaSync
        case .none: result.durability = .noSync
        }
        result.createsFile = createsFile
        return result
    }
}
