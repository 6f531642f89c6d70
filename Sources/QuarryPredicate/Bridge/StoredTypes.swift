import Foundation

/// Types whose stored values are equal exactly when the Swift values are.
protocol StoredByValue {}
/// Types whose stored values have the order of the Swift values.
protocol StoredInOrder: StoredByValue {}

extension Bool: StoredByValue {}
extension Int: StoredInOrder {}
extension Int8: StoredInOrder {}
extension Int16: StoredInOrder {}
extension Int32: StoredInOrder {}
extension Int64: StoredInOrder {}
extension UInt: StoredInOrder {}
extension UInt8: StoredInOrder {}
extension UInt16: StoredInOrder {}
extension UInt32: StoredInOrder {}
extension UInt64: StoredInOrder {}
extension Float: StoredInOrder {}
extension Double: StoredInOrder {}
extension Decimal: StoredInOrder {}
extension String: StoredInOrder {}
extension Substring: StoredInOrder {}
extension Character: StoredInOrder {}
extension Date: StoredInOrder {}
extension UUID: StoredInOrder {}
extension Data: StoredByValue {}
extension URL: StoredByValue {}
extension Array: StoredByValue where Element: StoredByValue {}
extension ArraySlice: StoredByValue where Element: StoredByValue {}
extension Set: StoredByValue where Element: StoredByValue {}

/// An optional without its type.
protocol AnyOptional {
    static var wrappedType: Any.Type { get }
    var unwrapped: Any? { get }
}
extension Optional: AnyOptional {
    static var wrappedType: Any.Type { Wrapped.self }
    var unwrapped: Any? { self }
}

/// Collections that are stored as lists or sets of their elements.
protocol StoredCollection { static var elementType: Any.Type { get } }
extension Array: StoredCollection { static var elementType: Any.Type { Element.self } }
extension ArraySlice: StoredCollection { static var elementType: Any.Type { Element.self } }
extension Set: StoredCollection { static var elementType: Any.Type { Element.self } }

/// Dictionaries, which are stored by name when their keys are texts or integers.
protocol AnyDictionary { static var hasNamedKeys: Bool { get } }
extension Dictionary: AnyDictionary {
    static var hasNamedKeys: Bool { Key.self == String.self || Key.self == Int.self }
}

enum StoredTypes {
    static func base(_ type: Any.Type) -> Any.Type {
        var type = type
        while let optional = type as? any AnyOptional.Type { type = optional.wrappedType }
        return type
    }

    /// Whether `==` can be decided on stored values. Raw values stand for the enums that have them.
    static func isEquatable(_ type: Any.Type) -> Bool {
        let type = base(type)
        if type is any StoredByValue.Type || type is any RawRepresentable.Type { return true }
        if let collection = type as? any StoredCollection.Type {
            // An element's own == may be anything.
            return base(collection.elementType) is any RawRepresentable.Type
                || base(collection.elementType) is any StoredByValue.Type
        }
        return false
    }

    static func isOrdered(_ type: Any.Type) -> Bool { base(type) is any StoredInOrder.Type }

    static func isText(_ type: Any.Type) -> Bool {
        type == String.self || type == Substring.self || type == Character.self
    }
}
