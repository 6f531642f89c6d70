import QuarryCoding
import QuarryLMDB

// Walking the sources of candidate rows.
extension Execution {
    /// Rows of a source in its order; the first `skip` are left out, without reading them where an index tells them apart.
    func forEachRow(
        _ source: Run.Source, skip: Int,
        _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        switch source {
        case .nothing: return
        case .table(let ranges): try walkTable(ranges, skip: skip, body)
        case .duplicates(let access, let key):
            try walkDuplicates(access, key, skip: skip) { id in
                guard let row = try row(id) else { return true }
                return try body(id, row)
            }
        case .list(let list):
            try walkList(list, skip: skip) { id in
                guard let row = try row(id) else { return true }
                return try body(id, row)
            }
        case .walk(let walk):
            try walk.forEach(skip: skip) { id in
                guard let row = try row(id) else { return true }
                return try body(id, row)
            }
        }
    }

    /// Ids of a source in its order, without reading rows where that is possible.
    func forEachKey(_ source: Run.Source, skip: Int, _ body: (_ key: UnsafeRawBufferPointer) throws -> Bool) throws {
        switch source {
        case .nothing: return
        case .table(let ranges): try walkTable(ranges, skip: skip) { key, _ in try body(key) }
        case .duplicates(let access, let key): try walkDuplicates(access, key, skip: skip, body)
        case .list(let list): try walkList(list, skip: skip, body)
        case .walk(let walk): try walk.forEach(skip: skip, body)
        }
    }

    // MARK: The table

    @inline(__always)
    private func walkTable(
        _ ranges: [KeyRange], skip: Int,
        _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        // One id: a lookup needs no cursor.
        if ranges.count == 1, ranges[0].isPoint {
            if skip > 0 { return }
            counters.rows += 1
            try ranges[0].lower.withUnsafeBytes { key in
                if let row = try transaction.get(table.database, key: key) { _ = try body(key, row) }
            }
            return
        }
        let cursor = try transaction.cursor(table.database)
        defer { cursor.close() }
        var skip = skip
        if isReversed {
            for range in ranges.reversed() {
                var next = try last(cursor, before: range.upper)
                while let (key, row) = next, range.isAfter(start: key) {
                    counters.rows += 1
                    if skip > 0 { skip -= 1 } else if try !body(key, row) { return }
                    next = try cursor.previous()
                }
            }
            return
        }
        for range in ranges {
            if range.isPoint {
                counters.rows += 1
                guard let (key, row) = try range.lower.withUnsafeBytes({ try cursor.set(key: $0) }) else { continue }
                if skip > 0 { skip -= 1 } else if try !body(key, row) { return }
                continue
            }
            var next = try first(cursor, from: range.lower)
            if range.upper == nil {
                while let (key, row) = next {
                    counters.rows += 1
                    if skip > 0 { skip -= 1 } else if try !body(key, row) { return }
                    next = try cursor.next()
                }
                continue
            }
            while let (key, row) = next, range.isBefore(end: key) {
                counters.rows += 1
                if skip > 0 { skip -= 1 } else if try !body(key, row) { return }
                next = try cursor.next()
            }
        }
    }

    /// The first entry at or after the key.
    @inline(__always)
    func first(
        _ cursor: Cursor, from lower: [UInt8]
    ) throws -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        lower.isEmpty ? try cursor.first() : try lower.withUnsafeBytes { try cursor.setRange(key: $0) }
    }

    /// The last entry before the key.
    func last(
        _ cursor: Cursor, before upper: [UInt8]?
    ) throws -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let upper else { return try cursor.last() }
        guard try upper.withUnsafeBytes({ try cursor.setRange(key: $0) }) != nil else { return try cursor.last() }
        return try cursor.previous()
    }

    // MARK: Lists

    @inline(__always)
    private func walkList(_ list: KeyList, skip: Int, _ body: (_ key: UnsafeRawBufferPointer) throws -> Bool) throws {
        let count = list.count
        var i = skip
        // A token clips a list by position, since it is in order.
        var from = 0
        var to = count
        if plan.isByID, let token = plan.specification.after {
            token.id.withUnsafeBytes { id in
                let after = list.position(after: id)
                if isReversed {
                    to = after
                    if after > 0, list.withKey(after - 1, { compareKeys($0, id) == 0 }) { to = after - 1 }
                } else {
                    from = after
                }
            }
        }
        while i < to - from {
            let place = isReversed ? to - 1 - i : from + i
            i += 1
            guard try list.withKey(place, body) else { return }
        }
    }

    // MARK: One key of an index

    @inline(__always)
    private func walkDuplicates(
        _ access: IndexAccess, _ key: [UInt8], skip: Int, _ body: (_ id: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let cursor = try transaction.cursor(access.index.database)
        defer { cursor.close() }
        guard let found = try key.withUnsafeBytes({ try cursor.set(key: $0) }) else { return }
        if skip > 0, skip >= (try cursor.duplicateCount()) { return }
        var skip = skip
        let token = plan.isByID ? plan.specification.after?.id : nil
        if isReversed {
            var next = try cursor.lastDuplicate()
            while let (_, id) = next {
                counters.entries += 1
                if let token, !isAfter(id: id, token) {
                    // Ids before the token come first here.
                } else if skip > 0 {
                    skip -= 1
                } else if try !body(id) {
                    return
                }
                next = try cursor.previousDuplicate()
            }
            return
        }
        var next: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? = found
        if let token {
            next = try key.withUnsafeBytes { key in
                try token.withUnsafeBytes { try cursor.setRange(key: key, value: $0) }
            }
            if let (_, id) = next, !isAfter(id: id, token) { next = try cursor.nextDuplicate() }
        }
        while let (_, id) = next {
            counters.entries += 1
            if skip > 0 { skip -= 1 } else if try !body(id) { return }
            next = try cursor.nextDuplicate()
        }
    }

    // MARK: Collecting

    /// The length of all primary keys, where eight bytes each make lists of them cheaper.
    var keyWidth: Int? {
        guard table.isFixedWidthKey else { return nil }
        switch table.idType {
        case .int, .uint, .double, .date: return 8
        default: return nil
        }
    }

    /// The ids that an access reaches, in order and each once; nil when there are more than `limit`.
    func collect(_ resolved: ResolvedAccess, limit: Int) throws -> KeyList? {
        let list = KeyList(width: keyWidth)
        guard try collect(resolved, limit: limit, into: list) else { return nil }
        list.sort()
        return list
    }

    private func collect(_ resolved: ResolvedAccess, limit: Int, into list: KeyList) throws -> Bool {
        switch resolved {
        case .nothing: return true
        case .everything: return try collectTable([.everything], limit: limit, into: list)
        case .primary(let ranges): return try collectTable(ranges.ranges, limit: limit, into: list)
        case .index(let access, let ranges): return try collectIndex(access, ranges, limit: limit, into: list)
        case .union(let parts):
            for part in parts {
                guard try collect(part, limit: limit, into: list) else { return false }
            }
            return true
        case .intersection(let parts):
            var common: KeyList?
            for part in parts {
                // Each part may be large where few ids are in all of them.
                guard let next = try collect(part, limit: limit > .max / 4 ? .max : limit * 4) else { return false }
                if let common { common.formIntersection(next) } else { common = next }
            }
            for i in 0..<(common?.count ?? 0) { common?.withKey(i) { list.append($0) } }
            return true
        }
    }

    private func collectTable(_ ranges: [KeyRange], limit: Int, into list: KeyList) throws -> Bool {
        let cursor = try transaction.cursor(table.database)
        defer { cursor.close() }
        for range in ranges {
            if range.isPoint {
                if let (key, _) = try range.lower.withUnsafeBytes({ try cursor.set(key: $0) }) { list.append(key) }
                continue
            }
            var next = try first(cursor, from: range.lower)
            while let (key, _) = next, range.isBefore(end: key) {
                list.append(key)
                if list.count > limit { return false }
                next = try cursor.next()
            }
        }
        return true
    }

    private func collectIndex(
        _ access: IndexAccess, _ ranges: KeyRanges, limit: Int, into list: KeyList
    ) throws -> Bool {
        let cursor = try transaction.cursor(access.index.database)
        defer { cursor.close() }
        for range in ranges.ranges {
            if range.isPoint && access.pointsAreKeys {
                guard let (_, id) = try range.lower.withUnsafeBytes({ try cursor.set(key: $0) }) else { continue }
                try collectDuplicates(access.index, cursor, first: id, into: list)
            } else {
                var next = try first(cursor, from: range.lower)
                while let (key, id) = next, range.isBefore(end: key) {
                    counters.entries += 1
                    list.append(id)
                    if list.count > limit { return false }
                    next = try cursor.next()
                }
            }
            if list.count > limit { return false }
        }
        return true
    }

    /// All ids under the cursor's key; packed ones a page at a time.
    private func collectDuplicates(
        _ index: IndexTable, _ cursor: Cursor, first id: UnsafeRawBufferPointer, into list: KeyList
    ) throws {
        counters.entries += 1
        let width = id.count
        if index.isFixedWidth, width > 0, try cursor.duplicateCount() > 4, let block = try cursor.nextMultiple() {
            // The first block is the page the cursor stands on or, when that held one id only, the next.
            let startsWithFirst =
                block.count >= width && equalBytes(UnsafeRawBufferPointer(rebasing: block[..<width]), id)
            if !startsWithFirst { list.append(id) }
            var page: UnsafeRawBufferPointer? = block
            while let ids = page {
                var at = 0
                while at + width <= ids.count {
                    list.append(UnsafeRawBufferPointer(rebasing: ids[at..<at + width]))
                    at += width
                }
                counters.entries += ids.count / width
                page = try cursor.nextMultiple()
            }
            return
        }
        list.append(id)
        while let (_, next) = try cursor.nextDuplicate() {
            counters.entries += 1
            list.append(next)
        }
    }
}
