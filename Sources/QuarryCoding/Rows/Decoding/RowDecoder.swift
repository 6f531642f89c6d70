import Foundation

/// What a type's schema says about rows that were written before its fields had their names or were there at all.
package struct FieldRules: Sendable {
    /// The names under which a field may stand in older rows, by its name now.
    package var renamed: [String: [String]]
    /// What a field holds that a row does not have.
    package var defaults: [String: Value]

    package init(renamed: [String: [String]] = [:], defaults: [String: Value] = [:]) {
        self.renamed = renamed
        self.defaults = defaults
    }
}

/// Reads objects from rows. Keeps its levels and containers from one object to the next; one thread at a time.
package final class RowDecoder {
    let registry: ShapeRegistry
    let rules: FieldRules
    let hasRules: Bool
    /// The defaults as payloads.
    private var defaults: [String: [UInt8]] = [:]
    @exclusivity(unchecked) private var levels: [DecodingLevel] = []
    /// Levels of nested containers, which are read side by side.
    private var active: [DecodingLevel] = []
    private var tables: [TableID: UnsafeMutablePointer<EncodingSlot>] = [:]

    private struct TableID: Hashable {
        let keys: ObjectIdentifier
        let shape: UInt16
        let isTop: Bool
    }
    private var generation: Int

    package init(_ registry: ShapeRegistry, rules: FieldRules = FieldRules()) {
        self.registry = registry
        self.rules = rules
        hasRules = !rules.renamed.isEmpty || !rules.defaults.isEmpty
        generation = registry.generation
        let encoder = RowEncoder(ShapeRegistry(), capacity: 64)
        for (name, value) in rules.defaults {
            encoder.bytes.pointee.end = 0
            encoder.level(0).begin()
            guard let tag = try? encoder.level(0).write(untyped: value) else { continue }
            let content = UnsafeRawBufferPointer(start: encoder.bytes.pointee.base, count: encoder.bytes.pointee.end)
            defaults[name] = [tag] + content
        }
    }

    deinit { for table in tables.values { table.deallocate() } }

    /// The object in a row.
    ///
    /// - Throws: what the type's `init(from:)` throws; `CodingFailure.corruptRow` for bytes that make no sense.
    @inline(__always)
    package func decode<T: Decodable>(_ type: T.Type, from row: UnsafeRawBufferPointer) throws -> T {
        guard row.count >= RowLayout.start + 2, let base = row.baseAddress else {
            throw CodingFailure.corruptRow("a row ends early")
        }
        if _slowPath(generation != registry.generation) { forgetShapes() }
        return try read(
            type, PayloadTag.row,
            UnsafeRawBufferPointer(start: base + RowLayout.start, count: row.count &- RowLayout.start), depth: 0)
    }

    /// Reads a value on the level of its depth.
    @inline(__always)
    func read<T: Decodable>(_ type: T.Type, _ tag: UInt8, _ bytes: UnsafeRawBufferPointer, depth: Int) throws -> T {
        if depth >= levels.count { try addLevel(depth) }
        defer { letGo(depth) }
        return try run(type, tag, bytes, levels[depth])
    }

    @inline(__always)
    private func run<T: Decodable>(
        _ type: T.Type, _ tag: UInt8, _ bytes: UnsafeRawBufferPointer, _ level: DecodingLevel
    ) throws -> T {
        level.begin(tag, bytes)
        return try T(from: level)
    }

    /// A rollback has taken shapes back, whose numbers may come again.
    @inline(never)
    private func forgetShapes() {
        generation = registry.generation
        for level in levels { level.forgetContainer() }
        for table in tables.values { table.deallocate() }
        tables = [:]
    }

    @inline(never)
    private func addLevel(_ depth: Int) throws {
        guard depth <= RowLayout.depthLimit else { throw CodingFailure.corruptRow("nested too deep") }
        levels.append(DecodingLevel(self, depth: depth))
    }

    /// Looks whether the value's code has kept a container or decoder: the bytes they read go away.
    @inline(__always)
    private func letGo(_ depth: Int) {
        if _slowPath(!isKnownUniquelyReferenced(&levels[depth]) || !levels[depth].isContainerOurs) {
            levels[depth].orphan()
            levels[depth] = DecodingLevel(self, depth: depth)
        }
        if depth == 0, _slowPath(!active.isEmpty) { releaseActive() }
    }

    @inline(never)
    private func releaseActive() {
        for i in active.indices where !isKnownUniquelyReferenced(&active[i]) || !active[i].isContainerOurs {
            active[i].orphan()
        }
        active.removeAll(keepingCapacity: true)
    }

    /// A level of its own for a nested container. Lives until the object has been read.
    func makeLevel(_ payload: Payload, depth: Int) throws -> DecodingLevel {
        guard depth <= RowLayout.depthLimit else { throw CodingFailure.corruptRow("nested too deep") }
        let level = DecodingLevel(self, depth: depth)
        level.begin(payload.tag, payload.bytes)
        active.append(level)
        return level
    }

    func table(_ keys: ObjectIdentifier, _ shape: Shape, isTop: Bool) -> UnsafeMutablePointer<EncodingSlot> {
        let id = TableID(keys: keys, shape: shape.id, isTop: isTop)
        if let known = tables[id] { return known }
        let table = UnsafeMutablePointer<EncodingSlot>.allocate(capacity: 256)
        table.initialize(repeating: .unresolved, count: 256)
        tables[id] = table
        return table
    }

    /// The default of a field; nil when it has none. Valid as long as the decoder.
    func withDefault<R>(_ name: String, _ body: (Payload) throws -> R) rethrows -> R? {
        guard let bytes = defaults[name] else { return nil }
        return try bytes.withUnsafeBytes { bytes in
            try body(Payload(tag: bytes[0], bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst())))
        }
    }
}
