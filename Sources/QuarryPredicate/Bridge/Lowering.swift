import Foundation
import QuarryCoding

/// A `#Predicate` as a condition on stored fields.
///
/// - Parameter resolve: The stored steps of a key path; empty steps for the same stored value; nil where it is no stored
///   field, so that the part around it runs on the decoded object.
package func lower<Root>(_ predicate: Predicate<Root>, resolve: (AnyKeyPath) -> [String]?) -> Condition {
    withoutActuallyEscaping(resolve) { resolve in
        let variable = predicate.variable
        let lowering = Lowering(resolve: resolve) { expression in
            NativeCondition(summary: Lowering.summary(expression)) { object in
                guard let root = object as? Root else {
                    throw PredicateFailure(
                        .unsupported,
                        "a part of this predicate runs on \(Root.self) only, and here is a \(type(of: object))")
                }
                return try expression.evaluate(PredicateBindings((variable, root)))
            }
        }
        lowering.root = variable.key
        guard let condition = try? lowering.condition(predicate.expression) else {
            return .native(lowering.makeNative(predicate.expression))
        }
        return condition
    }
}

/// Why an expression is no condition on stored bytes.
struct NotLowerable: Error {
    let summary: String
}

/// A node of Foundation's tree that has a meaning on stored bytes.
protocol LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered
}

/// What a node becomes.
enum Lowered {
    case operand(Operand)
    case condition(Condition)
    /// Bounds; nil where the range has no end there.
    case range(Operand?, Operand?, isClosed: Bool)
}

/// The state of one lowering: which variables are what, and what has been seen that could trap in Foundation.
final class Lowering {
    private let resolve: (AnyKeyPath) -> [String]?
    let makeNative: (any StandardPredicateExpression<Bool>) -> NativeCondition
    var root: PredicateExpressions.VariableID?
    private var variables: [PredicateExpressions.VariableID: ElementVariable] = [:]
    private var variableCount = 0
    /// Elements and unwrapped values that are in scope. Foundation cannot be given them alone.
    private var scopeDepth = 0
    private var arithmeticCount = 0

    init(
        resolve: @escaping (AnyKeyPath) -> [String]?,
        makeNative: @escaping (any StandardPredicateExpression<Bool>) -> NativeCondition
    ) {
        self.resolve = resolve
        self.makeNative = makeNative
    }

    static func summary(_ expression: Any) -> String {
        var name = String(describing: type(of: expression))
        if let end = name.firstIndex(of: "<") { name = String(name[..<end]) }
        return name
    }

    func steps(of keyPath: AnyKeyPath) throws -> [String] {
        guard let steps = resolve(keyPath) else { throw NotLowerable(summary: "\(keyPath)") }
        return steps
    }

    // MARK: Children

    /// The expression as a condition. What does not lower runs in Foundation, alone if it can.
    func condition(_ expression: Any) throws -> Condition {
        let before = arithmeticCount
        do {
            switch try lowered(expression) {
            case .condition(let condition): return condition
            case .operand(.condition(let condition)): return condition
            case .operand(.constant(let constant)):
                if case .bool(let flag) = constant.value { return .constant(flag) }
                return .truth(.constant(constant))
            case .operand(let operand): return .truth(operand)
            case .range: throw NotLowerable(summary: "a range")
            }
        } catch let error as NotLowerable {
            guard scopeDepth == 0, let native = expression as? any StandardPredicateExpression<Bool> else {
                throw error
            }
            if arithmeticCount > before {
                // Foundation would trap on overflow and division by zero, and a query must not.
                return .native(
                    NativeCondition(summary: error.summary) { _ in
                        throw PredicateFailure(
                            .unsupported,
                            "arithmetic beside \(error.summary) cannot run on stored fields; compute it outside the predicate"
                        )
                    })
            }
            return .native(makeNative(native))
        }
    }

    func operand(_ expression: Any) throws -> Operand {
        switch try lowered(expression) {
        case .operand(let operand): return operand
        case .condition(let condition): return .condition(condition)
        case .range: throw NotLowerable(summary: "a range as a value")
        }
    }

    func lowered(_ expression: Any) throws -> Lowered {
        guard let expression = expression as? any LowerableExpression else {
            throw NotLowerable(summary: Lowering.summary(expression))
        }
        return try expression.lowered(self)
    }

    /// Both sides, and both looked at even if one cannot be lowered.
    func operands(_ left: Any, _ right: Any) throws -> (Operand, Operand) {
        let a = Result { try operand(left) }
        let b = Result { try operand(right) }
        return (try a.get(), try b.get())
    }

    func noteArithmetic() { arithmeticCount += 1 }

    // MARK: Variables

    func operand(of variable: PredicateExpressions.VariableID) throws -> Operand {
        if variable == root { return .field(FieldPath([])) }
        guard let element = variables[variable] else { throw NotLowerable(summary: "a variable from elsewhere") }
        return .element(element)
    }

    /// Runs the body with a variable for elements or an unwrapped value.
    func scoped<T>(
        _ variable: PredicateExpressions.VariableID, _ body: (ElementVariable) throws -> T
    ) throws -> T {
        variableCount += 1
        let element = ElementVariable(id: variableCount, name: "v\(variableCount)")
        variables[variable] = element
        scopeDepth += 1
        defer { scopeDepth -= 1 }
        return try body(element)
    }
}
