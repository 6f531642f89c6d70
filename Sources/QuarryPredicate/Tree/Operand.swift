import QuarryCoding

/// A value expression inside a condition.
package indirect enum Operand: Sendable, Equatable {
    case constant(Constant)
    /// A stored field of the row, by coding keys: `address.city`. Empty steps mean SELF.
    case field(FieldPath)
    /// `$name`, bound when the query runs.
    case variable(String, SourcePosition)
    /// The element a SUBQUERY or closure is looking at.
    case element(ElementVariable)
    /// A further step from any operand: key, subscript, collection operator, or a property such as count.
    case step(Operand, Step, SourcePosition)
    /// `{a, b, c}`.
    case list([Operand])
    case call(Function, [Operand], dialect: Dialect, SourcePosition)
    case ternary(Condition, Operand, Operand)
    /// SUBQUERY and `filter`: the elements for which the condition holds.
    case subquery(of: Operand, variable: ElementVariable, where: Condition)
    /// `flatMap`, `?.`, `if let`: nil if the operand is nil, otherwise the body with the variable bound to it.
    case ifPresent(Operand, variable: ElementVariable, then: Operand)
    /// A condition used as a value (Bool).
    case condition(Condition)
}

/// A constant and the place it was written.
package struct Constant: Sendable, Equatable {
    package var value: Value
    package var position: SourcePosition
    package init(_ value: Value, position: SourcePosition = .none) {
        self.value = value
        self.position = position
    }
    /// Equal when kind and value are the same (NaN equals NaN here: this compares trees, not numbers).
    package static func == (a: Constant, b: Constant) -> Bool { a.value.isIdentical(to: b.value) }
}

/// A path of coding keys from the row.
package struct FieldPath: Sendable, Hashable {
    package var steps: [String]
    package var position: SourcePosition
    package init(_ steps: [String], position: SourcePosition = .none) {
        self.steps = steps
        self.position = position
    }
    package var text: String { steps.joined(separator: ".") }
    package static func == (a: FieldPath, b: FieldPath) -> Bool { a.steps == b.steps }
    package func hash(into hasher: inout Hasher) { hasher.combine(steps) }
}

package indirect enum Step: Sendable, Equatable {
    /// A key of an object; over a collection it maps and flattens.
    case key(String)
    /// `[expr]`: an array's position or a dictionary's key.
    case subscripted(Operand, dialect: Dialect)
    /// `d[key, default: value]`.
    case subscriptedDefault(Operand, Operand)
    /// `a[x..<y]`, bounds as operands; the flag says closed.
    case slice(Operand, Operand, closed: Bool)
    case first, last, size
    /// `@count`, `@sum.k` …: the operator; the rest of the path follows as steps *inside* (before) it.
    case collection(CollectionOperator, path: [String])
    /// `.length`: UTF-16 units. `count` is Characters of a string or elements of a collection. `isEmpty` likewise.
    case length, count, isEmpty
    /// `x!`: throws when nil.
    case unwrapped
}

package enum CollectionOperator: String, Sendable, Equatable, CaseIterable {
    case count, sum, avg, min, max
    case distinctUnionOfObjects, unionOfObjects, distinctUnionOfArrays, unionOfArrays, distinctUnionOfSets
}

/// Functions by NSPredicate's selector names; a few more that only `#Predicate` can spell.
package enum Function: String, Sendable, Equatable, CaseIterable {
    // arithmetic
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    case raise = "raise:toPower:"
    case negate = "negate:"
    // statistics over a collection or several arguments
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case stddev = "stddev:"
    // numbers
    case sqrt = "sqrt:"
    case log = "log:"
    case ln = "ln:"
    case exp = "exp:"
    case floor = "floor:"
    case ceiling = "ceiling:"
    case abs = "abs:"
    case trunc = "trunc:"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftshift = "leftshift:by:"
    case rightshift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    // text
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case length = "length:"
    case canonical = "canonical:"
    // others
    case now = "now"
    case noindex = "noindex:"
    case objectFromIndex = "objectFrom:withIndex:"
    case castObject = "castObject:toType:"
    case cast = "CAST"
    // sets
    case union = "UNION"
    case intersect = "INTERSECT"
    case minus = "MINUS"
    // Swift
    case coalesce = "??"
    case remainder = "%"
    case floatDivide = "float /"
    case rangeContains = "range contains"
    case closedRangeContains = "closed range contains"
}

/// A sub-predicate that only Foundation can run. Compared by identity.
package final class NativeCondition: Sendable, Equatable {
    /// What it is, for `explain` and descriptions.
    package let summary: String
    /// Takes the decoded object; throws what Foundation throws.
    package let evaluate: @Sendable (Any) throws -> Bool
    package init(summary: String, evaluate: @escaping @Sendable (Any) throws -> Bool) {
        self.summary = summary
        self.evaluate = evaluate
    }
    package static func == (a: NativeCondition, b: NativeCondition) -> Bool { a === b }
}
