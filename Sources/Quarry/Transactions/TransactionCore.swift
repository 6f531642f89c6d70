import Foundation
import QuarryCoding
import QuarryLMDB
import QuarryPredicate

/// One running transaction: what both public transaction types stand on.
///
/// Used by one thread at a time. A read core lives as long as the pooled LMDB transaction it belongs to and is used
/// again by later reads, with the coders it has warmed up.
package final class TransactionCore {
    let store: StoreCore
    /// The innermost transaction: a savepoint's child while one is open.
    var transaction: Transaction
    private(set) var catalog: Catalog
    /// Nil for a read.
    var changes: ChangeSet?
    private var states: [ObjectIdentifier: AnyObject] = [:]
    private var lastType: ObjectIdentifier?
    private var lastState: AnyObject?
    private var checkedCommit: UInt64 = .max

    init(store: StoreCore, transaction: Transaction, catalog: Catalog) {
        self.store = store
        self.transaction = transaction
        self.catalog = catalog
    }

    /// Called whenever the transaction has been renewed: follows schema changes of this and other processes.
    ///
    /// - Returns: false when the file's catalogue is not the cached one. Tables opened after a snapshot began are not
    ///   usable in it, so the caller reloads the catalogue and begins again.
    func refresh() throws -> Bool {
        let commit = transaction.id
        if commit == checkedCommit { return true }
        let current = store.catalog
        guard try store.isCurrent(current, transaction) else { return false }
        if current !== catalog { replaceCatalog(current) }
        checkedCommit = commit
        return true
    }

    /// From here on the transaction sees this catalogue.
    func replaceCatalog(_ catalog: Catalog) {
        self.catalog = catalog
        states.removeAll(keepingCapacity: true)
        lastType = nil
        lastState = nil
    }

    /// What this transaction keeps for a type: its table and coders.
    @inline(__always)
    func state<E: Entity>(_ type: E.Type) throws -> TypeState<E> {
        if lastType == ObjectIdentifier(type), let lastState {
            return unsafeDowncast(lastState, to: TypeState<E>.self)
        }
        return try slowState(type)
    }

    @inline(never)
    private func slowState<E: Entity>(_ type: E.Type) throws -> TypeState<E> {
        let id = ObjectIdentifier(type)
        let state: TypeState<E>
        if let known = states[id] as? TypeState<E> {
            state = known
        } else {
            let binding = try store.binding(type)
            state = TypeState(binding: binding, entity: try entity(binding.name), registry: store.registry)
            states[id] = state
        }
        lastType = id
        lastState = state
        return state
    }

    /// An entity of the catalogue by name.
    func entity(_ name: String) throws -> CatalogEntity {
        guard let entity = catalog.entities[name] else {
            throw QuarryError.unknownEntity(name, known: catalog.names)
        }
        return entity
    }
}
