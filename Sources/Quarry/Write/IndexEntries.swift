import QuarryCoding

/// The index entries of one row: byte keys one after another, in a buffer that is used again for the next row.
struct IndexEntries {
    private(set) var bytes = KeyBuffer()
    private var ends: [Int] = []
    /// Whether some component of entry `i` is nil, which frees it from uniqueness.
    private(set) var hasNil: [Bool] = []

    var count: Int { ends.count }

    mutating func reset() {
        bytes.reset()
        ends.removeAll(keepingCapacity: true)
        hasNil.removeAll(keepingCapacity: true)
    }

    /// Closes the entry whose bytes have been appended since the last call.
    mutating func close(hasNil: Bool) {
        ends.append(bytes.count)
        self.hasNil.append(hasNil)
    }

    subscript(i: Int) -> UnsafeRawBufferPointer {
        let start = i == 0 ? 0 : ends[i - 1]
        return UnsafeRawBufferPointer(rebasing: bytes.bytes[start..<ends[i]])
    }

    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        for i in 0..<count where equalBytes(self[i], key) { return true }
        return false
    }

    /// The bytes being written.
    var buffer: KeyBuffer {
        get { bytes }
        _modify { yield &bytes }
    }
}

/// Makes the entries of one index from stored rows, without decoding them.
final class IndexEntryMaker {
    let index: IndexTable
    private let registry: ShapeRegistry
    /// Slots of the components, by shape id. Nil where the shape has no such column.
    private var slots: [UInt16: [Slot?]] = [:]
    private var lastShape: UInt16?
    private var lastSlots: [Slot?] = []
    private let isPlain: Bool

    init(index: IndexTable, registry: ShapeRegistry) {
        self.index = index
        self.registry = registry
        isPlain = index.definition.components.allSatisfy { $0.path.count == 1 && !$0.isEach }
    }

    /// Adds the row's entries to `entries`, which the caller has reset.
    func make(_ row: UnsafeRawBufferPointer, into entries: inout IndexEntries) throws {
        let view = try RowView(row, registry)
        let components = index.definition.components
        if isPlain {
            let slots = slots(of: view.shape)
            var hasNil = false
            for (i, component) in components.enumerated() {
                let isNil = try view.appendKey(
                    slots[i], options: component.options, budget: index.definition.textBudget, into: &entries.buffer)
                hasNil = hasNil || isNil
            }
            entries.close(hasNil: hasNil)
            return
        }
        try general(view, components, into: &entries)
    }

    private func slots(of shape: Shape) -> [Slot?] {
        if lastShape == shape.id { return lastSlots }
        let found: [Slot?]
        if let known = slots[shape.id] {
            found = known
        } else {
            found = index.definition.components.map { shape.slot(named: $0.path[0]) }
            slots[shape.id] = found
        }
        lastShape = shape.id
        lastSlots = found
        return found
    }

    /// Nested paths and collections: by value. A collection gives one entry for each distinct element.
    private func general(
        _ view: RowView, _ components: [IndexComponent], into entries: inout IndexEntries
    ) throws {
        var tuples: [[Value]] = [[]]
        for component in components {
            let value = try view.value(of: component.path)
            var choices = [value]
            if component.isEach {
                switch value {
                case .array(let elements), .set(let elements): choices = elements
                case .null: choices = []
                default: break
                }
            }
            tuples = tuples.flatMap { tuple in choices.map { tuple + [$0] } }
        }
        var seen = Set<[UInt8]>()
        for tuple in tuples {
            var key = KeyBuffer()
            var hasNil = false
            for (value, component) in zip(tuple, components) {
                if case .null = value { hasNil = true }
                _ = try KeyCoder.append(
                    value, to: &key, budget: index.definition.textBudget, options: component.options,
                    isMixed: component.type == .any)
            }
            guard seen.insert(Array(key.bytes)).inserted else { continue }
            entries.buffer.append(key.bytes)
            entries.close(hasNil: hasNil)
        }
    }
}
