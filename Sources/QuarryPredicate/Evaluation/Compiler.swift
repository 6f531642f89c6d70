import Foundation
import QuarryCoding

/// Makes closures of a condition.
struct Compiler {
    private var places: [ElementVariable: Int] = [:]
    var elementCount: Int { places.count }

    /// Where the elements that a variable is bound to are kept.
    mutating func place(_ variable: ElementVariable) -> Int {
        if let known = places[variable] { return known }
        places[variable] = places.count
        return places.count - 1
    }

    mutating func compile(_ condition: Condition) throws(PredicateFailure) -> Test {
        switch condition {
        case .constant(let flag): return { _, _ in flag }
        case .all(let parts): return try all(parts)
        case .any(let parts): return try any(parts)
        case .not(let part):
            let test = try compile(part)
            return { view, context in try !test(view, context) }
        case .compare(let comparison): return try compile(comparison)
        case .quantified(let quantifier, let comparison): return try quantified(quantifier, comparison)
        case .truth(let operand): return try truth(operand)
        case .choice(let test, let first, let second):
            let test = try compile(test)
            let first = try compile(first)
            let second = try compile(second)
            return { view, context in try test(view, context) ? first(view, context) : second(view, context) }
        case .elements(let quantifier, let operand, let variable, let condition):
            let collection = try compile(operand)
            let place = place(variable)
            let test = try compile(condition)
            let position = operand.position
            return { view, context in
                let elements = try Compiler.elements(collection(view, context), position)
                // Restored for a subquery inside itself by way of its own collection.
                let outer = context.elements[place]
                defer { context.elements[place] = outer }
                return try quantifier.holds(elements) { element in
                    context.elements[place] = element
                    return try test(view, context)
                }
            }
        case .native(let native):
            return { _, context in try native.evaluate(context.decoded()) }
        }
    }

    static func elements(_ value: Value, _ position: SourcePosition) throws(PredicateFailure) -> [Value] {
        guard let elements = Stepping.elements(value) else {
            throw PredicateFailure(
                .type, "\(FormatPrinter.shown(value)) is no collection, which ANY, ALL, NONE and SUBQUERY need",
                at: position)
        }
        return elements
    }

    private mutating func all(_ parts: [Condition]) throws(PredicateFailure) -> Test {
        var tests: [Test] = []
        for part in parts { tests.append(try compile(part)) }
        switch tests.count {
        case 0: return { _, _ in true }
        case 1: return tests[0]
        case 2:
            let (a, b) = (tests[0], tests[1])
            return { view, context in try a(view, context) && b(view, context) }
        default:
            return { view, context in
                for test in tests where try !test(view, context) { return false }
                return true
            }
        }
    }

    private mutating func any(_ parts: [Condition]) throws(PredicateFailure) -> Test {
        var tests: [Test] = []
        for part in Compiler.joined(parts) { tests.append(try compile(part)) }
        switch tests.count {
        case 0: return { _, _ in false }
        case 1: return tests[0]
        case 2:
            let (a, b) = (tests[0], tests[1])
            return { view, context in try a(view, context) || b(view, context) }
        default:
            return { view, context in
                for test in tests where try test(view, context) { return true }
                return false
            }
        }
    }

    /// A long run of `field = constant` on one field becomes one membership, which a hash table answers. Equality never
    /// throws, so nothing changes but the time.
    private static func joined(_ parts: [Condition]) -> [Condition] {
        guard parts.count >= 8 else { return parts }
        var result: [Condition] = []
        var path: FieldPath?
        var values: [Value] = []
        var single: Condition?
        func close() {
            if let path, values.count > 1 {
                let list = Operand.constant(Constant(.array(values)))
                result.append(.compare(Comparison(.field(path), .isIn, list, dialect: .swift)))
            } else if let single {
                result.append(single)
            }
            path = nil
            single = nil
            values = []
        }
        for part in parts {
            guard case .compare(let comparison) = part, comparison.relation == .equal, comparison.options.isEmpty,
                case .field(let field) = comparison.left, case .constant(let constant) = comparison.right
            else {
                close()
                result.append(part)
                continue
            }
            if path != field { close() }
            path = field
            values.append(constant.value)
            single = part
        }
        close()
        return result
    }

    private mutating func quantified(
        _ quantifier: Quantifier, _ comparison: Comparison
    ) throws(PredicateFailure) -> Test {
        let collection = try compile(comparison.left)
        let right = try compile(comparison.right)
        let relate = try relation(comparison)
        let position = comparison.left.position.start >= 0 ? comparison.left.position : comparison.position
        return { view, context in
            let elements = try Compiler.elements(collection(view, context), position)
            if elements.isEmpty { return quantifier != .any }
            let other = try right(view, context)
            return try quantifier.holds(elements) { try relate($0, other) }
        }
    }

    private mutating func truth(_ operand: Operand) throws(PredicateFailure) -> Test {
        if case .condition(let condition) = operand { return try compile(condition) }
        if case .field(let path) = operand {
            let field = FieldReference(path.steps)
            if field.isDirect {
                return { view, context in
                    if let view {
                        guard let slot = field.slot(in: view) else { return false }
                        if slot.packing == .bool { return view.bool(slot) ?? false }
                    }
                    return try Compiler.isTrue(field.value(view, context), path.position)
                }
            }
        }
        let getter = try compile(operand)
        let position = operand.position
        return { view, context in try Compiler.isTrue(getter(view, context), position) }
    }

    static func isTrue(_ value: Value, _ position: SourcePosition) throws(PredicateFailure) -> Bool {
        switch value {
        case .bool(let flag): flag
        case .null: false
        default:
            if value.isNumber, let order = Numbers.order(value, .int(0)) {
                order != 0
            } else {
                throw PredicateFailure(.type, "\(FormatPrinter.shown(value)) is neither true nor false", at: position)
            }
        }
    }
}

extension Quantifier {
    func holds(_ elements: [Value], _ test: (Value) throws -> Bool) rethrows -> Bool {
        switch self {
        case .any: try elements.contains(where: test)
        case .all: try elements.allSatisfy(test)
        case .none: try !elements.contains(where: test)
        }
    }
}
