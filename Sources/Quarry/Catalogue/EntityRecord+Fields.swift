import QuarryCoding
import QuarryPredicate

extension FieldRecord {
    init(_ shape: FieldShape) {
        self.init(
            name: shape.name, type: shape.type, isOptional: shape.isOptional,
            fields: shape.fields.isEmpty ? nil : shape.fields.map(FieldRecord.init), element: shape.element)
    }

    /// The field as predicates see it. A collection of objects has their fields as its own.
    var info: FieldInfo {
        let nested = fields?.map(\.info)
        let isCollection = type == .array || type == .set
        return FieldInfo(
            name: name, type: type, isOptional: isOptional, fields: isCollection ? nil : nested, element: element,
            elementFields: isCollection ? nested : nil)
    }

    /// What a stored value says about a field of which nothing else is known.
    init(name: String, value: Value) {
        var nested: [FieldRecord]?
        var element: FieldType?
        switch value {
        case .object(let fields): nested = fields.pairs.map { FieldRecord(name: $0.name, value: $0.value) }
        case .array(let elements), .set(let elements):
            if let first = elements.first { element = FieldRecord(name: "", value: first).type }
            if case .object(let fields)? = elements.first {
                nested = fields.pairs.map { FieldRecord(name: $0.name, value: $0.value) }
            }
        default: break
        }
        let type = value.fieldType
        self.init(name: name, type: type ?? .any, isOptional: type == nil, fields: nested, element: element)
    }
}

extension Value {
    /// The type of the field that would hold this; nil for null.
    var fieldType: FieldType? {
        switch self {
        case .null: nil
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

extension IndexRecord {
    /// A record with its name made from its fields: `classid,name`, `name[c]`, `tags[each]`.
    init(entity: String, components: [Component], isUnique: Bool, name: String? = nil, isManual: Bool = false) {
        let made = components.map { component in
            var suffix = ""
            let options = TextOptions(rawValue: component.options)
            if options.contains(.caseInsensitive) { suffix += "c" }
            if options.contains(.diacriticInsensitive) { suffix += "d" }
            if component.isEach { suffix += "each" }
            return component.path.joined(separator: ".") + (suffix.isEmpty ? "" : "[\(suffix)]")
        }.joined(separator: ",")
        let name = name ?? made
        self.init(
            name: name, table: "index/\(TableName.escaped(entity))/\(TableName.escaped(name))",
            components: components, isUnique: isUnique, isManual: isManual ? true : nil)
    }

    var definition: IndexDefinition {
        IndexDefinition(
            name: name,
            components: components.map {
                IndexComponent(
                    path: $0.path, options: TextOptions(rawValue: $0.options), isEach: $0.isEach, type: $0.type)
            },
            isUnique: isUnique)
    }
}

/// Names of sub-databases: parts joined by slashes, so slashes inside a part are written otherwise.
enum TableName {
    static func escaped(_ part: String) -> String {
        part.replacing("%", with: "%25").replacing("/", with: "%2F")
    }

    static func rows(_ entity: String) -> String { "rows/\(escaped(entity))" }
}

extension EntityRecord {
    var fieldCatalog: FieldCatalog {
        FieldCatalog(entity: name, fields: fields.map(\.info), isOpen: fields.isEmpty)
    }
}
