import QuarryCoding
import QuarryPredicate

/// Writes the sort key of a row: bytes that memcmp in the order asked for, one term after another.
///
/// A component of an index key is never the beginning of another, so inverting its bytes turns its order round. A nil
/// is one byte that stands before or after all others.
final class SortKeyMaker {
    private let terms: [SortTerm]
    private let types: [FieldType]
    private let registry: ShapeRegistry
    private var scratch = KeyBuffer()
    private var out = EntryArena(capacity: 256)
    private var lastShape: UInt16?
    private var slots: [Slot?] = []
    /// Slots whose packing is the field's type are read without making a value.
    private var isDirect: [Bool] = []

    /// Text is not cut in a sort key.
    private static let budget = 1 << 28

    init(_ terms: [SortTerm], table: EntityTable, registry: ShapeRegistry) {
        self.terms = terms
        self.registry = registry
        types = terms.map { table.fields.info($0.path)?.type ?? .any }
    }

    /// The sort key of a row, valid until the next call; nil when its first eight bytes pass `bound` already.
    @inline(__always)
    func make(_ row: UnsafeRawBufferPointer, bound: UInt64 = .max) throws -> UnsafeRawBufferPointer? {
        out.truncate(to: 0)
        let view = try RowView(row, registry)
        if lastShape != view.shape.id { learn(view.shape) }
        for i in terms.indices {
            try append(i, view)
            if i == 0, bound < .max, SortEntry.prefix(out.base, out.count) > bound { return nil }
        }
        return UnsafeRawBufferPointer(start: out.base, count: out.count)
    }

    /// The components of a row's sort key before direction and nil placement.
    func components(_ row: UnsafeRawBufferPointer) throws -> [[UInt8]] {
        let view = try RowView(row, registry)
        if lastShape != view.shape.id { learn(view.shape) }
        return try terms.indices.map { i in
            _ = try read(i, view)
            return Array(scratch.bytes)
        }
    }

    private func learn(_ shape: Shape) {
        slots = terms.map { $0.path.count == 1 ? shape.slot(named: $0.path[0]) : nil }
        isDirect = zip(terms, zip(slots, types)).map { term, known in
            term.path.count == 1 && (known.0.map { $0.packing.type == known.1 && known.1 != .any } ?? true)
        }
        lastShape = shape.id
    }

    /// Writes the component into `scratch`; true for nil.
    @inline(__always)
    private func read(_ i: Int, _ view: RowView) throws -> Bool {
        scratch.reset()
        if isDirect[i] {
            return try view.appendKey(slots[i], options: terms[i].options, budget: Self.budget, into: &scratch)
        }
        return try readValue(i, view)
    }

    @inline(never)
    private func readValue(_ i: Int, _ view: RowView) throws -> Bool {
        var value = try view.value(of: terms[i].path)
        switch value {
        case .array, .set, .object:
            // Collections have no order among themselves; they come after everything else.
            scratch.append(0x70)
            return false
        default: break
        }
        let type = types[i]
        if type != .any, !value.isNull, let same = fit(value, to: type) { value = same }
        return try KeyCoder.append(
            value, to: &scratch, budget: Self.budget, options: terms[i].options, isMixed: type == .any)
    }

    @inline(__always)
    private func append(_ i: Int, _ view: RowView) throws {
        let isNil = try read(i, view)
        SortKeyMaker.append(scratch.bytes, isNil: isNil, terms[i], to: &out)
    }

    @inline(__always)
    static func append(
        _ component: UnsafeRawBufferPointer, isNil: Bool, _ term: SortTerm, to out: inout EntryArena
    ) {
        if isNil {
            out.extend(by: 1).storeBytes(of: term.nilsLast ? 0xFF : 0x00, as: UInt8.self)
            return
        }
        if !term.descending {
            out.append(component)
            return
        }
        let place = out.extend(by: component.count)
        for i in 0..<component.count { place.storeBytes(of: ~component[i], toByteOffset: i, as: UInt8.self) }
    }

    /// The sort key that these components make.
    static func key(_ components: [[UInt8]], _ terms: [SortTerm]) -> [UInt8] {
        var out = EntryArena(capacity: 256)
        for (component, term) in zip(components, terms) {
            component.withUnsafeBytes { append($0, isNil: component.first == KeyTag.null, term, to: &out) }
        }
        return Array(UnsafeRawBufferPointer(start: out.base, count: out.count))
    }
}
