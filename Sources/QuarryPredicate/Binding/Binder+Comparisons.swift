import Foundation
import QuarryCoding

extension Binder {
    /// Fits constants to the other side and refuses what can never be compared.
    func check(
        _ comparison: Comparison, _ left: inout Operand, _ leftKnown: Known, _ right: inout Operand,
        _ rightKnown: Known, isQuantified: Bool
    ) throws(PredicateFailure) {
        switch comparison.relation {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            // Two constants are what they are: no field says what they should have been.
            if left.constantValue != nil, right.constantValue != nil { return }
            try fit(&right, to: leftKnown, comparison)
            try fit(&left, to: rightKnown, comparison, isElement: isQuantified)
            try checkKinds(comparison, left, leftKnown, right, rightKnown)
        case .between:
            try fitBounds(&right, leftKnown, comparison)
        case .isIn:
            try fitMembers(&right, leftKnown, rightKnown, comparison, left: &left)
        case .contains:
            if leftKnown.isCollection == true {
                try fit(&right, to: leftKnown.inside, comparison)
            } else {
                try needText(comparison, left, leftKnown)
                if leftKnown.type == .string { try needText(comparison, right, rightKnown) }
            }
        case .beginsWith, .endsWith:
            if comparison.dialect == .swift, leftKnown.isCollection == true { return }
            try needText(comparison, left, leftKnown)
            if leftKnown.type == .string { try needText(comparison, right, rightKnown) }
        case .like, .matches:
            try needText(comparison, left, leftKnown)
            try needText(comparison, right, rightKnown)
            if comparison.relation == .matches, case .constant(let constant) = right,
                case .string(let pattern) = constant.value
            {
                _ = try RegularExpression.make(pattern, comparison.options, at: constant.position)
            }
        }
    }

    private func needText(
        _ comparison: Comparison, _ operand: Operand, _ known: Known
    ) throws(PredicateFailure) {
        guard let type = known.type, type != .string, type != .data else { return }
        let isTextOnly = comparison.relation == .like || comparison.relation == .matches
        if type == .data && isTextOnly == false { return }
        throw failure(
            comparison, "\(comparison.relation.symbol) works on text; \(describe(known, operand)) is none")
    }

    private func checkKinds(
        _ comparison: Comparison, _ left: Operand, _ leftKnown: Known, _ right: Operand, _ rightKnown: Known
    ) throws(PredicateFailure) {
        // A constant that was fitted has the other side's type now.
        let a = left.constantValue.map(Binder.known)?.type ?? leftKnown.type
        let b = right.constantValue.map(Binder.known)?.type ?? rightKnown.type
        guard let a, let b, a.kind != b.kind else { return }
        if left.constantValue?.isNil == true || right.constantValue?.isNil == true { return }
        throw failure(
            comparison,
            "\(describe(leftKnown, left)) and \(describe(rightKnown, right)) cannot be compared with \(comparison.relation.symbol)"
        )
    }

    /// Takes a constant for the type of the other side.
    private func fit(
        _ operand: inout Operand, to known: Known, _ comparison: Comparison, isElement: Bool = false
    ) throws(PredicateFailure) {
        guard !isElement, let type = known.type, case .constant(let constant) = operand else { return }
        operand = .constant(
            Constant(
                try fitted(constant.value, type, known, constant.position, comparison), position: constant.position))
    }

    private func fitted(
        _ value: Value, _ type: FieldType, _ known: Known, _ position: SourcePosition, _ comparison: Comparison
    ) throws(PredicateFailure) -> Value {
        if value.isNil { return value }
        let own = Binder.known(value).type
        if type == .string, case .string = value { return value }
        if case .string = value {
            if let fitted = QuarryPredicate.fit(value, to: type) { return fitted }
        } else if own?.kind == type.kind {
            // Numbers compare by value, whatever their kind; 0 and 1 mean a Bool's values.
            if type == .bool, let flag = QuarryPredicate.fit(value, to: .bool) { return flag }
            if type == .decimal, let exact = QuarryPredicate.fit(value, to: .decimal) { return exact }
            return value
        } else if type == .array || type == .set || type == .object, own == nil {
            return value
        }
        let name = known.name ?? "the other side"
        let place = position.start >= 0 ? position : comparison.position
        throw PredicateFailure(
            .type, "\(name) is a \(type.rawValue); \(FormatPrinter.shown(value)) cannot be compared with it", at: place)
    }

    private func fitBounds(
        _ right: inout Operand, _ known: Known, _ comparison: Comparison
    ) throws(PredicateFailure) {
        switch right {
        case .constant(let constant):
            guard case .array(let bounds) = constant.value, bounds.count == 2 else {
                throw failure(comparison, "BETWEEN takes a list of two bounds, as {1, 9}")
            }
            guard let type = known.type else { return }
            let values = try bounds.mapTyped { value throws(PredicateFailure) in
                try fitted(value, type, known, constant.position, comparison)
            }
            right = .constant(Constant(.array(values), position: constant.position))
        case .list(let items):
            guard items.count == 2 else { throw failure(comparison, "BETWEEN takes a list of two bounds, as {1, 9}") }
            right = .list(
                try items.mapTyped { item throws(PredicateFailure) in
                    var item = item
                    try fit(&item, to: known, comparison)
                    return item
                })
        default: break
        }
    }

    private func fitMembers(
        _ right: inout Operand, _ leftKnown: Known, _ rightKnown: Known, _ comparison: Comparison, left: inout Operand
    ) throws(PredicateFailure) {
        switch right {
        case .constant(let constant):
            switch constant.value {
            case .array(let items), .set(let items):
                guard let type = leftKnown.type else { return }
                let values = try items.mapTyped { value throws(PredicateFailure) in
                    try fitted(value, type, leftKnown, constant.position, comparison)
                }
                if case .set = constant.value {
                    right = .constant(Constant(.set(values), position: constant.position))
                } else {
                    right = .constant(Constant(.array(values), position: constant.position))
                }
            case .string:
                if let type = leftKnown.type, type != .string {
                    throw failure(comparison, "\(describe(leftKnown, left)) cannot be part of a text")
                }
            case .object, .null: break
            default: throw failure(comparison, "IN looks into lists, sets, dictionaries and texts")
            }
        case .list(let items):
            right = .list(
                try items.mapTyped { item throws(PredicateFailure) in
                    var item = item
                    try fit(&item, to: leftKnown, comparison)
                    return item
                })
        default:
            if rightKnown.isCollection == true {
                try fit(&left, to: rightKnown.inside, comparison)
            } else if let type = rightKnown.type, type != .string, type != .object {
                throw failure(
                    comparison,
                    "IN looks into lists, sets, dictionaries and texts; \(describe(rightKnown, right)) is none")
            } else if rightKnown.type == .string, let type = leftKnown.type, type != .string {
                throw failure(comparison, "\(describe(leftKnown, left)) cannot be part of a text")
            }
        }
    }
}

extension Operand {
    var constantValue: Value? { if case .constant(let constant) = self { constant.value } else { nil } }
}

extension FormatPrinter {
    /// A value as it is written in a format text.
    static func shown(_ value: Value) -> String {
        var printer = FormatPrinter()
        printer.print(.constant(Constant(value)))
        return printer.text
    }
}
