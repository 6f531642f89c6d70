import Foundation
import QuarryCoding
import QuarryLMDB

/// Takes the values of one field, one after another, for a sum or the like. Numbers come without being wrapped.
package protocol ValueSink {
    mutating func add(_ number: Int64, times: Int) throws
    mutating func add(_ number: Double, times: Int) throws
    /// Everything else, nil included.
    mutating func add(_ value: Value, times: Int) throws
}

private struct ClosureSink: ValueSink {
    let body: (Value, Int) throws -> Void
    func add(_ number: Int64, times: Int) throws { try body(.int(number), times) }
    func add(_ number: Double, times: Int) throws { try body(.double(number), times) }
    func add(_ value: Value, times: Int) throws { try body(value, times) }
}

extension Execution {
    /// Calls `body` with the field's values in the result, and how many rows of it in a row have each.
    package func forEachValue(of path: [String], _ body: @escaping (Value, Int) throws -> Void) throws {
        var sink = ClosureSink(body: body)
        try forEachValue(of: path, into: &sink)
    }

    /// Gives the field's values in the result to `sink`: from an index alone where one holds them and exactly the rows.
    package func forEachValue<S: ValueSink>(of path: [String], into sink: inout S) throws {
        if plan.offset == 0, plan.limit == nil, plan.specification.after == nil,
            try readFromIndex(path, into: &sink)
        {
            return
        }
        var lastShape: UInt16?
        var slot: Slot?
        let registry = registry
        let name = path.count == 1 ? path[0] : nil
        try withoutOrder { row in
            let view = try RowView(row, registry)
            guard let name else { return try sink.add(view.value(of: path), times: 1) }
            if lastShape != view.shape.id {
                slot = view.shape.slot(named: name)
                lastShape = view.shape.id
            }
            guard let slot else { return try sink.add(.null, times: 1) }
            switch slot.packing {
            case .int8, .int16, .int32, .int64:
                if let number = view.int(slot) { return try sink.add(number, times: 1) }
            case .float, .double:
                if let number = view.double(slot) { return try sink.add(number, times: 1) }
            default: break
            }
            try sink.add(view.value(slot), times: 1)
        }
    }

    /// The rows of the result; in their order only where offset, limit or token make it matter.
    private func withoutOrder(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        if plan.offset > 0 || plan.limit != nil || plan.specification.after != nil {
            return try forEachRow { _, row in
                try body(row)
                return true
            }
        }
        let run = try prepareUnordered()
        guard let matcher = try matcher(run.check) else {
            return try forEachRow(run.source, skip: 0) { _, row in
                try body(row)
                return true
            }
        }
        try forEachRow(run.source, skip: 0) { _, row in
            if try matcher.matches(row: row) { try body(row) }
            return true
        }
    }

    // MARK: Indexes alone

    /// False when no index holds the values of exactly the matching rows.
    private func readFromIndex<S: ValueSink>(_ path: [String], into sink: inout S) throws -> Bool {
        if plan.fallback.residual == nil {
            // The whole table: any index with the field has an entry for each row.
            for index in table.indexes {
                guard let place = place(of: path, in: index) else { continue }
                try read(index, place, [.everything], into: &sink)
                return true
            }
            return false
        }
        guard let counting = plan.counting, case .access(.index(let access)) = counting.source,
            let place = place(of: path, in: access.index),
            case .index(_, let ranges)? = resolve(.index(access)), ranges.isExact
        else { return false }
        try read(access.index, place, ranges.ranges, into: &sink)
        return true
    }

    /// The component that holds the field's very values; text is kept in another form, and has to be read from the row.
    private func place(of path: [String], in index: IndexTable) -> Int? {
        let components = index.definition.components
        if components.contains(where: \.isEach) { return nil }
        return components.firstIndex { component in
            guard component.path == path else { return false }
            return switch component.type {
            case .int, .uint, .double, .bool, .date, .uuid: true
            default: false
            }
        }
    }

    private func read<S: ValueSink>(
        _ index: IndexTable, _ place: Int, _ ranges: [KeyRange], into sink: inout S
    ) throws {
        let cursor = try transaction.cursor(index.database)
        defer { cursor.close() }
        for range in ranges {
            var next = try first(cursor, from: range.lower)
            while let (key, _) = next, range.isBefore(end: key) {
                counters.entries += 1
                let times = try cursor.duplicateCount()
                var at = 0
                var value = try KeyCoder.value(at: &at, of: key)
                for _ in 0..<place { value = try KeyCoder.value(at: &at, of: key) }
                switch value {
                case .int(let number): try sink.add(number, times: times)
                case .double(let number): try sink.add(number, times: times)
                default: try sink.add(value, times: times)
                }
                next = try cursor.nextNoDuplicate()
            }
        }
    }
}
