/// A stored field as a type declares it.
package struct FieldShape: Sendable, Equatable {
    package var name: String
    package var type: FieldType
    package var isOptional: Bool
    /// The fields of a nested object, or of the objects in a collection.
    package var fields: [FieldShape]
    /// The type of a collection's elements.
    package var element: FieldType?

    package init(
        name: String, type: FieldType, isOptional: Bool, fields: [FieldShape] = [], element: FieldType? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.fields = fields
        self.element = element
    }

    /// A field as one value shows it: whatever is nil may be anything.
    init(name: String, learnedFrom value: Value) {
        self.init(name: name, type: FieldShape.type(of: value), isOptional: true)
        switch value {
        case .object(let object): fields = object.pairs.map { FieldShape(name: $0.name, learnedFrom: $0.value) }
        case .array(let elements), .set(let elements):
            let types = Set(elements.map(FieldShape.type))
            element = types.count == 1 ? types.first : .any
            if element == .object, case .object(let first)? = elements.first {
                fields = first.pairs.map { FieldShape(name: $0.name, learnedFrom: $0.value) }
            }
        default: break
        }
    }

    static func type(of value: Value) -> FieldType {
        switch value {
        case .null: .any
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .data: .data
        case .uuid: .uuid
        case .array: .array
        case .set: .set
        case .object: .object
        }
    }
}
