import Foundation

/// What the containers of a level change, behind a pointer: no exclusivity checks, no retains.
struct EncodingState {
    var bytes: UnsafeMutablePointer<RowBytes>
    /// Where the row or payload begins.
    var start = 0
    var table: UnsafeMutablePointer<EncodingSlot>
    /// What has been written: a tag, or `unopened`.
    var kind = EncodingState.unopened
    var count = 0
    var trait = PayloadTag.null

    static let unopened: UInt8 = 0xFF
    /// The trait of a list or map that was written whole.
    static let whole: UInt8 = 0xFE
}

/// The encoder that a value at one depth of nesting sees.
///
/// `encoder` is unowned and unsafe, since it owns its levels and outlives their use: a level that user code has kept is
/// made an orphan before that ends.
final class EncodingLevel: Encoder {
    unowned(unsafe) var encoder: RowEncoder
    let state: UnsafeMutablePointer<EncodingState>
    let depth: Int
    @exclusivity(unchecked) var shape: Shape?
    @exclusivity(unchecked) private(set) var keys: ObjectIdentifier?
    /// The keyed container of `keys`, kept from object to object.
    @exclusivity(unchecked) private var box: AnyObject?
    @exclusivity(unchecked) private var children: [(place: EncodingSlot, encoder: RowEncoder)] = []
    private let noTable: UnsafeMutablePointer<EncodingSlot>

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ encoder: RowEncoder, depth: Int) {
        self.encoder = encoder
        self.depth = depth
        noTable = .allocate(capacity: 256)
        noTable.initialize(repeating: .unresolved, count: 256)
        state = .allocate(capacity: 1)
        state.initialize(to: EncodingState(bytes: encoder.bytes, table: noTable))
    }

    deinit {
        state.deallocate()
        noTable.deallocate()
    }

    @inline(__always)
    func begin() {
        state.pointee.kind = EncodingState.unopened
        state.pointee.count = 0
        state.pointee.trait = PayloadTag.null
    }

    func fail(_ reason: String) {
        if encoder.failure == nil {
            encoder.failure = EncodingError.invalidValue(
                reason, EncodingError.Context(codingPath: [], debugDescription: reason))
        }
    }

    // MARK: Containers

    func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
        if _fastPath(keys == ObjectIdentifier(type) && state.pointee.kind == EncodingState.unopened), let box {
            if let shape { openRow(shape) }
            return unsafeBitCast(box, to: KeyedEncodingContainer<K>.self)
        }
        return slowContainer(type)
    }

    @inline(__always)
    func openRow(_ shape: Shape) {
        let state = self.state
        let bytes = state.pointee.bytes
        let size = shape.fixedSize
        state.pointee.kind = PayloadTag.row
        state.pointee.start = bytes.pointee.end
        bytes.reserve(size)
        let place = bytes.pointee.base + bytes.pointee.end
        memset(place, 0, size)
        place.storeBytes(of: shape.id, as: UInt16.self)
        bytes.pointee.end &+= size
    }

    @inline(never)
    private func slowContainer<K: CodingKey>(_ type: K.Type) -> KeyedEncodingContainer<K> {
        let id = ObjectIdentifier(type)
        let kind = state.pointee.kind
        // Keys of at most one byte without payload: equal bits are equal keys, so that bits can find the slot.
        guard _isPOD(K.self) && MemoryLayout<K>.size <= 1 else {
            if kind == EncodingState.unopened { openList(PayloadTag.map) }
            if kind == PayloadTag.row { return KeyedEncodingContainer(RowStringKeyed<K>(self)) }
            if state.pointee.kind != PayloadTag.map { fail("\(type) after another kind of container") }
            return KeyedEncodingContainer(MapEncoding<K>(self))
        }
        switch kind {
        case EncodingState.unopened:
            guard let found = encoder.shape(for: id) else { return KeyedEncodingContainer(MapEncoding<K>(self)) }
            shape = found
            keys = id
            state.pointee.table = encoder.table(id, found)
            openRow(found)
            let container = KeyedEncodingContainer(
                RowKeyed<K>(self, table: nil, keys: id))
            // The container is one reference in the standard library; what it was made of can be kept as one, and its
            // count tells whether somebody else keeps it too.
            if MemoryLayout<KeyedEncodingContainer<K>>.size == MemoryLayout<AnyObject>.size {
                box = unsafeBitCast(container, to: AnyObject.self)
            }
            return container
        case PayloadTag.row:
            // A superclass writes into the same row with keys of its own, or the same keys are asked for again.
            guard let shape, let keys else { break }
            return KeyedEncodingContainer(RowKeyed<K>(self, table: encoder.table(id, shape), keys: keys))
        case PayloadTag.map: return KeyedEncodingContainer(MapEncoding<K>(self))
        default: break
        }
        fail("\(type) after another kind of container")
        return KeyedEncodingContainer(MapEncoding<K>(self))
    }

    private func openList(_ kind: UInt8) {
        state.pointee.kind = kind
        state.pointee.start = state.pointee.bytes.pointee.end
        state.pointee.bytes.append(UInt32(0))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if state.pointee.kind == EncodingState.unopened {
            openList(PayloadTag.list)
        } else if state.pointee.kind != PayloadTag.list {
            fail("a list after another kind of container")
        }
        return ListEncoding(self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleEncoding(self) }

    // MARK: Ending

    func finish() throws {
        if _slowPath(state.pointee.kind == EncodingState.unopened) {
            // A type without fields is an empty row.
            if let empty = encoder.shape(for: ObjectIdentifier(NoKeys.self)) { openRow(empty) }
        }
        if _slowPath(!children.isEmpty) { try spliceChildren() }
        let kind = state.pointee.kind
        if (kind == PayloadTag.list || kind == PayloadTag.map) && state.pointee.trait != EncodingState.whole {
            state.pointee.bytes.store(UInt32(truncatingIfNeeded: state.pointee.count), at: state.pointee.start)
            if kind == PayloadTag.map || state.pointee.trait != PayloadTag.null {
                ListOrder.sort(state, isMap: kind == PayloadTag.map)
            }
        }
        if _slowPath(encoder.failure != nil), let failure = encoder.failure { throw failure }
    }

    private enum NoKeys: CodingKey {}

    /// An encoder for a nested container. Its bytes come in when this level ends.
    func makeChild(at place: EncodingSlot) -> EncodingLevel {
        let child = encoder.takeChild()
        children.append((place, child))
        return child.level(0)
    }

    func dropChildren() {
        for child in children {
            child.encoder.level(0).dropChildren()
            encoder.adoptNeeds(of: child.encoder)
            encoder.giveBack(child.encoder)
        }
        children = []
    }

    /// A placeholder in a list or map for the child that comes next.
    func placeholder() -> EncodingSlot {
        state.pointee.bytes.append(PayloadTag.placeholder)
        state.pointee.bytes.append(UInt32(truncatingIfNeeded: children.count))
        return .unresolved
    }

    @inline(never)
    private func spliceChildren() throws {
        let bytes = state.pointee.bytes
        let mine = children
        children = []
        var payloads: [[UInt8]] = []
        for child in mine {
            let level = child.encoder.level(0)
            do {
                try level.finish()
            } catch {
                encoder.failure = encoder.failure ?? error
            }
            let base = child.encoder.bytes.pointee.base
            let content = UnsafeRawBufferPointer(start: base, count: child.encoder.bytes.pointee.end)
            let tag = level.state.pointee.kind
            if state.pointee.kind == PayloadTag.row {
                if child.place.code == PayloadTag.any {
                    let offset = bytes.pointee.end - state.pointee.start
                    bytes.append(
                        tag == PayloadTag.list && level.state.pointee.trait == PayloadTag.set ? PayloadTag.set : tag)
                    bytes.append(bytes: content.baseAddress, count: content.count)
                    putReference(child.place, offset: offset, length: content.count + 1, isPlain: false)
                }
            } else {
                var payload = [tag]
                if PayloadTag.size(tag) == nil {
                    withUnsafeBytes(of: UInt32(content.count).littleEndian) { payload += $0 }
                }
                payloads.append(payload + content)
            }
            encoder.adoptNeeds(of: child.encoder)
            encoder.giveBack(child.encoder)
        }
        if !payloads.isEmpty { ListOrder.replacePlaceholders(state, payloads) }
    }

    // MARK: Keeping

    var isContainerOurs: Bool { box == nil || isKnownUniquelyReferenced(&box) }

    func forgetContainer() {
        box = nil
        keys = nil
        shape = nil
    }

    /// User code has kept this level or its container. From now on what it writes goes to memory of its own that is
    /// never given back, since nobody can tell when the code is done with it.
    func orphan() {
        let own = RowEncoder(ShapeRegistry(), capacity: 1 << 16)
        _ = Unmanaged.passRetained(own)
        _ = Unmanaged.passRetained(self)
        encoder = own
        state.pointee.bytes = own.bytes
        state.pointee.start = 0
        state.pointee.table = noTable
    }

    // MARK: Writing

    @inline(__always)
    func markPresent(_ slot: EncodingSlot) {
        let base = state.pointee.bytes.pointee.base + (state.pointee.start &+ 2 &+ Int(slot.bit >> 3))
        base.storeBytes(of: base.load(as: UInt8.self) | 1 &<< UInt8(truncatingIfNeeded: slot.bit & 7), as: UInt8.self)
    }

    @inline(__always)
    func put<V: BitwiseCopyable>(_ slot: EncodingSlot, _ value: V) {
        state.pointee.bytes.store(value, at: state.pointee.start &+ Int(slot.offset))
        markPresent(slot)
    }

    @inline(__always)
    func putReference(_ slot: EncodingSlot, offset: Int, length: Int, isPlain: Bool) {
        if _slowPath(offset &+ length > Int(Int32.max)) { fail("a row of more than 2 GiB") }
        put(slot, RowLayout.reference(offset: offset, length: length, isPlain: isPlain))
    }

    @inline(__always)
    func put(_ slot: EncodingSlot, text: String) {
        let bytes = state.pointee.bytes
        let at = bytes.pointee.end
        bytes.append(text: text)
        let length = bytes.pointee.end &- at
        putReference(
            slot, offset: at &- state.pointee.start, length: length,
            isPlain: RowLayout.isPlain(bytes.pointee.base + at, length))
    }
}
