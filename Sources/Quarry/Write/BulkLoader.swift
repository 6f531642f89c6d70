import QuarryCoding
import QuarryLMDB

/// Inserts many rows in one go: rows are collected, sorted by key and put in order, index entries after them.
///
/// Rows in key order fill pages from left to right, so a load in random order is nearly as fast, and the file nearly as
/// small, as one in order. Memory is bounded by the store's `bufferSize` for rows and again for each index's entries.
final class BulkLoader {
    private let writer: TableWriter
    private let limit: Int
    private var arena = EntryArena(capacity: 1 << 16)
    private var entries: [SortEntry] = []
    private var isSorted = true
    private var lastKey: (offset: Int, count: Int)?
    /// Position in the batch of the first row that is not put yet.
    private var base = 0

    init(writer: TableWriter, limit: Int) {
        self.writer = writer
        // Offsets are 32 bits wide.
        self.limit = min(limit, 1 << 31)
    }

    /// Takes a row; u16 key length, u32 row length, key, row.
    @inline(__always)
    func add(key: UnsafeRawBufferPointer, row: UnsafeRawBufferPointer) throws {
        let offset = arena.count
        let place = arena.extend(by: 6 + key.count + row.count)
        place.storeBytes(of: UInt16(truncatingIfNeeded: key.count), as: UInt16.self)
        place.storeBytes(of: UInt32(truncatingIfNeeded: row.count), toByteOffset: 2, as: UInt32.self)
        if let bytes = key.baseAddress { (place + 6).copyMemory(from: bytes, byteCount: key.count) }
        if let bytes = row.baseAddress { (place + 6 + key.count).copyMemory(from: bytes, byteCount: row.count) }
        if isSorted, let last = lastKey,
            compareBytes(arena.base + last.offset, last.count, place + 6, key.count) >= 0
        {
            isSorted = false
        }
        lastKey = (offset + 6, key.count)
        entries.append(
            SortEntry(
                prefix: SortEntry.prefix(place + 6, key.count), offset: UInt32(truncatingIfNeeded: offset),
                ordinal: UInt32(truncatingIfNeeded: entries.count)))
        if arena.count >= limit { try flush() }
    }

    private struct Row {
        var key: UnsafeRawBufferPointer
        var row: UnsafeRawBufferPointer
    }

    @inline(__always)
    private func row(_ entry: SortEntry) -> Row {
        let place = UnsafeRawPointer(arena.base) + Int(entry.offset)
        let keyCount = Int(place.loadUnaligned(as: UInt16.self))
        let rowCount = Int(place.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
        return Row(
            key: UnsafeRawBufferPointer(start: place + 6, count: keyCount),
            row: UnsafeRawBufferPointer(start: place + 6 + keyCount, count: rowCount))
    }

    /// Puts what has been collected.
    func flush() throws {
        if entries.isEmpty { return }
        defer {
            base += entries.count
            entries.removeAll(keepingCapacity: true)
            arena.reset()
            isSorted = true
            lastKey = nil
        }
        if !isSorted { sort() }
        let table = writer.table
        let transaction = try writer.core.writeTransaction()
        let cursor = try transaction.cursor(table.database)
        defer { cursor.close() }
        // Only keys beyond the last stored one may be appended.
        var last = try cursor.last().map { Array($0.key) }
        var appends = last == nil
        for entry in entries {
            let next = row(entry)
            if let bound = last, !appends {
                appends = bound.withUnsafeBytes {
                    guard let a = $0.baseAddress, let b = next.key.baseAddress else { return false }
                    return compareBytes(b, next.key.count, a, $0.count) > 0
                }
                if appends { last = nil }
            }
            let isNew = try cursor.put(key: next.key, value: next.row, flags: appends ? .append : .noOverwrite)
            if !isNew {
                throw QuarryError.inBatch(
                    index: base + Int(entry.ordinal),
                    cause: .duplicateID(entity: table.name, id: table.idDescription(next.key)))
            }
            do {
                if !table.indexes.isEmpty { try writer.addEntries(of: next.row, key: next.key) }
            } catch let error as QuarryError {
                throw QuarryError.inBatch(index: base + Int(entry.ordinal), cause: error)
            }
        }
        try writer.flush(uniqueOnly: true) { id in
            self.entries.first { equalBytes(self.row($0).key, id) }.map { self.base + Int($0.ordinal) }
        }
    }

    private func sort() {
        let base = UnsafeRawPointer(arena.base)
        entries.withUnsafeMutableBufferPointer { buffer in
            buffer.sort { a, b in
                if a.prefix != b.prefix { return a.prefix < b.prefix }
                let x = base + Int(a.offset)
                let y = base + Int(b.offset)
                let order = compareBytes(
                    x + 6, Int(x.loadUnaligned(as: UInt16.self)), y + 6, Int(y.loadUnaligned(as: UInt16.self)))
                return order != 0 ? order < 0 : a.ordinal < b.ordinal
            }
        }
    }
}
