import QuarryCoding
import QuarryLMDB

/// Ids in the order of an index, group by group: rows with the same sort values come in the order of their ids,
/// whichever way the index is walked.
final class IndexWalk {
    private let plan: IndexWalkPlan
    private unowned let execution: Execution
    /// In walking order.
    private var segments: [KeyRange] = []
    let isExact: Bool
    private let budget: Int
    private let hasText: Bool
    /// Where the page before ended, as bytes that the keys of its group begin with.
    private var tokenGroup: [UInt8]?
    private var token: Execution.TokenStart?

    /// Nil when a variable's value does not fit the index.
    init?(_ plan: IndexWalkPlan, _ execution: Execution, _ variables: [String: Value]) throws {
        self.plan = plan
        self.execution = execution
        let definition = plan.index.definition
        budget = definition.textBudget
        hasText = definition.components.prefix(plan.terms.count).contains { $0.type == .string || $0.type == .data }
        var ranges = KeyRanges.everything
        var prefix: [UInt8] = []
        if let access = plan.access {
            guard let found = access.ranges ?? IndexAccess.ranges(access.parts, definition, variables) else {
                return nil
            }
            ranges = found
            if plan.fixed > 0 {
                guard let fixed = IndexAccess.ranges(Array(access.parts.prefix(plan.fixed)), definition, variables),
                    fixed.ranges.count <= 1
                else { return nil }
                prefix = fixed.ranges.first?.lower ?? []
            }
        }
        isExact = ranges.isExact
        if hasText { ranges = try IndexWalk.widened(ranges, budget: budget) }
        let nils = KeyRanges([KeyRange(point: prefix + [KeyTag.null])])
        let parts: [KeyRanges]
        if plan.splitsNils {
            let others = KeyRanges([KeyRange(lower: prefix + [KeyTag.null + 1], upper: KeyRange.successor(prefix))])
            let split = [ranges.intersection(nils), ranges.intersection(others)]
            parts = plan.nilsLast ? split.reversed() : split
        } else {
            parts = [ranges]
        }
        for part in parts { segments += plan.isReversed ? part.ranges.reversed() : part.ranges }
        token = try execution.tokenStart()
        if let start = execution.plan.specification.after, token != nil {
            guard clip(start, prefix, nils) else { return nil }
        }
    }

    /// Points on cut keys as ranges of all keys with the same start, which have to be put in order together. Such points
    /// are inexact already.
    private static func widened(_ ranges: KeyRanges, budget: Int) throws -> KeyRanges {
        guard ranges.ranges.contains(where: { $0.isPoint && $0.lower.count > budget }) else { return ranges }
        let wide = try ranges.ranges.map { range in
            guard range.isPoint, range.lower.count > budget else { return range }
            return try range.lower.withUnsafeBytes { key in
                var end = 0
                for component in KeyCoder.components(key) {
                    _ = try KeyCoder.value(at: &end, of: key)
                    guard component.isCut else { continue }
                    let start = Array(key[..<(end - 8)])
                    return KeyRange(lower: start, upper: KeyRange.successor(start))
                }
                return range
            }
        }
        return KeyRanges(wide, isExact: ranges.isExact)
    }

    // MARK: Tokens

    /// Leaves out what comes before the page token. False when the token does not fit the index.
    private func clip(_ start: PageToken, _ prefix: [UInt8], _ nils: KeyRanges) -> Bool {
        var group = prefix
        var isNil = false
        for (c, place) in plan.terms.enumerated() where place != nil {
            guard let place, place < start.components.count else { return false }
            let component = start.components[place]
            if c == plan.fixed { isNil = component.first == KeyTag.null }
            guard component.count > budget else {
                group += component
                continue
            }
            guard let cut = plan.index.definition.column(c).recut(component) else { return false }
            if cut.isCut {
                group += KeyColumn.kept(of: cut.bytes) + [0xFF]
                break
            }
            group += cut.bytes
        }
        tokenGroup = group
        let bounds = KeyRange(point: group)
        let nilRange = nils.ranges.first
        var result: [KeyRange] = []
        for segment in segments {
            var part = segment
            if plan.splitsNils {
                let segmentIsNil = nilRange.map { $0.contains(segment.lower) } ?? false
                if segmentIsNil != isNil {
                    // The other kind lies wholly before the token or wholly after it.
                    if segmentIsNil == plan.nilsLast { result.append(segment) }
                    continue
                }
            }
            if plan.isReversed {
                if let end = bounds.upper, part.upper.map({ KeyRange.precedes(end, $0) }) ?? true { part.upper = end }
            } else if KeyRange.precedes(part.lower, bounds.lower) {
                part.lower = bounds.lower
            }
            if !part.isEmpty { result.append(part) }
        }
        segments = result
        return true
    }

    @inline(__always)
    private func isTokenGroup(_ key: UnsafeRawBufferPointer) -> Bool {
        guard let tokenGroup, key.count >= tokenGroup.count else { return false }
        return key.starts(with: tokenGroup)
    }

    // MARK: Walking

    /// Calls `body` with the ids; the first `skip` are left out without being looked at.
    func forEach(skip: Int, _ body: (_ id: UnsafeRawBufferPointer) throws -> Bool) throws {
        let cursor = try execution.transaction.cursor(plan.index.database)
        defer { cursor.close() }
        var skip = skip
        for segment in segments {
            var next =
                plan.isReversed
                ? try execution.last(cursor, before: segment.upper) : try execution.first(cursor, from: segment.lower)
            while let (key, id) = next {
                guard plan.isReversed ? segment.isAfter(start: key) : segment.isBefore(end: key) else { break }
                if plan.groupsKeys || (hasText && key.count > budget), let group = try group(key) {
                    guard try walkGroup(group, cursor, (key, id), segment, &skip, &next, body) else { return }
                    continue
                }
                guard try walkKey(key, id, cursor, &skip, body) else { return }
                next = plan.isReversed ? try cursor.previousNoDuplicate() : try cursor.nextNoDuplicate()
            }
        }
    }

    /// The ids under one key.
    @inline(__always)
    private func walkKey(
        _ key: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ cursor: Cursor, _ skip: inout Int,
        _ body: (_ id: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let start = isTokenGroup(key) ? token?.id : nil
        if skip > 0, start == nil {
            let count = try cursor.duplicateCount()
            if skip >= count {
                skip -= count
                execution.counters.entries += 1
                return true
            }
        }
        var next: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? = (key, id)
        // Walked forwards the cursor stands on the first id, backwards on the last.
        if plan.idsDescending != plan.isReversed {
            next = plan.idsDescending ? try cursor.lastDuplicate() : try cursor.firstDuplicate()
        }
        while let (_, id) = next {
            execution.counters.entries += 1
            if let start, !execution.isAfter(id: id, start) {
                // On the page before.
            } else if skip > 0 {
                skip -= 1
            } else if try !body(id) {
                return false
            }
            next = plan.idsDescending ? try cursor.previousDuplicate() : try cursor.nextDuplicate()
        }
        return true
    }

    // MARK: Groups of keys

    private struct Group {
        /// What all its keys begin with.
        var prefix: [UInt8]
        /// The keys' order is not that of the values, which are compared whole, from the rows.
        var isCut: Bool
    }

    /// The group of keys that one key belongs to; nil when it is alone.
    private func group(_ key: UnsafeRawBufferPointer) throws -> Group? {
        let components = KeyCoder.components(key)
        guard components.count >= plan.terms.count else {
            throw QuarryError.damaged(
                path: execution.core.store.path, reason: "a key of the index \(plan.index.definition.name)")
        }
        var end = 0
        for c in plan.terms.indices {
            _ = try KeyCoder.value(at: &end, of: key)
            // A cut component ends with FF and eight bytes of hash.
            if components[c].isCut { return Group(prefix: Array(key[..<(end - 8)]), isCut: true) }
        }
        return plan.groupsKeys ? Group(prefix: Array(key[..<end]), isCut: false) : nil
    }

    private func walkGroup(
        _ group: Group, _ cursor: Cursor, _ start: (UnsafeRawBufferPointer, UnsafeRawBufferPointer),
        _ segment: KeyRange, _ skip: inout Int,
        _ next: inout (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?,
        _ body: (_ id: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let isToken = isTokenGroup(start.0)
        let maker = execution.makeSortKeys()
        let list = KeyList(width: nil)
        var buffer = SortBuffer(idsDescending: plan.idsDescending)
        while let (key, id) = next, key.starts(with: group.prefix) {
            guard plan.isReversed ? segment.isAfter(start: key) : segment.isBefore(end: key) else { break }
            execution.counters.entries += 1
            if !group.isCut {
                if !isToken || token.map({ execution.isAfter(id: id, $0.id) }) ?? true { list.append(id) }
            } else if let row = try execution.row(id), let sortKey = try maker.make(row) {
                if !isToken || token.map({ execution.isAfter($0, sortKey, id) }) ?? true {
                    buffer.offer(key: sortKey, id: id, row: UnsafeRawBufferPointer(start: nil, count: 0))
                }
            }
            next = plan.isReversed ? try cursor.previous() : try cursor.next()
        }
        if group.isCut {
            buffer.sort()
            for i in 0..<buffer.count {
                if skip > 0 { skip -= 1 } else if try !body(buffer[i].id) { return false }
            }
            return true
        }
        list.sort()
        for i in 0..<list.count {
            if skip > 0 {
                skip -= 1
                continue
            }
            guard try list.withKey(plan.idsDescending ? list.count - 1 - i : i, body) else { return false }
        }
        return true
    }
}
