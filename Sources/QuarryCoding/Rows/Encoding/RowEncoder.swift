import Foundation

/// Writes objects as rows. Keeps its levels, containers and memory from one object to the next; one thread at a time.
///
/// Shapes are learned: a coding key that the shape lacks makes the shape grow, and the object is written again. That
/// happens once a type.
package final class RowEncoder {
    let registry: ShapeRegistry
    let bytes: UnsafeMutablePointer<RowBytes>
    /// One a depth of nesting.
    @exclusivity(unchecked) private var levels: [EncodingLevel] = []
    @exclusivity(unchecked) private var generation: Int
    /// What the written types' shapes lack.
    @exclusivity(unchecked) private var missing: [(keys: ObjectIdentifier, column: Column)] = []
    @exclusivity(unchecked) var failure: (any Error)?
    private var writeShapes: [ObjectIdentifier: Shape] = [:]
    private var tables: [TableID: UnsafeMutablePointer<EncodingSlot>] = [:]
    /// Encoders of nested containers, which are written side by side.
    private var spares: [RowEncoder] = []
    private var traits: [ObjectIdentifier: TypeTrait] = [:]

    /// The shape of the direct codec that was used last.
    @exclusivity(unchecked) private var direct: (codec: Int, generation: Int, shape: Shape)?

    private struct TableID: Hashable {
        let keys: ObjectIdentifier
        let shape: UInt16
    }

    package convenience init(_ registry: ShapeRegistry) { self.init(registry, capacity: 1024) }

    init(_ registry: ShapeRegistry, capacity: Int) {
        self.registry = registry
        generation = registry.generation
        bytes = .allocate(capacity: 1)
        bytes.initialize(to: RowBytes(capacity: capacity))
    }

    deinit {
        for table in tables.values { table.deallocate() }
        bytes.pointee.base.deallocate()
        bytes.deinitialize(count: 1)
        bytes.deallocate()
    }

    /// The object as a row, valid until the encoder's next use.
    ///
    /// - Throws: what the object's `encode(to:)` throws; `EncodingError` for an object that is not keyed, or nested too
    ///   deep; `CodingFailure.tooMany`.
    @inline(__always)
    package func encode<T: Encodable>(_ object: T) throws -> UnsafeRawBufferPointer {
        if generation != registry.generation { forgetShapes() }
        while true {
            bytes.pointee.end = RowLayout.start
            let kind = try write(object, depth: 0)
            if _slowPath(!missing.isEmpty) {
                try grow()
                continue
            }
            if _slowPath(kind != PayloadTag.row) { return try encodeOther(kind, T.self) }
            return seal()
        }
    }

    /// Writes the checksum and gives the bytes out.
    @inline(__always)
    func seal() -> UnsafeRawBufferPointer {
        let state = bytes
        let count = state.pointee.end &- RowLayout.start
        state.pointee.base.storeBytes(
            of: RowLayout.checksum(state.pointee.base + RowLayout.start, count), as: UInt32.self)
        return UnsafeRawBufferPointer(start: state.pointee.base, count: state.pointee.end)
    }

    /// A type with keys that are made at run time is a row too, by way of its fields.
    @inline(never)
    private func encodeOther(_ kind: UInt8, _ type: Any.Type) throws -> UnsafeRawBufferPointer {
        guard kind == PayloadTag.map else {
            throw EncodingError.invalidValue(
                type,
                EncodingError.Context(
                    codingPath: [], debugDescription: "\(type) is stored as a list or single value; a row needs fields")
            )
        }
        let start = bytes.pointee.base + RowLayout.start
        let payload = Payload(
            tag: kind, bytes: UnsafeRawBufferPointer(start: start, count: bytes.pointee.end - RowLayout.start))
        let value = try payload.value(registry)
        return try encode(record: value.objectValue ?? Value.Fields())
    }

    // MARK: Levels

    @inline(__always)
    func level(_ depth: Int) -> EncodingLevel {
        if depth < levels.count { return levels[depth] }
        return addLevel(depth)
    }

    @inline(never)
    private func addLevel(_ depth: Int) -> EncodingLevel {
        let level = EncodingLevel(self, depth: depth)
        levels.append(level)
        return level
    }

    /// Writes a value at the end of the bytes, on the level of its depth; tells its tag.
    @inline(__always)
    func write<T: Encodable>(_ value: T, depth: Int) throws -> UInt8 {
        let kind: UInt8
        do {
            kind = try run(value, level(depth))
        } catch {
            abandon(depth)
            throw error
        }
        letGo(depth)
        return kind
    }

    @inline(__always)
    private func run<T: Encodable>(_ value: T, _ level: EncodingLevel) throws -> UInt8 {
        level.begin()
        try value.encode(to: level)
        if level.state.pointee.kind == PayloadTag.list { level.noteTrait(of: T.self) }
        try level.finish()
        let kind = level.state.pointee.kind
        return kind == PayloadTag.list && level.state.pointee.trait == PayloadTag.set ? PayloadTag.set : kind
    }

    /// Looks whether the value's code has kept a container or encoder, which must not reach the next value's bytes.
    @inline(__always)
    func letGo(_ depth: Int) {
        if _slowPath(!isKnownUniquelyReferenced(&levels[depth]) || !levels[depth].isContainerOurs) {
            levels[depth].orphan()
            levels[depth] = EncodingLevel(self, depth: depth)
        }
    }

    @inline(never)
    private func abandon(_ depth: Int) {
        levels[depth].dropChildren()
        letGo(depth)
        if depth == 0 {
            missing = []
            failure = nil
        }
    }

    // MARK: Shapes

    /// The shape that a direct codec writes.
    @inline(__always)
    func directShape(_ codec: Int, _ columns: [Column]) throws -> Shape {
        if let direct, direct.codec == codec, direct.generation == registry.generation { return direct.shape }
        let shape = try registry.shape(columns: columns)
        direct = (codec, registry.generation, shape)
        return shape
    }

    func shape(for keys: ObjectIdentifier) -> Shape? {
        if let known = writeShapes[keys] { return known }
        do {
            let shape = try registry.shape(columns: [])
            writeShapes[keys] = shape
            return shape
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    /// The slots by the bits of a coding key, for keys of one byte; found as they are asked for.
    func table(_ keys: ObjectIdentifier, _ shape: Shape) -> UnsafeMutablePointer<EncodingSlot> {
        let id = TableID(keys: keys, shape: shape.id)
        if let known = tables[id] { return known }
        let table = UnsafeMutablePointer<EncodingSlot>.allocate(capacity: 256)
        table.initialize(repeating: .unresolved, count: 256)
        tables[id] = table
        return table
    }

    func need(_ column: Column, for keys: ObjectIdentifier) { missing.append((keys, column)) }

    func adoptNeeds(of child: RowEncoder) {
        missing += child.missing
        child.missing = []
        failure = failure ?? child.failure
        child.failure = nil
    }

    @inline(never)
    private func grow() throws {
        for (keys, column) in missing {
            guard var columns = shape(for: keys)?.columns else { break }
            if let i = columns.firstIndex(where: { $0.name == column.name }) {
                columns[i].packing = columns[i].packing.merged(with: column.packing)
            } else {
                columns.append(column)
            }
            writeShapes[keys] = try registry.shape(columns: columns)
        }
        missing = []
        for spare in spares { spare.takeShapes(of: self) }
        for level in levels { level.forgetContainer() }
        if let failure {
            self.failure = nil
            throw failure
        }
    }

    private func takeShapes(of parent: RowEncoder) {
        writeShapes = parent.writeShapes
        for level in levels { level.forgetContainer() }
        for spare in spares { spare.takeShapes(of: self) }
    }

    /// A rollback has taken shapes back.
    @inline(never)
    private func forgetShapes() {
        generation = registry.generation
        writeShapes = [:]
        for table in tables.values { table.deallocate() }
        tables = [:]
        for level in levels { level.forgetContainer() }
        spares = []
    }

    // MARK: Children

    /// An encoder whose bytes go into ours when the level that asked for it ends.
    func takeChild() -> RowEncoder {
        let child = spares.popLast() ?? RowEncoder(registry, capacity: 128)
        if child.generation != generation { child.forgetShapes() }
        child.generation = generation
        child.writeShapes = writeShapes
        child.bytes.pointee.end = 0
        child.level(0).begin()
        return child
    }

    func giveBack(_ child: RowEncoder) {
        child.letGo(0)
        if spares.count < 16 { spares.append(child) }
    }

    func trait(of type: Any.Type) -> TypeTrait {
        let id = ObjectIdentifier(type)
        if let known = traits[id] { return known }
        let trait = TypeTrait(type)
        traits[id] = trait
        return trait
    }
}

/// The growing bytes of a row. Behind a pointer, so that the containers reach it without exclusivity checks.
struct RowBytes {
    var base: UnsafeMutableRawPointer
    var capacity: Int
    var end = 0

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
    }
}

extension UnsafeMutablePointer where Pointee == RowBytes {
    /// Room for `size` bytes at the end.
    @inline(__always)
    func reserve(_ size: Int) { if _slowPath(pointee.end &+ size > pointee.capacity) { grow(size) } }

    @inline(never)
    private func grow(_ size: Int) {
        let capacity = Swift.max(pointee.capacity * 2, pointee.end + size + 64)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: pointee.base, byteCount: pointee.end)
        pointee.base.deallocate()
        pointee.base = larger
        pointee.capacity = capacity
    }

    @inline(__always)
    func append<V: BitwiseCopyable>(_ value: V) {
        reserve(MemoryLayout<V>.size)
        (pointee.base + pointee.end).storeBytes(of: value, as: V.self)
        pointee.end &+= MemoryLayout<V>.size
    }

    @inline(__always)
    func append(bytes: UnsafeRawPointer?, count: Int) {
        guard let bytes, count > 0 else { return }
        reserve(count)
        (pointee.base + pointee.end).copyMemory(from: bytes, byteCount: count)
        pointee.end &+= count
    }

    @inline(__always)
    func append(text: String) {
        var text = text
        text.withUTF8 { append(bytes: $0.baseAddress, count: $0.count) }
    }

    @inline(__always)
    func store<V: BitwiseCopyable>(_ value: V, at place: Int) {
        (pointee.base + place).storeBytes(of: value, as: V.self)
    }
}

/// A slot as the encoder's tables hold it.
struct EncodingSlot {
    var offset: UInt16
    var bit: UInt16
    /// The packing's raw value; 0 is not looked up yet.
    var code: UInt8

    static let unresolved = EncodingSlot(offset: 0, bit: 0, code: 0)

    init(offset: UInt16, bit: UInt16, code: UInt8) {
        self.offset = offset
        self.bit = bit
        self.code = code
    }

    init(_ slot: Slot) { self.init(offset: slot.offset, bit: slot.bit, code: slot.packing.rawValue) }
}

/// What a type's values need beyond their own `encode(to:)`.
enum TypeTrait {
    case other
    /// Elements in the order of their bytes, so that equal sets have equal bytes.
    case set
    /// Keys and values in turn, by key.
    case pairs
    /// A raw value: its packing is known even where the value is nil.
    case raw(Packing)

    init(_ type: Any.Type) {
        if type is any AnySet.Type {
            self = .set
        } else if type is any AnyDictionary.Type {
            self = .pairs
        } else if let raw = type as? any RawRepresentable.Type, let packing = TypeTrait.packing(ofRaw: raw) {
            self = .raw(packing)
        } else {
            self = .other
        }
    }

    private static func packing<R: RawRepresentable>(ofRaw type: R.Type) -> Packing? {
        BuiltinPacking.of(R.RawValue.self)
    }
}

/// The standard collections whose order means nothing.
protocol AnySet {}
protocol AnyDictionary {}
extension Set: AnySet {}
extension Dictionary: AnyDictionary {}

/// The packing of types that the format knows.
enum BuiltinPacking {
    @inline(__always)
    static func of<T>(_ type: T.Type) -> Packing? {
        if T.self == String.self { return .string }
        if T.self == Int.self || T.self == Int64.self || T.self == UInt32.self { return .int64 }
        if T.self == Double.self { return .double }
        if T.self == Bool.self { return .bool }
        if T.self == Date.self { return .date }
        if T.self == UUID.self { return .uuid }
        if T.self == Data.self { return .data }
        if T.self == UInt.self || T.self == UInt64.self { return .uint64 }
        if T.self == Int32.self || T.self == UInt16.self { return .int32 }
        if T.self == Int16.self || T.self == UInt8.self { return .int16 }
        if T.self == Int8.self { return .int8 }
        if T.self == Float.self { return .float }
        if T.self == Decimal.self { return .decimal }
        return nil
    }
}
