import QuarryCoding
import QuarryLMDB

// Answers that need no rows where an index gives them.
extension Execution {
    /// The number of rows of the result, offset and limit applied.
    package func count() throws -> Int {
        if plan.limit == 0 { return 0 }
        guard plan.specification.after == nil else {
            var count = 0
            try forEachMatch { _ in
                count += 1
                return true
            }
            return count
        }
        let needed = plan.limit.map { plan.offset + $0 } ?? .max
        return max(0, min(try matchCount(upTo: needed), needed) - plan.offset)
    }

    /// Whether the result has any row.
    package func exists() throws -> Bool {
        if plan.limit == 0 { return false }
        if plan.specification.after == nil, plan.offset == 0 {
            if plan.fallback.residual == nil { return try transaction.entryCount(table.database) > 0 }
            if let resolved = exactAccess(), let answer = try hasAny(resolved) { return answer }
        }
        var found = false
        try forEachMatch { _ in
            found = true
            return false
        }
        return found
    }

    /// The ids of the result in order, as bytes of their own, so that rows may be changed while going through them.
    package func keyList() throws -> KeyList {
        let list = KeyList(width: keyWidth)
        try forEachMatch {
            list.append($0)
            return true
        }
        return list
    }

    package func keys() throws -> [[UInt8]] { try keyList().arrays }

    // MARK: Parts

    /// The ids of the result in order; rows are read only to check or sort them.
    private func forEachMatch(_ body: (_ key: UnsafeRawBufferPointer) throws -> Bool) throws {
        if plan.limit == 0 { return }
        let run = try prepare()
        guard run.isOrdered, run.check == .none else { return try forEachRow { key, _ in try body(key) } }
        var left = plan.limit ?? .max
        try forEachKey(run.source, skip: plan.offset) { key in
            left -= 1
            return try body(key) && left > 0
        }
    }

    /// An access that holds exactly the matching rows, with its variables bound.
    private func exactAccess() -> ResolvedAccess? {
        guard let counting = plan.counting, case .access(let access) = counting.source,
            let resolved = resolve(access), resolved.isExact
        else { return nil }
        return resolved
    }

    private func matchCount(upTo needed: Int) throws -> Int {
        if plan.fallback.residual == nil { return try transaction.entryCount(table.database) }
        if let resolved = exactAccess() { return try exactCount(resolved, upTo: needed) }
        // Order does not matter to a number, so the cheapest source will do.
        let run = try prepareUnordered()
        var count = 0
        guard let matcher = try matcher(run.check) else {
            try forEachKey(run.source, skip: 0) { _ in
                count += 1
                return count < needed
            }
            return count
        }
        try forEachRow(run.source, skip: 0) { _, row in
            if try matcher.matches(row: row) { count += 1 }
            return count < needed
        }
        counters.matches += count
        return count
    }

    private func exactCount(_ resolved: ResolvedAccess, upTo needed: Int) throws -> Int {
        switch resolved {
        case .nothing: return 0
        case .everything: return try transaction.entryCount(table.database)
        case .primary(let ranges):
            var count = 0
            try forEachKey(.table(ranges.ranges), skip: 0) { _ in
                count += 1
                return count < needed
            }
            return count
        case .index(let access, let ranges):
            let isOneKey = access.pointsAreKeys && ranges.ranges.count <= 1 && ranges.arePoints
            if !access.hasEach || isOneKey { return try indexCount(access, ranges, upTo: needed) }
            // One row may have several entries.
            return try collect(resolved, limit: .max)?.count ?? 0
        case .union, .intersection:
            return try collect(resolved, limit: .max)?.count ?? 0
        }
    }

    private func indexCount(_ access: IndexAccess, _ ranges: KeyRanges, upTo needed: Int) throws -> Int {
        let cursor = try transaction.cursor(access.index.database)
        defer { cursor.close() }
        var count = 0
        for range in ranges.ranges {
            if range.isPoint, access.pointsAreKeys {
                counters.entries += 1
                if try range.lower.withUnsafeBytes({ try cursor.set(key: $0) }) != nil {
                    count += try cursor.duplicateCount()
                }
            } else {
                var next = try first(cursor, from: range.lower)
                while let (key, _) = next, range.isBefore(end: key), count < needed {
                    counters.entries += 1
                    count += try cursor.duplicateCount()
                    next = try cursor.nextNoDuplicate()
                }
            }
            if count >= needed { break }
        }
        return count
    }

    /// Whether an exact access reaches any row; nil when its parts cannot tell.
    private func hasAny(_ resolved: ResolvedAccess) throws -> Bool? {
        switch resolved {
        case .nothing: return false
        case .everything: return try transaction.entryCount(table.database) > 0
        case .primary(let ranges):
            var found = false
            try forEachKey(.table(ranges.ranges), skip: 0) { _ in
                found = true
                return false
            }
            return found
        case .index(let access, let ranges):
            return try indexCount(access, ranges, upTo: 1) > 0
        case .union(let parts):
            for part in parts {
                guard let found = try hasAny(part) else { return nil }
                if found { return true }
            }
            return false
        case .intersection: return nil
        }
    }
}
