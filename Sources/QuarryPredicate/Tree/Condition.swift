import QuarryCoding

/// A predicate as every front end spells it: true or false for each row, never unknown.
///
/// AND and OR are flat lists, so that a chain of 50,000 terms costs one level of depth.
package indirect enum Condition: Sendable, Equatable {
    case constant(Bool)
    /// AND, evaluated left to right. Empty means true.
    case all([Condition])
    /// OR, evaluated left to right. Empty means false.
    case any([Condition])
    case not(Condition)
    case compare(Comparison)
    /// ANY, ALL or NONE over the elements of the comparison's left operand.
    case quantified(Quantifier, Comparison)
    /// An operand that is itself a Bool: `$0.sex`, or a format text's `sex = YES` reduced.
    case truth(Operand)
    case choice(Condition, then: Condition, else: Condition)
    /// `contains(where:)` (any) and `allSatisfy` (all): the variable is bound to each element in turn.
    case elements(Quantifier, of: Operand, variable: ElementVariable, satisfy: Condition)
    /// What only Foundation can run: evaluated on the decoded object.
    case native(NativeCondition)
}

package enum Quantifier: Sendable, Equatable { case any, all, none }

package struct Comparison: Sendable, Equatable {
    package var left: Operand
    package var relation: Relation
    package var right: Operand
    package var options: TextOptions
    /// Swift's rules (`#Predicate`) or the format language's where the two differ by definition.
    package var dialect: Dialect
    /// Where it stands in the format text, for errors. Not part of equality.
    package var position: SourcePosition

    package init(
        _ left: Operand, _ relation: Relation, _ right: Operand, options: TextOptions = [],
        dialect: Dialect = .format, position: SourcePosition = .none
    ) {
        self.left = left
        self.relation = relation
        self.right = right
        self.options = options
        self.dialect = dialect
        self.position = position
    }
}

package enum Relation: String, Sendable, Equatable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    case between, isIn, contains, beginsWith, endsWith, like, matches
}

/// Where the two front ends differ: an empty needle (`contains("")` is true in Swift, CONTAINS '' is false), a failed
/// subscript or forced unwrap (Swift throws, the format language says nil), overflow and division by zero (thrown, nil).
package enum Dialect: Sendable, Equatable { case format, swift }

/// A byte range (UTF-8) in a format text. Two positions are always equal, so that trees compare by meaning.
package struct SourcePosition: Sendable, Equatable {
    package var start: Int
    package var end: Int
    package init(start: Int, end: Int) {
        self.start = start
        self.end = end
    }
    package static let none = SourcePosition(start: -1, end: -1)
    package static func == (a: SourcePosition, b: SourcePosition) -> Bool { true }
}

/// A bound element: SUBQUERY's `$v`, or a closure parameter of `#Predicate`. Unique within one condition.
package struct ElementVariable: Hashable, Sendable {
    package var id: Int
    /// How it is printed: `$v`.
    package var name: String
    package init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}
