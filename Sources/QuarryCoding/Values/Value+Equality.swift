import Foundation

extension Value: Hashable {
    /// The same kind and an equal value: text by canonical equivalence, NaN equal to itself, sets and objects in any
    /// order. Numbers of different kinds differ here; predicates compare them by value.
    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.uint(let x), .uint(let y)): x == y
        case (.double(let x), .double(let y)): x == y || (x.isNaN && y.isNaN)
        case (.decimal(let x), .decimal(let y)): x == y
        case (.string(let x), .string(let y)): x == y
        case (.date(let x), .date(let y)):
            x == y || (x.timeIntervalSinceReferenceDate.isNaN && y.timeIntervalSinceReferenceDate.isNaN)
        case (.data(let x), .data(let y)): x == y
        case (.uuid(let x), .uuid(let y)): x == y
        case (.array(let x), .array(let y)): x == y
        case (.set(let x), .set(let y)): x.count == y.count && Set(x) == Set(y)
        case (.object(let x), .object(let y)): x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .uint(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.isNaN ? .nan : value)
        case .decimal(let value): hasher.combine(value)
        case .string(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .array(let elements): hasher.combine(elements)
        case .set(let elements): hasher.combine(Set(elements))
        case .object(let fields): hasher.combine(fields)
        }
    }
}

extension Value.Fields: Hashable {
    public static func == (a: Self, b: Self) -> Bool {
        guard a.pairs.count == b.pairs.count else { return false }
        if zip(a.pairs, b.pairs).allSatisfy({ $0.name == $1.name && $0.value == $1.value }) { return true }
        return a.pairs.allSatisfy { pair in b.index(of: pair.name).map { b.pairs[$0].value == pair.value } ?? false }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(Set(pairs.map(\.name)))
    }

    package func index(of name: String) -> Int? { pairs.firstIndex { $0.name == name } }

    /// The value of a field; nil when there is none. Setting adds the field at the end or replaces its value.
    public subscript(name: String) -> Value? {
        get { index(of: name).map { pairs[$0].value } }
        set {
            if let place = index(of: name) {
                if let newValue { pairs[place].value = newValue } else { pairs.remove(at: place) }
            } else if let newValue {
                pairs.append((name, newValue))
            }
        }
    }
}
