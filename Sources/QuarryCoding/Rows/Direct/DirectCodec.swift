import Foundation
internal import Synchronization

/// Reads and writes objects by the place of their fields in memory, past Codable. The rows are the same.
///
/// Everything that is unsafe about direct layout is in this file and `DirectField.swift`. Why it is right:
/// - The offsets follow from Swift's rule for structs, fields in order, each at its alignment. The sum is compared with
///   the type's own size, and a key path's offset could not differ without the sum doing so.
/// - At registration a dozen objects with different values in every field are written both ways and must give the same
///   bytes, and are read back from these bytes both ways. A field that was mixed up would show.
/// - Only fields of types that the format knows are taken. Each is read and made through a pointer of its own type.
/// - Before the first field is made, all are known to be there and inside the row. What cannot be read directly is left
///   to Codable, which says what is wrong with it.
///
/// What it cannot see is an `init(from:)` that treats some values in a special way. Hence it is opt-in.
package final class DirectCodec<T: Codable>: Sendable {
    private let columns: [Column]
    private let fields: FieldList
    private let id = DirectCodecID.next()

    /// Unchecked, since movers are closures without captures that the compiler cannot see to be so.
    private struct FieldList: @unchecked Sendable { let list: [DirectField] }

    /// - Throws: `DirectLayoutError` with what stands in the way.
    package static func make(_ type: T.Type) throws -> DirectCodec<T> {
        let probe = FieldProbe.of(type)
        let codec: DirectCodec<T>? = try probe.withPasses { passes in
            guard !passes.isEmpty else { return nil }
            let codec = try DirectCodec(passes)
            try codec.verify(passes)
            return codec
        }
        guard let codec else {
            throw DirectLayoutError("\(type) refuses made-up values, so that its layout cannot be checked")
        }
        return codec
    }

    private init(_ passes: [FieldProbe.Pass]) throws {
        guard let first = passes.first, let object = first.object as? T else { throw DirectLayoutError("no object") }
        let mirror = Mirror(reflecting: object)
        guard mirror.displayStyle == .struct else { throw DirectLayoutError("\(T.self) is not a struct") }
        let registry = ShapeRegistry()
        let row = try RowEncoder(registry).encode(object)
        let shape = try RowView(row, registry).shape
        var end = 0
        var found: [(column: Int, field: DirectField)] = []
        for (position, child) in mirror.children.enumerated() {
            let name = child.label ?? "\(position)"
            let type = Swift.type(of: child.value)
            guard let mover = DirectMover.of(type) else {
                throw DirectLayoutError("the field \(name) has the type \(type), which needs Codable")
            }
            let offset = (end + mover.alignment - 1) / mover.alignment * mover.alignment
            end = offset + mover.size
            let column = try DirectCodec.column(of: position, name, passes, shape)
            guard shape.columns[column].packing == mover.packing else {
                throw DirectLayoutError("the field \(name) is stored in another way than its type")
            }
            found.append(
                (
                    column,
                    DirectField(
                        memory: offset, kind: mover.kind, isOptional: mover.isOptional,
                        slot: EncodingSlot(shape.slots[column]), mover: mover)
                ))
        }
        guard end == MemoryLayout<T>.size, found.count == shape.columns.count,
            Set(found.map(\.column)).count == found.count, !found.isEmpty
        else { throw DirectLayoutError("the fields in memory are not the fields that are stored") }
        columns = shape.columns
        // In the order of the columns, which is the order in which Codable writes.
        fields = FieldList(list: found.sorted { $0.column < $1.column }.map(\.field))
    }

    /// The column that holds the values of the field at this place.
    private static func column(
        of position: Int, _ name: String, _ passes: [FieldProbe.Pass], _ shape: Shape
    ) throws -> Int {
        let candidates = shape.columns.indices.filter { i in
            passes.allSatisfy { pass in
                let child = Array(Mirror(reflecting: pass.object).children)[position].value
                return FieldProbe.encoded(child) == pass.values[[shape.columns[i].name]]
            }
        }
        guard candidates.count == 1 else {
            throw DirectLayoutError("no stored field holds what the field \(name) holds")
        }
        return candidates[0]
    }

    /// Writes and reads the probed objects both ways.
    private func verify(_ passes: [FieldProbe.Pass]) throws {
        let registry = ShapeRegistry()
        let encoder = RowEncoder(registry)
        let decoder = RowDecoder(registry)
        for pass in passes {
            guard let object = pass.object as? T else { continue }
            let row = Array(try encoder.encode(object))
            let direct = Array(try encode(object, encoder))
            guard row == direct else { throw DirectLayoutError("Codable writes other bytes than its fields give") }
            let back = try row.withUnsafeBytes { try decode($0, registry) }
            guard let back, Array(try encoder.encode(back)) == row,
                Array(try encoder.encode(try row.withUnsafeBytes { try decoder.decode(T.self, from: $0) })) == row
            else { throw DirectLayoutError("Codable reads other values than the fields hold") }
        }
    }

    // MARK: Writing

    /// The object as a row, valid until the encoder's next use.
    @inline(__always)
    package func encode(_ object: T, _ encoder: RowEncoder) throws -> UnsafeRawBufferPointer {
        let shape = try encoder.directShape(id, columns)
        return try withUnsafeBytes(of: object) { memory in
            guard let memory = memory.baseAddress else { throw DirectLayoutError("an object without fields") }
            return try encoder.encode(memory, fields.list, shape)
        }
    }

    // MARK: Reading

    /// The object in a row; nil when the row has another shape or lacks something, so that Codable has to read it.
    @inline(__always)
    package func decode(_ row: UnsafeRawBufferPointer, _ registry: ShapeRegistry) throws -> T? {
        guard row.count >= RowLayout.start + 2, let base = row.baseAddress,
            let shape = registry.unretained((base + RowLayout.start).loadUnaligned(as: UInt16.self))
        else { return nil }
        guard isOurs(shape), row.count >= RowLayout.start &+ shape._withUnsafeGuaranteedRef({ $0.fixedSize }) else {
            return nil
        }
        return withUnsafeTemporaryAllocation(of: T.self, capacity: 1) { room -> T? in
            guard let object = room.baseAddress,
                directDecode(
                    UnsafeMutableRawPointer(object), base + RowLayout.start, row.count &- RowLayout.start, fields.list)
            else { return nil }
            return object.move()
        }
    }

    @inline(__always)
    private func isOurs(_ shape: Unmanaged<Shape>) -> Bool {
        if _fastPath(shape._withUnsafeGuaranteedRef { $0.directCodec.load(ordering: .relaxed) } == id) { return true }
        return learn(shape.takeUnretainedValue())
    }

    @inline(never)
    private func learn(_ shape: Shape) -> Bool {
        guard shape.columns == columns else { return false }
        shape.directCodec.store(id, ordering: .relaxed)
        return true
    }
}

/// Why a type cannot have direct layout.
package struct DirectLayoutError: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

private enum DirectCodecID {
    private static let last = Atomic<Int>(0)
    static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// Makes the fields of an object in its memory. Makes none, and returns false, when one cannot be read.
private func directDecode(
    _ object: UnsafeMutableRawPointer, _ row: UnsafeRawPointer, _ count: Int, _ fields: [DirectField]
) -> Bool {
    @inline(__always)
    func isPresent(_ field: DirectField) -> Bool {
        row.load(fromByteOffset: 2 &+ Int(field.slot.bit >> 3), as: UInt8.self)
            & (1 &<< UInt8(truncatingIfNeeded: field.slot.bit & 7)) != 0
    }
    @inline(__always)
    func text(_ place: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        let reference = place.loadUnaligned(as: UInt64.self)
        return UnsafeRawBufferPointer(start: row + RowLayout.offset(reference), count: RowLayout.length(reference))
    }
    // Everything is looked at before anything is made.
    for field in fields {
        if !isPresent(field) {
            if !field.isOptional { return false }
        } else if field.kind == .string || (field.kind == .other && field.slot.code >= PayloadTag.string) {
            let reference = (row + Int(field.slot.offset)).loadUnaligned(as: UInt64.self)
            if RowLayout.offset(reference) &+ RowLayout.length(reference) > count { return false }
        }
    }
    for (i, field) in fields.enumerated() {
        let place = row + Int(field.slot.offset)
        let memory = object + field.memory
        if field.isOptional || field.kind == .other {
            guard makeOther(memory, field, isPresent(field) ? place : nil, row) else {
                for made in fields[..<i] { made.mover?.destroy(object + made.memory) }
                return false
            }
            continue
        }
        switch field.kind {
        case .int, .double, .date: memory.storeBytes(of: place.loadUnaligned(as: UInt64.self), as: UInt64.self)
        case .bool: memory.storeBytes(of: place.load(as: UInt8.self) & 1, as: UInt8.self)
        case .string: memory.initializeMemory(as: String.self, to: String(decoding: text(place), as: UTF8.self))
        case .other: break
        }
    }
    return true
}

@inline(__always)
private func makeOther(
    _ memory: UnsafeMutableRawPointer, _ field: DirectField, _ place: UnsafeRawPointer?, _ row: UnsafeRawPointer
) -> Bool {
    switch (field.kind, place) {
    case (.int, let place):
        memory.initializeMemory(as: Int?.self, to: place.map { Int($0.loadUnaligned(as: Int64.self)) })
        return true
    case (.double, let place):
        memory.initializeMemory(as: Double?.self, to: place.map { $0.loadUnaligned(as: Double.self) })
        return true
    case (.string, let place):
        memory.initializeMemory(
            as: String?.self,
            to: place.map {
                let reference = $0.loadUnaligned(as: UInt64.self)
                return String(
                    decoding: UnsafeRawBufferPointer(
                        start: row + RowLayout.offset(reference), count: RowLayout.length(reference)), as: UTF8.self)
            })
        return true
    default: break
    }
    guard let place else { return field.mover?.decode(memory, nil) ?? false }
    guard let packing = Packing(rawValue: field.slot.code) else { return false }
    var bytes = UnsafeRawBufferPointer(start: place, count: packing.size)
    if packing.isReference {
        let reference = place.loadUnaligned(as: UInt64.self)
        bytes = UnsafeRawBufferPointer(start: row + RowLayout.offset(reference), count: RowLayout.length(reference))
    }
    return field.mover?.decode(memory, Payload(tag: packing.rawValue, bytes: bytes)) ?? false
}

extension RowEncoder {
    /// Writes a row from an object's memory.
    fileprivate func encode(
        _ object: UnsafeRawPointer, _ fields: [DirectField], _ shape: Shape
    ) throws -> UnsafeRawBufferPointer {
        bytes.pointee.end = RowLayout.start
        let level = self.level(0)
        level.begin()
        level.openRow(shape)
        for field in fields {
            let memory = object + field.memory
            if field.isOptional || field.kind == .other {
                _ = field.mover?.encode(memory, field.slot, level)
                continue
            }
            switch field.kind {
            case .int, .double, .date: level.put(field.slot, memory.load(as: UInt64.self))
            case .bool: level.put(field.slot, memory.load(as: UInt8.self) & 1)
            case .string: level.put(field.slot, text: memory.assumingMemoryBound(to: String.self).pointee)
            case .other: break
            }
        }
        if let failure {
            self.failure = nil
            throw failure
        }
        return seal()
    }
}
