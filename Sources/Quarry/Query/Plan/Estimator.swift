import QuarryCoding
import QuarryLMDB

/// Counts how many rows key ranges hold: exactly where they are few, by a guess where they are many.
///
/// Lives while a plan is made, in that transaction.
final class Estimator {
    private let transaction: Transaction
    private let table: EntityTable
    private var cursors: [Database: Cursor] = [:]
    private var averages: [Database: Double] = [:]
    private var counts: [Database: Double] = [:]

    /// Keys looked at before the rest is guessed.
    static let steps = 64
    /// Ranges looked at before the rest is taken to be like them.
    private static let samples = 16

    init(_ table: EntityTable, _ transaction: Transaction) {
        self.table = table
        self.transaction = transaction
    }

    func close() {
        for cursor in cursors.values { cursor.close() }
        cursors = [:]
    }

    func entries(_ database: Database) throws -> Double {
        if let known = counts[database] { return known }
        let count = Double(try transaction.entryCount(database))
        counts[database] = count
        return count
    }

    var rows: Double { get throws { try entries(table.database) } }

    private func cursor(_ database: Database) throws -> Cursor {
        if let known = cursors[database] { return known }
        let cursor = try transaction.cursor(database)
        cursors[database] = cursor
        return cursor
    }

    /// Rows whose keys lie in the ranges.
    func estimate(_ ranges: KeyRanges, in database: Database, pointsAreKeys: Bool) throws -> Double {
        let all = try entries(database)
        if all == 0 { return 0 }
        if !database.isDuplicates && pointsAreKeys && ranges.arePoints { return min(Double(ranges.ranges.count), all) }
        var sum = 0.0
        let looked = ranges.ranges.prefix(Self.samples)
        for range in looked {
            sum += try estimate(range, in: database, isKey: pointsAreKeys && range.isPoint, all: all)
        }
        if ranges.ranges.count > looked.count { sum *= Double(ranges.ranges.count) / Double(looked.count) }
        return min(sum, all)
    }

    private func estimate(_ range: KeyRange, in database: Database, isKey: Bool, all: Double) throws -> Double {
        if range.isEverything { return all }
        let cursor = try cursor(database)
        var next = try range.lower.withUnsafeBytes { lower in
            if isKey { return try cursor.set(key: lower) }
            return lower.isEmpty ? try cursor.first() : try cursor.setRange(key: lower)
        }
        guard next != nil else { return 0 }
        if isKey { return database.isDuplicates ? Double(try cursor.duplicateCount()) : 1 }
        var counted = 0.0
        var lowest: UInt64?
        let bounds = try bounds(database)
        for _ in 0..<Self.steps {
            guard let (key, _) = next, range.isBefore(end: key) else { return counted }
            if lowest == nil { lowest = bounds.position(key) }
            counted += database.isDuplicates ? Double(try cursor.duplicateCount()) : 1
            next = database.isDuplicates ? try cursor.nextNoDuplicate() : try cursor.next()
        }
        guard next != nil else { return counted }
        let highest = range.upper.map { upper in upper.withUnsafeBytes { bounds.position($0) } } ?? bounds.last
        let span = Double(bounds.last) - Double(bounds.first)
        let part = Double(max(highest, lowest ?? 0)) - Double(lowest ?? 0)
        return min(max(counted * 2, span > 0 ? all * part / span : all), all)
    }

    /// Average rows of one key of an index.
    func average(_ index: IndexTable) throws -> Double {
        if let known = averages[index.database] { return known }
        let cursor = try cursor(index.database)
        var keys = 0.0
        var entries = 0.0
        // Nil is one key with perhaps most of the rows, and seldom the one that is looked up.
        var next = try [KeyTag.null + 1].withUnsafeBytes { try cursor.setRange(key: $0) }
        while next != nil, keys < Double(Self.steps) {
            keys += 1
            entries += Double(try cursor.duplicateCount())
            next = try cursor.nextNoDuplicate()
        }
        let average = keys == 0 ? 1 : entries / keys
        averages[index.database] = average
        return average
    }

    /// Where keys lie between the first and the last of a table.
    private struct Bounds {
        var common: Int
        var first: UInt64
        var last: UInt64
        var lastKey: [UInt8]
        var firstKey: [UInt8]

        /// The eight bytes after those that all keys share, as a number.
        func position(_ key: UnsafeRawBufferPointer) -> UInt64 {
            if lastKey.withUnsafeBytes({ compare(key, $0) >= 0 }) { return last }
            if firstKey.withUnsafeBytes({ compare(key, $0) <= 0 }) { return first }
            return Bounds.number(key, from: common)
        }

        private func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int { compareKeys(a, b) }

        static func number(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
            var result: UInt64 = 0
            for i in 0..<8 { result = result << 8 | UInt64(start + i < key.count ? key[start + i] : 0) }
            return result
        }
    }
    private var allBounds: [Database: Bounds] = [:]

    private func bounds(_ database: Database) throws -> Bounds {
        if let known = allBounds[database] { return known }
        // A cursor of its own, so that a walk in progress keeps its place.
        let cursor = try transaction.cursor(database)
        defer { cursor.close() }
        let first = try cursor.first().map { Array($0.key) } ?? []
        let last = try cursor.last().map { Array($0.key) } ?? []
        var common = 0
        while common < first.count, common < last.count, first[common] == last[common] { common += 1 }
        let bounds = Bounds(
            common: common, first: first.withUnsafeBytes { Bounds.number($0, from: common) },
            last: last.withUnsafeBytes { Bounds.number($0, from: common) }, lastKey: last, firstKey: first)
        allBounds[database] = bounds
        return bounds
    }
}

extension KeyRange {
    /// Whether the key lies before the end of the range.
    @inline(__always)
    func isBefore(end key: UnsafeRawBufferPointer) -> Bool {
        guard let upper else { return true }
        return upper.withUnsafeBytes { compareKeys(key, $0) < 0 }
    }

    /// Whether the key lies at or after the start of the range.
    @inline(__always)
    func isAfter(start key: UnsafeRawBufferPointer) -> Bool {
        lower.isEmpty || lower.withUnsafeBytes { compareKeys(key, $0) >= 0 }
    }
}

/// The order of LMDB's keys.
@inline(__always)
func compareKeys(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    guard let x = a.baseAddress, let y = b.baseAddress else { return a.count - b.count }
    return compareBytes(x, a.count, y, b.count)
}
