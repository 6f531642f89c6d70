import Foundation

/// The bytes of one row, read field by field without decoding it. Cheap to make; valid as long as the bytes are.
package struct RowView {
    /// From the shape id on.
    private let row: UnsafeRawBufferPointer
    private let base: UnsafeRawPointer
    private let checksum: UInt32?
    /// Not retained, so that a view costs no reference counting: whoever has the bytes keeps the registry alive.
    private unowned(unsafe) let registry: ShapeRegistry
    private let unmanaged: Unmanaged<Shape>

    /// - Throws: `CodingFailure.corruptRow` for a row that is too short or names an unknown shape.
    @inline(__always)
    package init(_ row: UnsafeRawBufferPointer, _ registry: ShapeRegistry) throws {
        guard row.count >= RowLayout.start + 2, let base = row.baseAddress else { throw RowView.short }
        try self.init(
            UnsafeRawBufferPointer(start: base + RowLayout.start, count: row.count &- RowLayout.start), registry,
            base.loadUnaligned(as: UInt32.self))
    }

    init(nested row: UnsafeRawBufferPointer, _ registry: ShapeRegistry) throws {
        guard row.count >= 2 else { throw RowView.short }
        try self.init(row, registry, nil)
    }

    @inline(__always)
    private init(_ row: UnsafeRawBufferPointer, _ registry: ShapeRegistry, _ checksum: UInt32?) throws {
        guard let base = row.baseAddress else { throw RowView.short }
        let id = base.loadUnaligned(as: UInt16.self)
        guard let shape = registry.unretained(id) else {
            throw CodingFailure.corruptRow("the shape \(id) is not in the catalogue")
        }
        guard row.count >= shape._withUnsafeGuaranteedRef({ $0.fixedSize }) else { throw RowView.short }
        self.row = row
        self.base = base
        self.checksum = checksum
        self.registry = registry
        unmanaged = shape
    }

    private static var short: CodingFailure { .corruptRow("a row ends early") }

    @inline(__always)
    package var shape: Shape { unmanaged._withUnsafeGuaranteedRef { $0 } }

    /// Tells shapes apart without touching them.
    @inline(__always)
    package var shapeIdentity: UnsafeRawPointer { UnsafeRawPointer(unmanaged.toOpaque()) }

    @inline(__always)
    package func isPresent(_ slot: Slot) -> Bool {
        base.load(fromByteOffset: 2 &+ Int(slot.bit >> 3), as: UInt8.self)
            & (1 &<< UInt8(truncatingIfNeeded: slot.bit & 7))
            != 0
    }

    @inline(__always)
    private func place(_ slot: Slot) -> UnsafeRawPointer { base + Int(slot.offset) }

    // MARK: Scalars

    @inline(__always)
    package func int(_ slot: Slot) -> Int64? {
        isPresent(slot) ? Payload.integer(place(slot), slot.packing) : nil
    }

    @inline(__always)
    package func uint(_ slot: Slot) -> UInt64? { isPresent(slot) ? place(slot).loadUnaligned(as: UInt64.self) : nil }

    @inline(__always)
    package func double(_ slot: Slot) -> Double? {
        guard isPresent(slot) else { return nil }
        return slot.packing == .float
            ? Double(place(slot).loadUnaligned(as: Float.self)) : place(slot).loadUnaligned(as: Double.self)
    }

    @inline(__always)
    package func bool(_ slot: Slot) -> Bool? { isPresent(slot) ? place(slot).load(as: UInt8.self) != 0 : nil }

    /// Seconds since the reference date.
    @inline(__always)
    package func date(_ slot: Slot) -> Double? { isPresent(slot) ? place(slot).loadUnaligned(as: Double.self) : nil }

    /// Text or data where it lies, and whether text is ASCII without CR.
    @inline(__always)
    package func bytes(_ slot: Slot) throws -> (bytes: UnsafeRawBufferPointer, isPlain: Bool)? {
        guard isPresent(slot) else { return nil }
        let reference = place(slot).loadUnaligned(as: UInt64.self)
        let offset = RowLayout.offset(reference)
        let length = RowLayout.length(reference)
        guard offset &+ length <= row.count else { throw CodingFailure.corruptRow("a field lies outside its row") }
        return (UnsafeRawBufferPointer(start: base + offset, count: length), RowLayout.isPlain(reference))
    }

    // MARK: Values

    /// The tag and bytes of a field in any packing.
    func payload(_ slot: Slot) throws -> Payload {
        guard isPresent(slot) else { return .null }
        guard slot.packing.isReference else {
            return Payload(
                tag: slot.packing.rawValue, bytes: UnsafeRawBufferPointer(start: place(slot), count: slot.packing.size))
        }
        guard let (bytes, _) = try bytes(slot) else { return .null }
        if slot.packing != .any { return Payload(tag: slot.packing.rawValue, bytes: bytes) }
        guard let tag = bytes.first else { throw CodingFailure.corruptRow("a field without its type") }
        return Payload(tag: tag, bytes: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    }

    package func value(_ slot: Slot) throws -> Value { try payload(slot).value(registry) }

    /// The value of a path of field names; null where a step is missing or nil. The whole row for no steps.
    package func value(of path: [String]) throws -> Value {
        guard let first = path.first else { return .object(try record()) }
        guard let slot = shape.slot(named: first) else { return .null }
        var payload = try payload(slot)
        for step in path.dropFirst() {
            switch payload.tag {
            case PayloadTag.row:
                let nested = try RowView(nested: payload.bytes, registry)
                guard let slot = nested.shape.slot(named: step) else { return .null }
                payload = try nested.payload(slot)
            case PayloadTag.map:
                var reader = try ListReader(payload.bytes)
                var found: Payload?
                while let (key, value) = try reader.nextEntry() {
                    if key.elementsEqual(step.utf8) { found = value }
                }
                guard let found else { return .null }
                payload = found
            default: return .null
            }
        }
        return try payload.value(registry)
    }

    /// All fields in stored order; nil ones as null.
    package func record() throws -> Value.Fields { try record(depth: 0) }

    func record(depth: Int) throws -> Value.Fields {
        var fields = Value.Fields()
        let shape = shape
        fields.pairs.reserveCapacity(shape.columns.count)
        for (column, slot) in zip(shape.columns, shape.slots) {
            fields.pairs.append((column.name, try payload(slot).value(registry, depth: depth)))
        }
        return fields
    }

    // MARK: Keys

    /// Adds the field as a component of an index key, without making a value where its packing allows; nil for no slot.
    @inline(__always)
    package func appendKey(
        _ slot: Slot?, options: TextOptions, budget: Int, into key: inout KeyBuffer
    ) throws -> Bool {
        guard let slot, isPresent(slot) else {
            key.append(KeyCoder.Tag.null)
            return true
        }
        switch slot.packing {
        case .int8, .int16, .int32, .int64:
            KeyCoder.append(int: Payload.integer(place(slot), slot.packing), to: &key)
        case .double: KeyCoder.append(double: place(slot).loadUnaligned(as: Double.self), to: &key)
        case .date: KeyCoder.append(date: place(slot).loadUnaligned(as: Double.self), to: &key)
        case .bool: KeyCoder.append(bool: place(slot).load(as: UInt8.self) != 0, to: &key)
        case .uint64: KeyCoder.append(uint: place(slot).loadUnaligned(as: UInt64.self), to: &key)
        case .string:
            guard let (bytes, isPlain) = try bytes(slot) else { return true }
            if isPlain && (options.contains(.normalized) || !options.contains(.caseInsensitive)) {
                KeyCoder.append(folded: bytes, to: &key, budget: budget)
            } else {
                KeyCoder.append(
                    text: String(decoding: bytes, as: UTF8.self), to: &key, budget: budget, options: options)
            }
        default: return try KeyCoder.append(value(slot), to: &key, budget: budget, options: options)
        }
        return false
    }

    // MARK: Checking

    /// Whether the row's bytes are those that were written.
    package func verifyChecksum() -> Bool { checksum.map { $0 == RowLayout.checksum(base, row.count) } ?? true }

    /// Reads every field, and throws when one makes no sense.
    package func checkStructure() throws { _ = try record() }
}
