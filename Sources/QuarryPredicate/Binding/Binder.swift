import Foundation
import QuarryCoding

/// The condition with its fields found in an entity and its constants fitted to their types.
///
/// - Throws: `PredicateFailure` for unknown fields, with the nearest name; for constants that do not fit; for types that
///   cannot be compared; for patterns that are none.
package func bind(
    _ condition: Condition, to fields: FieldCatalog, text: String? = nil
) throws(PredicateFailure) -> Condition {
    var binder = Binder(catalog: fields)
    do throws(PredicateFailure) {
        return try binder.bind(condition)
    } catch {
        throw error.located(in: text)
    }
}

struct Binder {
    let catalog: FieldCatalog
    /// What is known of the elements that SUBQUERYs and closures look at.
    var elements: [ElementVariable: Known] = [:]

    /// What is known of an operand before a row is seen.
    struct Known {
        /// Nil while nothing is known.
        var type: FieldType?
        var element: FieldType?
        /// The fields of the object, or of the collection's elements; nil while unknown.
        var fields: [FieldInfo]?
        /// For errors.
        var name: String?

        static let unknown = Known()

        init(_ type: FieldType? = nil, element: FieldType? = nil, fields: [FieldInfo]? = nil, name: String? = nil) {
            self.type = type == .any ? nil : type
            self.element = element == .any ? nil : element
            self.fields = fields
            self.name = name
        }

        init(_ info: FieldInfo, name: String) {
            self.init(
                info.type, element: info.element, fields: info.type == .object ? info.fields : info.elementFields,
                name: name)
        }

        var isCollection: Bool? { type.map { $0 == .array || $0 == .set } }
        /// What ANY, CONTAINS and SUBQUERY look at.
        var inside: Known {
            Known(
                element, fields: element == .object || element == nil ? fields : nil,
                name: name.map { "an element of \($0)" })
        }
    }

    // MARK: Conditions

    mutating func bind(_ condition: Condition) throws(PredicateFailure) -> Condition {
        switch condition {
        case .constant, .native: return condition
        case .all(let parts): return .all(try parts.mapTyped { part throws(PredicateFailure) in try bind(part) })
        case .any(let parts): return .any(try parts.mapTyped { part throws(PredicateFailure) in try bind(part) })
        case .not(let part): return .not(try bind(part))
        case .compare(let comparison): return .compare(try bind(comparison, quantifier: nil))
        case .quantified(let quantifier, let comparison):
            return .quantified(quantifier, try bind(comparison, quantifier: quantifier))
        case .truth(let operand): return .truth(try bind(operand).0)
        case .choice(let test, let first, let second):
            return .choice(try bind(test), then: try bind(first), else: try bind(second))
        case .elements(let quantifier, let operand, let variable, let satisfy):
            let (collection, known) = try bind(operand)
            elements[variable] = known.inside
            return .elements(quantifier, of: collection, variable: variable, satisfy: try bind(satisfy))
        }
    }

    private mutating func bind(
        _ comparison: Comparison, quantifier: Quantifier?
    ) throws(PredicateFailure) -> Comparison {
        var result = comparison
        var (left, leftKnown) = try bind(comparison.left)
        var (right, rightKnown) = try bind(comparison.right)
        if quantifier != nil {
            if leftKnown.isCollection == false {
                throw failure(comparison, "\(describe(leftKnown, left)) is no collection, which ANY, ALL and NONE need")
            }
            leftKnown = leftKnown.inside
        }
        try check(comparison, &left, leftKnown, &right, rightKnown, isQuantified: quantifier != nil)
        _ = rightKnown
        rightKnown = .unknown
        result.left = left
        result.right = right
        return result
    }

    func failure(_ comparison: Comparison, _ message: String) -> PredicateFailure {
        PredicateFailure(.type, message, at: comparison.position)
    }

    func describe(_ known: Known, _ operand: Operand) -> String {
        guard let type = known.type else { return "the value" }
        if let name = known.name { return "\(name) (\(type.rawValue))" }
        return "a value of type \(type.rawValue)"
    }

    // MARK: Operands

    mutating func bind(_ operand: Operand) throws(PredicateFailure) -> (Operand, Known) {
        switch operand {
        case .constant(let constant): return (operand, Binder.known(constant.value))
        case .variable: return (operand, .unknown)
        case .element(let variable): return (operand, elements[variable] ?? .unknown)
        case .field(let path): return try bind(path)
        case .list(let items):
            return (
                .list(try items.mapTyped { item throws(PredicateFailure) in try bind(item).0 }), Known(.array)
            )
        case .call(let function, let operands, let dialect, let position):
            return try bindCall(function, operands, dialect, position)
        case .ternary(let test, let first, let second):
            let bound = try bind(test)
            let (a, aKnown) = try bind(first)
            let (b, bKnown) = try bind(second)
            return (.ternary(bound, a, b), Known(aKnown.type == bKnown.type ? aKnown.type : nil))
        case .subquery(let collection, let variable, let condition):
            let (bound, known) = try bind(collection)
            if known.isCollection == false {
                throw PredicateFailure(
                    .type, "SUBQUERY looks into collections; \(describe(known, collection)) is none",
                    at: collection.position)
            }
            elements[variable] = known.inside
            let satisfied = try bind(condition)
            return (
                .subquery(of: bound, variable: variable, where: satisfied),
                Known(.array, element: known.element, fields: known.fields)
            )
        case .ifPresent(let inner, let variable, let body):
            let (bound, known) = try bind(inner)
            elements[variable] = known
            let (then, thenKnown) = try bind(body)
            return (.ifPresent(bound, variable: variable, then: then), thenKnown)
        case .condition(let condition): return (.condition(try bind(condition)), Known(.bool))
        case .step(let base, let step, let position):
            let (bound, known) = try bind(base)
            return try bind(bound, known, step, position)
        }
    }

    static func known(_ value: Value) -> Known {
        switch value {
        case .null, .object: .unknown
        case .bool: Known(.bool)
        case .int: Known(.int)
        case .uint: Known(.uint)
        case .double: Known(.double)
        case .decimal: Known(.decimal)
        case .string: Known(.string)
        case .date: Known(.date)
        case .data: Known(.data)
        case .uuid: Known(.uuid)
        case .array: Known(.array)
        case .set: Known(.set)
        }
    }

    private mutating func bindCall(
        _ function: Function, _ operands: [Operand], _ dialect: Dialect, _ position: SourcePosition
    ) throws(PredicateFailure) -> (Operand, Known) {
        var bound: [Operand] = []
        var knowns: [Known] = []
        for operand in operands {
            let (next, known) = try bind(operand)
            bound.append(next)
            knowns.append(known)
        }
        let call = Operand.call(function, bound, dialect: dialect, position)
        switch function {
        case .add, .subtract, .multiply, .divide, .modulus, .raise, .negate, .remainder, .floatDivide:
            for (known, operand) in zip(knowns, bound) {
                if let type = known.type, !type.isNumeric, type != .date {
                    throw PredicateFailure(
                        .type, "arithmetic needs numbers; \(describe(known, operand)) is none", at: position)
                }
            }
            return (call, .unknown)
        case .uppercase, .lowercase, .canonical: return (call, Known(.string))
        case .now: return (call, Known(.date))
        case .length, .count: return (call, Known(.int))
        case .noindex: return (call, knowns.first ?? .unknown)
        case .coalesce: return (call, Known(knowns.last?.type))
        case .rangeContains, .closedRangeContains: return (call, Known(.bool))
        case .union, .intersect, .minus: return (call, Known(.set))
        default: return (call, .unknown)
        }
    }
}

extension Array {
    /// `map` that keeps the type of what is thrown.
    func mapTyped<T, E: Error>(_ transform: (Element) throws(E) -> T) throws(E) -> [T] {
        var result: [T] = []
        result.reserveCapacity(count)
        for element in self { result.append(try transform(element)) }
        return result
    }
}

extension FieldType {
    var isNumeric: Bool {
        switch self {
        case .bool, .int, .uint, .double, .decimal: true
        default: false
        }
    }

    /// Types of one kind can be compared.
    var kind: Int {
        switch self {
        case .bool, .int, .uint, .double, .decimal: 0
        case .string: 1
        case .date: 2
        case .data: 3
        case .uuid: 4
        case .array, .set: 5
        case .object: 6
        case .any: 7
        }
    }
}

extension Operand {
    /// Where the operand stands in the text, as far as it knows.
    var position: SourcePosition {
        switch self {
        case .constant(let constant): constant.position
        case .field(let path): path.position
        case .variable(_, let position), .step(_, _, let position), .call(_, _, _, let position): position
        case .list(let items): items.first?.position ?? .none
        default: .none
        }
    }
}
