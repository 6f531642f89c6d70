import QuarryCoding

/// A stored field as predicates see it.
package struct FieldInfo: Sendable, Equatable {
    package var name: String
    package var type: FieldType
    package var isOptional: Bool
    /// The fields of a nested object, where they are known.
    package var fields: [FieldInfo]?
    /// The type of a collection's elements.
    package var element: FieldType?
    /// The fields of the objects in a collection.
    package var elementFields: [FieldInfo]?

    package init(
        name: String, type: FieldType, isOptional: Bool = false, fields: [FieldInfo]? = nil, element: FieldType? = nil,
        elementFields: [FieldInfo]? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.fields = fields
        self.element = element
        self.elementFields = elementFields
    }
}

/// The stored fields of an entity.
package struct FieldCatalog: Sendable, Equatable {
    package var entity: String
    package var fields: [FieldInfo]
    /// Unknown fields are accepted and read as nil: nothing, or not everything, is known of the rows.
    package var isOpen: Bool

    package init(entity: String, fields: [FieldInfo], isOpen: Bool = false) {
        self.entity = entity
        self.fields = fields
        self.isOpen = isOpen
    }

    /// The field at the end of a path through objects; nil when there is none, or nothing is known of it.
    package func info(_ path: [String]) -> FieldInfo? {
        var known = fields
        var found: FieldInfo?
        for (i, step) in path.enumerated() {
            guard let next = known.first(where: { $0.name == step }) else { return nil }
            found = next
            if i + 1 < path.count {
                guard next.type == .object, let inner = next.fields else { return nil }
                known = inner
            }
        }
        return found
    }
}
