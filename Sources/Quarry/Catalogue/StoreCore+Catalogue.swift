import Foundation
import QuarryCoding
import QuarryLMDB

// Opening a store: read the catalogue, compare it with the declared types, and change it in one transaction.
extension StoreCore {
    func openCatalogue() throws {
        if try readCatalogue(), try isUpToDate() { return }
        guard options.access == .readWrite else {
            if try catalogueTable() == nil {
                throw QuarryError.foreignFile(path: path, reason: "it holds no catalogue; was it made by Quarry?")
            }
            return
        }
        try write { core in
            try createCatalogue(core)
            for binding in sortedBindings { try declare(binding, core, isFinal: false) }
        }
    }

    private var sortedBindings: [any AnyBinding] { bindings.values.sorted { $0.name < $1.name } }

    /// Loads what is there; false when the file holds no catalogue yet.
    func readCatalogue() throws -> Bool {
        try QuarryError.mapping(path) {
            let names = try environment.databaseNames()
            guard names.contains(CatalogueKey.tableName) else {
                if let other = names.first {
                    throw QuarryError.foreignFile(
                        path: path, reason: "it is an LMDB file of another program, with a table \(other)")
                }
                return false
            }
            guard let database = try environment.openDatabases([(CatalogueKey.tableName, false)])[0] else {
                return false
            }
            let table = CatalogueTable(database: database, path: path)
            let transaction = try environment.beginRead()
            defer { environment.endRead(transaction) }
            guard let header = try table.header(transaction) else {
                throw QuarryError.foreignFile(path: path, reason: "its catalogue has no header")
            }
            install(table)
            install(try readCatalog(table, transaction, storeID: header.storeID))
            return true
        }
    }

    /// The catalogue as it is in the file now, with all its tables opened.
    func reloadCatalog() throws {
        guard let table = try catalogueTable() else { return }
        try QuarryError.mapping(path) {
            let transaction = try environment.beginRead()
            defer { environment.endRead(transaction) }
            install(try readCatalog(table, transaction, storeID: catalog.storeID))
        }
    }

    private func readCatalog(_ table: CatalogueTable, _ transaction: Transaction, storeID: UUID) throws -> Catalog {
        try table.loadShapes(into: registry, transaction)
        let records = try table.entities(transaction)
        let stamp = try table.stamp(transaction)
        var wanted: [(String, Bool)] = []
        for record in records {
            wanted.append((record.table, false))
            for index in record.indexes { wanted.append((index.table, true)) }
        }
        var opened: [String: Database] = [:]
        for (name, database) in zip(wanted, try environment.openDatabases(wanted)) {
            guard let database else {
                throw QuarryError.damaged(path: path, reason: "the catalogue names a table \(name.0) that is not there")
            }
            opened[name.0] = database
        }
        var entities: [String: CatalogEntity] = [:]
        for record in records {
            entities[record.name] = try makeEntity(record, stamp: stamp) { opened[$0] }
        }
        return Catalog(stamp: stamp, storeID: storeID, entities: entities)
    }

    func makeEntity(_ record: EntityRecord, stamp: UInt64, database: (String) throws -> Database?) throws
        -> CatalogEntity
    {
        func open(_ name: String) throws -> Database {
            guard let found = try database(name) else {
                throw QuarryError.damaged(path: path, reason: "the table \(name) is not there")
            }
            return found
        }
        let indexes = try record.indexes.map {
            IndexTable(definition: $0.definition, database: try open($0.table), isFixedWidth: record.isFixedWidth)
        }
        let table = EntityTable(
            name: record.name, database: try open(record.table), idPath: record.idPath, idType: record.idType,
            indexes: indexes, fields: record.fieldCatalog, isFixedWidthKey: record.isFixedWidth, stamp: stamp)
        return CatalogEntity(record: record, table: table)
    }

    /// Whether the catalogue says what the types declare.
    private func isUpToDate() throws -> Bool {
        let catalog = catalog
        for binding in sortedBindings {
            guard let entity = catalog.entities[binding.name] else { return false }
            try learn(binding, entity)
            guard let record = try desiredRecord(binding, known: entity.record, isFinal: false) else { return false }
            if record != entity.record { return false }
        }
        return true
    }

    /// Lets a type that could not be probed learn from its first stored row.
    private func learn(_ binding: any AnyBinding, _ entity: CatalogEntity) throws {
        guard binding.fields.isEmpty else { return }
        let transaction = try environment.beginRead()
        defer { environment.endRead(transaction) }
        try learn(binding, entity.table, transaction)
    }

    private func learn(_ binding: any AnyBinding, _ table: EntityTable, _ transaction: Transaction) throws {
        guard binding.fields.isEmpty else { return }
        let cursor = try transaction.cursor(table.database)
        defer { cursor.close() }
        if let (_, row) = try cursor.first(), let view = try? RowView(row, registry), let record = try? view.record() {
            binding.learn(from: .object(record))
        }
    }

    // MARK: Changing the catalogue

    private func createCatalogue(_ core: TransactionCore) throws {
        if try catalogueTable() != nil { return }
        let transaction = try core.writeTransaction()
        guard
            let database = try transaction.open(named: CatalogueKey.tableName, create: true, duplicates: false)
        else { throw QuarryError.cannotOpen(path: path, reason: "the catalogue's table could not be made") }
        let table = CatalogueTable(database: database, path: path)
        let storeID = UUID()
        if let header = try table.header(transaction) {
            // Another process made it in between.
            install(table)
            core.replaceCatalog(try readCatalog(table, transaction, storeID: header.storeID))
            return
        }
        try table.writeHeader(storeID, transaction)
        install(table)
        core.replaceCatalog(Catalog(stamp: 0, storeID: storeID, entities: [:]))
        core.changes?.hasCatalogueChanges = true
    }

    /// What the catalogue ought to say about a type. Nil while it cannot be told.
    private func desiredRecord(_ binding: any AnyBinding, known: EntityRecord?, isFinal: Bool) throws -> EntityRecord? {
        let declared = try binding.indexes(isFinal: isFinal)
        let idPath = binding.idPath()
        var record =
            known
            ?? EntityRecord(
                name: binding.name, table: TableName.rows(binding.name), idPath: idPath, idType: nil,
                isFixedWidth: binding.isFixedWidthKey, isGenerated: binding.isGenerated, fields: [], indexes: [])
        if let known, known.isFixedWidth != binding.isFixedWidthKey {
            throw QuarryError.schema(
                entity: binding.name, reason: "the type of its id is not the one the stored rows have")
        }
        record.isGenerated = binding.isGenerated
        record.idPath = idPath ?? record.idPath
        if !binding.fields.isEmpty { record.fields = binding.fields }
        if let path = record.idPath, path.count == 1, let field = record.fields.first(where: { $0.name == path[0] }) {
            if let known = known?.idType, known != field.type {
                throw QuarryError.schema(
                    entity: binding.name, reason: "its id is \(field.type) now, the stored rows have \(known)")
            }
            record.idType = field.type == .object || field.type == .any ? nil : field.type
        }
        guard let declared else { return record }
        record.indexes =
            declared
            + record.indexes.filter { index in
                index.isManual == true && !declared.contains { $0.name == index.name }
            }
        return record
    }

    /// Makes the entity's tables and indexes what the type declares.
    func declare(_ binding: any AnyBinding, _ core: TransactionCore, isFinal: Bool) throws {
        let transaction = try core.writeTransaction()
        let known = core.catalog.entities[binding.name]
        if let known { try learn(binding, known.table, transaction) }
        guard let record = try desiredRecord(binding, known: known?.record, isFinal: isFinal) else { return }
        if let known, known.record == record { return }
        try apply(record, core)
    }

    /// Writes an entity's record, after making, building and dropping tables as it says.
    func apply(_ record: EntityRecord, _ core: TransactionCore) throws {
        guard let table = try catalogueTable() else { return }
        let transaction = try core.writeTransaction()
        let known = core.catalog.entities[record.name]
        if let writer = core.changes?.writers.removeValue(forKey: record.name) { try writer.flush() }
        for old in known?.record.indexes ?? [] where !record.indexes.contains(old) {
            guard let database = try transaction.open(named: old.table, create: false, duplicates: true) else {
                continue
            }
            try transaction.drop(database)
        }
        let stamp = core.catalog.stamp
        let entity = try makeEntity(record, stamp: stamp) { name in
            let isIndex = record.indexes.contains { $0.table == name }
            return try transaction.open(
                named: name, create: true, duplicates: isIndex, fixedDuplicates: isIndex && record.isFixedWidth)
        }
        try table.write(record, transaction)
        var entities = core.catalog.entities
        entities[record.name] = entity
        core.changes?.hasCatalogueChanges = true
        core.replaceCatalog(Catalog(stamp: stamp, storeID: core.catalog.storeID, entities: entities))
        let fresh = Set(record.indexes.filter { known?.record.indexes.contains($0) != true }.map(\.name))
        if known != nil, !fresh.isEmpty { try build(fresh, entity.table, core) }
    }

    /// Fills new indexes from the rows.
    private func build(_ names: Set<String>, _ table: EntityTable, _ core: TransactionCore) throws {
        let partial = EntityTable(
            name: table.name, database: table.database, idPath: table.idPath, idType: table.idType,
            indexes: table.indexes.filter { names.contains($0.definition.name) }, fields: table.fields,
            isFixedWidthKey: table.isFixedWidthKey, stamp: table.stamp)
        let writer = TableWriter(table: partial, core: core)
        writer.defersUnique = true
        let cursor = try core.writeTransaction().cursor(table.database)
        defer { cursor.close() }
        var next = try cursor.first()
        while let (key, row) = next {
            try writer.addEntries(of: row, key: key)
            next = try cursor.next()
        }
        try writer.flush()
    }

    /// Drops an entity with all its rows and indexes.
    func drop(_ name: String, _ core: TransactionCore) throws {
        guard let table = try catalogueTable() else { return }
        let transaction = try core.writeTransaction()
        let entity = try core.entity(name)
        core.changes?.writers.removeValue(forKey: name)?.forget()
        for index in entity.table.indexes { try transaction.drop(index.database) }
        try transaction.drop(entity.table.database)
        try table.removeEntity(name, transaction)
        var entities = core.catalog.entities
        entities[name] = nil
        core.changes?.hasCatalogueChanges = true
        core.changes?.generated[name] = nil
        core.replaceCatalog(Catalog(stamp: core.catalog.stamp, storeID: core.catalog.storeID, entities: entities))
    }
}
