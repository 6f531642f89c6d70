import Foundation

/// How a direct codec moves one field between an object's memory and a row.
enum DirectKind: UInt8 {
    // The ones that most fields have come first and are inlined; the rest goes through `DirectMover`.
    case int, double, bool, string, date
    case other
}

/// A field of a type with direct layout.
struct DirectField {
    /// From the start of the object.
    let memory: Int
    let kind: DirectKind
    let isOptional: Bool
    let slot: EncodingSlot
    let mover: DirectMover?
}

/// Moves a field of a known type.
struct DirectMover {
    let size: Int
    let alignment: Int
    let packing: Packing
    let kind: DirectKind
    let isOptional: Bool
    /// Writes the field; false when it is nil.
    let encode: (UnsafeRawPointer, EncodingSlot, EncodingLevel) -> Bool
    /// Initializes the field from the payload; from nothing for nil. Returns whether it could.
    let decode: (UnsafeMutableRawPointer, Payload?) -> Bool
    /// Gives back what `decode` has made.
    let destroy: (UnsafeMutableRawPointer) -> Void

    /// The mover of a field's type; nil for types that need Codable.
    static func of(_ type: Any.Type) -> DirectMover? {
        switch type {
        case is Int.Type: make(Int.self, .int64, .int)
        case is Int?.Type: makeOptional(Int.self, .int64, .int)
        case is Double.Type: make(Double.self, .double, .double)
        case is Double?.Type: makeOptional(Double.self, .double, .double)
        case is Bool.Type: make(Bool.self, .bool, .bool)
        case is Bool?.Type: makeOptional(Bool.self, .bool, .bool)
        case is String.Type: make(String.self, .string, .string)
        case is String?.Type: makeOptional(String.self, .string, .string)
        case is Date.Type: make(Date.self, .date, .date)
        case is Date?.Type: makeOptional(Date.self, .date, .date)
        case is Int64.Type: make(Int64.self, .int64)
        case is Int64?.Type: makeOptional(Int64.self, .int64)
        case is Int32.Type: make(Int32.self, .int32)
        case is Int32?.Type: makeOptional(Int32.self, .int32)
        case is Int16.Type: make(Int16.self, .int16)
        case is Int16?.Type: makeOptional(Int16.self, .int16)
        case is Int8.Type: make(Int8.self, .int8)
        case is Int8?.Type: makeOptional(Int8.self, .int8)
        case is UInt.Type: make(UInt.self, .uint64)
        case is UInt?.Type: makeOptional(UInt.self, .uint64)
        case is UInt64.Type: make(UInt64.self, .uint64)
        case is UInt64?.Type: makeOptional(UInt64.self, .uint64)
        case is UInt32.Type: make(UInt32.self, .int64)
        case is UInt32?.Type: makeOptional(UInt32.self, .int64)
        case is UInt16.Type: make(UInt16.self, .int32)
        case is UInt16?.Type: makeOptional(UInt16.self, .int32)
        case is UInt8.Type: make(UInt8.self, .int16)
        case is UInt8?.Type: makeOptional(UInt8.self, .int16)
        case is Float.Type: make(Float.self, .float)
        case is Float?.Type: makeOptional(Float.self, .float)
        case is UUID.Type: make(UUID.self, .uuid)
        case is UUID?.Type: makeOptional(UUID.self, .uuid)
        case is Data.Type: make(Data.self, .data)
        case is Data?.Type: makeOptional(Data.self, .data)
        default: nil
        }
    }

    private static func make<T: Codable>(_ type: T.Type, _ packing: Packing, _ kind: DirectKind = .other) -> DirectMover
    {
        DirectMover(
            size: MemoryLayout<T>.size, alignment: MemoryLayout<T>.alignment, packing: packing, kind: kind,
            isOptional: false,
            encode: { memory, slot, level in
                put(memory.assumingMemoryBound(to: T.self).pointee, slot, level)
                return true
            },
            decode: { memory, payload in
                guard let value = try? payload?.builtin(T.self) else { return false }
                memory.initializeMemory(as: T.self, to: value)
                return true
            },
            destroy: { $0.assumingMemoryBound(to: T.self).deinitialize(count: 1) })
    }

    private static func makeOptional<T: Codable>(
        _ type: T.Type, _ packing: Packing, _ kind: DirectKind = .other
    ) -> DirectMover {
        DirectMover(
            size: MemoryLayout<T?>.size, alignment: MemoryLayout<T?>.alignment, packing: packing, kind: kind,
            isOptional: true,
            encode: { memory, slot, level in
                guard let value = memory.assumingMemoryBound(to: T?.self).pointee else { return false }
                put(value, slot, level)
                return true
            },
            decode: { memory, payload in
                guard let payload else {
                    memory.initializeMemory(as: T?.self, to: nil)
                    return true
                }
                guard let value = try? payload.builtin(T.self) else { return false }
                memory.initializeMemory(as: T?.self, to: value)
                return true
            },
            destroy: { $0.assumingMemoryBound(to: T?.self).deinitialize(count: 1) })
    }

    private static func put<T: Codable>(_ value: T, _ slot: EncodingSlot, _ level: EncodingLevel) {
        switch value {
        case let value as Int: level.put(slot, Int64(value))
        case let value as Double: level.put(slot, value)
        case let value as Bool: level.put(slot, value ? UInt8(1) : 0)
        case let value as String: level.put(slot, text: value)
        case let value as Date: level.put(slot, value.timeIntervalSinceReferenceDate)
        case let value as Int64: level.put(slot, value)
        case let value as Int32: level.put(slot, value)
        case let value as Int16: level.put(slot, value)
        case let value as Int8: level.put(slot, value)
        case let value as UInt: level.put(slot, UInt64(value))
        case let value as UInt64: level.put(slot, value)
        case let value as UInt32: level.put(slot, Int64(value))
        case let value as UInt16: level.put(slot, Int32(value))
        case let value as UInt8: level.put(slot, Int16(value))
        case let value as Float: level.put(slot, value)
        case let value as UUID: level.put(slot, value.uuid)
        case let value as Data:
            let bytes = level.state.pointee.bytes
            let offset = bytes.pointee.end - level.state.pointee.start
            value.withUnsafeBytes { bytes.append(bytes: $0.baseAddress, count: $0.count) }
            level.putReference(slot, offset: offset, length: value.count, isPlain: false)
        default: break
        }
    }
}
