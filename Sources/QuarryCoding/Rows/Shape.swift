/// One column of a shape: its stored name and how it is packed.
package struct Column: Hashable, Sendable {
    package var name: String
    package var packing: Packing
    package init(name: String, packing: Packing) { self.name = name; self.packing = packing }
}

/// How a column lies in a row. Raw values are part of the file format.
package enum Packing: UInt8, Sendable, CaseIterable {
    case bool = 1, int8, int16, int32, int64, uint64, float, double, date, uuid, decimal
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
}
