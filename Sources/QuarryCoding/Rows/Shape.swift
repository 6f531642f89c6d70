internal import Synchronization

/// One column of a shape: its stored name and how it is packed.
package struct Column: Hashable, Sendable {
    package var name: String
    package var packing: Packing
    package init(name: String, packing: Packing) {
        self.name = name
        self.packing = packing
    }
}

/// How a column lies in a row. Raw values are part of the file format.
package enum Packing: UInt8, Sendable, CaseIterable {
    case bool = 1
    case int8, int16, int32, int64, uint64, float, double, date, uuid, decimal
    case string, data
    /// Tag byte and payload in the tail: nested rows, lists, sets, maps, mixed types.
    case any

    package var type: FieldType {
        switch self {
        case .bool: .bool
        case .int8, .int16, .int32, .int64: .int
        case .uint64: .uint
        case .float, .double: .double
        case .date: .date
        case .uuid: .uuid
        case .decimal: .decimal
        case .string: .string
        case .data: .data
        case .any: .any
        }
    }

    /// The bytes that the column takes among the slots.
    var size: Int { PayloadTag.size(rawValue) ?? 8 }

    var isInteger: Bool { rawValue >= Packing.int8.rawValue && rawValue <= Packing.int64.rawValue }

    /// The packing that holds what both hold.
    func merged(with other: Packing) -> Packing {
        if self == other { return self }
        if isInteger && other.isInteger { return rawValue > other.rawValue ? self : other }
        return .any
    }
}

/// Where a column lies in the rows of its shape.
package struct Slot: Sendable, Equatable {
    /// From the shape id on.
    let offset: UInt16
    /// Its bit among the presence bits.
    let bit: UInt16
    package let packing: Packing
}

/// The columns that a row has, in order, and where they lie. Rows name their shape by its number.
package final class Shape: Sendable {
    package let id: UInt16
    package let columns: [Column]
    let slots: [Slot]
    /// Shape id, presence bits and slots.
    let fixedSize: Int
    private let byName: [String: Int]
    /// The direct codec whose columns these are; 0 for none yet.
    let directCodec = Atomic<Int>(0)

    /// Slots come by falling size, so that the layout follows from the columns alone.
    init(id: UInt16, columns: [Column]) throws {
        let header = 2 + (columns.count + 7) / 8
        var slots = columns.indices.map {
            Slot(offset: 0, bit: UInt16(truncatingIfNeeded: $0), packing: columns[$0].packing)
        }
        var offset = header
        for size in [20, 16, 8, 4, 2, 1] {
            for (i, column) in columns.enumerated() where column.packing.size == size {
                slots[i] = Slot(
                    offset: UInt16(truncatingIfNeeded: offset), bit: UInt16(truncatingIfNeeded: i),
                    packing: column.packing)
                offset += size
            }
        }
        guard columns.count <= 4096, offset <= Int(UInt16.max) else {
            throw CodingFailure.tooMany("\(columns.count) fields in one type; a row holds at most 4096")
        }
        self.id = id
        self.columns = columns
        self.slots = slots
        fixedSize = offset
        byName = Dictionary(columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package func slot(named name: String) -> Slot? { byName[name].map { slots[$0] } }

    // MARK: In the catalogue

    /// The columns as bytes: for each its packing, the length of its name in two bytes, and the name.
    package func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        for column in columns {
            let name = Array(column.name.utf8)
            bytes += [column.packing.rawValue, UInt8(name.count & 0xFF), UInt8(name.count >> 8 & 0xFF)]
            bytes += name
        }
        return bytes
    }

    package static func columns(from bytes: UnsafeRawBufferPointer) throws -> [Column] {
        var columns: [Column] = []
        var place = 0
        while place < bytes.count {
            guard place + 3 <= bytes.count, let packing = Packing(rawValue: bytes[place]) else {
                throw CodingFailure.corruptRow("a shape in the catalogue is damaged")
            }
            let length = Int(bytes[place + 1]) | Int(bytes[place + 2]) << 8
            place += 3
            guard place + length <= bytes.count else {
                throw CodingFailure.corruptRow("a shape in the catalogue ends early")
            }
            let name = String(decoding: bytes[place..<(place + length)], as: UTF8.self)
            columns.append(Column(name: name, packing: packing))
            place += length
        }
        return columns
    }
}
