import Foundation

/// What the containers of a level read, behind a pointer: no exclusivity checks, no retains.
struct DecodingState {
    var base: UnsafeRawPointer
    var count = 0
    var tag = PayloadTag.null
    var table: UnsafeMutablePointer<EncodingSlot>
    var shapeID: UInt16 = 0
    var hasShape = false
    var fixedSize = 0
    var isOpen = false
}

/// Zeroes that orphaned levels read. Unsafe for the compiler, since it is a pointer; safe, since nobody writes to it or
/// gives it back.
private nonisolated(unsafe) let emptyRow: UnsafeRawPointer = {
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)
    memset(bytes, 0, 1 << 16)
    return UnsafeRawPointer(bytes)
}()

/// The decoder that a value at one depth of nesting sees.
///
/// `decoder` is unowned and unsafe, since it owns its levels and outlives their use: a level that user code has kept is
/// made an orphan before that ends.
final class DecodingLevel: Decoder {
    unowned(unsafe) var decoder: RowDecoder
    let state: UnsafeMutablePointer<DecodingState>
    let depth: Int
    @exclusivity(unchecked) var shape: Shape?
    @exclusivity(unchecked) private var keys: ObjectIdentifier?
    @exclusivity(unchecked) private var box: AnyObject?
    private let noTable: UnsafeMutablePointer<EncodingSlot>

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ decoder: RowDecoder, depth: Int) {
        self.decoder = decoder
        self.depth = depth
        noTable = .allocate(capacity: 256)
        noTable.initialize(repeating: .missing, count: 256)
        state = .allocate(capacity: 1)
        state.initialize(to: DecodingState(base: emptyRow, table: noTable))
    }

    deinit {
        state.deallocate()
        noTable.deallocate()
    }

    @inline(__always)
    func begin(_ tag: UInt8, _ bytes: UnsafeRawBufferPointer) {
        state.pointee.base = bytes.baseAddress ?? emptyRow
        state.pointee.count = bytes.count
        state.pointee.tag = tag
        state.pointee.isOpen = false
    }

    var payload: Payload {
        Payload(
            tag: state.pointee.tag,
            bytes: UnsafeRawBufferPointer(start: state.pointee.base, count: state.pointee.count))
    }

    func untyped() throws -> Value { try payload.value(decoder.registry, depth: depth) }

    // MARK: Containers

    func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
        let state = self.state
        if _fastPath(state.pointee.tag == PayloadTag.row && state.pointee.count >= 2), keys == ObjectIdentifier(type),
            let box
        {
            let id = state.pointee.base.loadUnaligned(as: UInt16.self)
            if _slowPath(!state.pointee.hasShape || state.pointee.shapeID != id) { try takeShape(id, type) }
            guard state.pointee.count >= state.pointee.fixedSize else { throw DecodingLevel.short }
            state.pointee.isOpen = true
            return unsafeBitCast(box, to: KeyedDecodingContainer<K>.self)
        }
        return try slowContainer(type)
    }

    private static var short: CodingFailure { .corruptRow("a row ends early") }

    @inline(never)
    private func takeShape<K: CodingKey>(_ id: UInt16, _ type: K.Type) throws {
        guard let found = decoder.registry.shape(id) else {
            throw CodingFailure.corruptRow("the shape \(id) is not in the catalogue")
        }
        shape = found
        state.pointee.shapeID = id
        state.pointee.hasShape = true
        state.pointee.fixedSize = found.fixedSize
        state.pointee.table = decoder.table(ObjectIdentifier(type), found, isTop: depth == 0)
    }

    @inline(never)
    private func slowContainer<K: CodingKey>(_ type: K.Type) throws -> KeyedDecodingContainer<K> {
        guard _isPOD(K.self), MemoryLayout<K>.size <= 1, state.pointee.tag == PayloadTag.row else {
            return KeyedDecodingContainer(try FieldsDecoding<K>(self))
        }
        guard state.pointee.count >= 2 else { throw DecodingLevel.short }
        let id = state.pointee.base.loadUnaligned(as: UInt16.self)
        if state.pointee.isOpen, let shape {
            // A superclass reads the same row with keys of its own.
            let table = decoder.table(ObjectIdentifier(type), shape, isTop: depth == 0)
            return KeyedDecodingContainer(RowKeyedDecoding<K>(self, table: table))
        }
        box = nil
        try takeShape(id, type)
        guard state.pointee.count >= state.pointee.fixedSize else { throw DecodingLevel.short }
        state.pointee.isOpen = true
        keys = ObjectIdentifier(type)
        let container = KeyedDecodingContainer(RowKeyedDecoding<K>(self, table: nil))
        // As in encoding: the container is one reference, which is kept and whose count tells who else keeps it.
        if MemoryLayout<KeyedDecodingContainer<K>>.size == MemoryLayout<AnyObject>.size {
            box = unsafeBitCast(container, to: AnyObject.self)
        }
        return container
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard state.pointee.tag == PayloadTag.list || state.pointee.tag == PayloadTag.set else {
            throw mismatch([Any].self)
        }
        return try ListDecoding(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleDecoding(self) }

    func mismatch(_ type: Any.Type) -> any Error { payload.mismatch(type) }

    // MARK: Keeping

    var isContainerOurs: Bool { box == nil || isKnownUniquelyReferenced(&box) }

    /// User code has kept this level or its container. From now on they find nothing; they are never given back, since
    /// nobody can tell when the code is done with them.
    func orphan() {
        let own = RowDecoder(ShapeRegistry())
        _ = Unmanaged.passRetained(own)
        _ = Unmanaged.passRetained(self)
        decoder = own
        begin(PayloadTag.null, UnsafeRawBufferPointer(start: emptyRow, count: 0))
        state.pointee.table = noTable
        shape = nil
    }

    func forgetContainer() {
        box = nil
        keys = nil
        shape = nil
        state.pointee.hasShape = false
        state.pointee.table = noTable
    }

    // MARK: Values

    /// A value of any type from its payload.
    @inline(__always)
    func read<T: Decodable>(_ type: T.Type, _ payload: Payload) throws -> T {
        if let value = try payload.builtin(type) { return value }
        return try decoder.read(type, payload.tag, payload.bytes, depth: depth + 1)
    }
}

extension EncodingSlot {
    /// In a decoder's table: the shape has no such column.
    static let missing = EncodingSlot(offset: 0, bit: 0, code: 0xFE)
}
