import Foundation
import QuarryCoding
import QuarryLMDB

/// What a store holds, as one transaction sees it. Immutable: a change makes a new one.
final class Catalog: Sendable {
    /// Grows with every change of entities, indexes or shapes, in whatever process.
    let stamp: UInt64
    let storeID: UUID
    let entities: [String: CatalogEntity]

    init(stamp: UInt64, storeID: UUID, entities: [String: CatalogEntity]) {
        self.stamp = stamp
        self.storeID = storeID
        self.entities = entities
    }

    var names: [String] { entities.keys.sorted() }
}

/// An entity's record and the opened tables behind it.
struct CatalogEntity: Sendable {
    let record: EntityRecord
    let table: EntityTable
}

/// The catalogue's keys and values. The bytes are described in FileFormat.md.
enum CatalogueKey {
    static let formatVersion = 1
    static let tableName = "quarry"
    static let magic: [UInt8] = Array("Quarry store".utf8)

    static let header = Array("!header".utf8)
    static let stamp = Array("!stamp".utf8)
    static func entity(_ name: String) -> [UInt8] { Array("e/\(name)".utf8) }
    static let entityPrefix = Array("e/".utf8)
    static func generated(_ name: String) -> [UInt8] { Array("g/\(name)".utf8) }
    static let shapePrefix = Array("s/".utf8)
    static func shape(_ id: UInt16) -> [UInt8] { shapePrefix + [UInt8(id >> 8), UInt8(id & 0xFF)] }
}

/// Reads and writes the catalogue's table inside a transaction.
struct CatalogueTable {
    let database: Database
    let path: String

    // MARK: Header

    struct Header {
        var version: Int
        var storeID: UUID
    }

    func header(_ transaction: Transaction) throws -> Header? {
        guard let bytes = try get(CatalogueKey.header, transaction) else { return nil }
        let magic = CatalogueKey.magic
        guard bytes.count >= magic.count + 20, bytes.starts(with: magic) else {
            throw QuarryError.foreignFile(path: path, reason: "its catalogue has another layout")
        }
        let version = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: magic.count, as: UInt32.self))
        let id = bytes.loadUnaligned(fromByteOffset: magic.count + 4, as: uuid_t.self)
        guard version <= CatalogueKey.formatVersion else {
            throw QuarryError.newerFormat(path: path, found: Int(version), supported: CatalogueKey.formatVersion)
        }
        return Header(version: Int(version), storeID: UUID(uuid: id))
    }

    func writeHeader(_ id: UUID, _ transaction: RawWriteTransaction) throws {
        var bytes = CatalogueKey.magic
        withUnsafeBytes(of: UInt32(CatalogueKey.formatVersion).littleEndian) { bytes += $0 }
        withUnsafeBytes(of: id.uuid) { bytes += $0 }
        try put(CatalogueKey.header, bytes, transaction)
    }

    // MARK: Numbers

    func stamp(_ transaction: Transaction) throws -> UInt64 { try number(CatalogueKey.stamp, transaction) ?? 0 }

    func generated(_ name: String, _ transaction: Transaction) throws -> UInt64 {
        try number(CatalogueKey.generated(name), transaction) ?? 0
    }

    func number(_ key: [UInt8], _ transaction: Transaction) throws -> UInt64? {
        guard let bytes = try get(key, transaction) else { return nil }
        guard bytes.count == 8 else { throw QuarryError.damaged(path: path, reason: "a number of the catalogue") }
        return UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    }

    func write(number: UInt64, _ key: [UInt8], _ transaction: RawWriteTransaction) throws {
        try withUnsafeBytes(of: number.littleEndian) { try put(key, Array($0), transaction) }
    }

    // MARK: Entities and shapes

    func entities(_ transaction: Transaction) throws -> [EntityRecord] {
        var records: [EntityRecord] = []
        try forEach(CatalogueKey.entityPrefix, transaction) { _, value in
            do {
                records.append(try JSONDecoder().decode(EntityRecord.self, from: Data(value)))
            } catch {
                throw QuarryError.damaged(path: path, reason: "an entity of the catalogue does not decode")
            }
        }
        return records
    }

    func write(_ record: EntityRecord, _ transaction: RawWriteTransaction) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try put(CatalogueKey.entity(record.name), Array(try encoder.encode(record)), transaction)
    }

    func removeEntity(_ name: String, _ transaction: RawWriteTransaction) throws {
        for key in [CatalogueKey.entity(name), CatalogueKey.generated(name)] {
            _ = try key.withUnsafeBytes { try transaction.delete(database, key: $0) }
        }
    }

    /// Gives the registry the shapes it does not know yet.
    func loadShapes(into registry: ShapeRegistry, _ transaction: Transaction) throws {
        try forEach(CatalogueKey.shapePrefix, transaction) { key, value in
            guard key.count == 4 else { throw QuarryError.damaged(path: path, reason: "a shape's number") }
            let id = UInt16(key[2]) << 8 | UInt16(key[3])
            do {
                try registry.load(id: id, columns: try Shape.columns(from: value))
            } catch {
                throw QuarryError.damaged(path: path, reason: "shape \(id) of the catalogue: \(error)")
            }
        }
    }

    func write(_ shape: Shape, _ transaction: RawWriteTransaction) throws {
        try put(CatalogueKey.shape(shape.id), shape.serialized(), transaction)
    }

    // MARK: Bytes

    func get(_ key: [UInt8], _ transaction: Transaction) throws -> UnsafeRawBufferPointer? {
        try key.withUnsafeBytes { try transaction.get(database, key: $0) }
    }

    private func put(_ key: [UInt8], _ value: [UInt8], _ transaction: RawWriteTransaction) throws {
        try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in
                _ = try transaction.put(database, key: key, value: value, flags: [])
            }
        }
    }

    private func forEach(
        _ prefix: [UInt8], _ transaction: Transaction,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let cursor = try transaction.cursor(database)
        defer { cursor.close() }
        var next = try prefix.withUnsafeBytes { try cursor.setRange(key: $0) }
        while let (key, value) = next, key.starts(with: prefix) {
            try body(key, value)
            next = try cursor.next()
        }
    }
}
