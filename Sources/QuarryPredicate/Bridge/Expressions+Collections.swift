import Foundation
import QuarryCoding

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let range = try? lowering.lowered(sequence)
        if case .range? = range {
            guard StoredTypes.isOrdered(RHS.Output.self), let range else { throw NotLowerable(summary: "a range") }
            return .condition(try rangeContains(range, try lowering.operand(element)))
        }
        let (whole, member) = try lowering.operands(sequence, element)
        guard StoredTypes.isEquatable(RHS.Output.self),
            LHS.Output.self is any StoredCollection.Type || StoredTypes.isText(LHS.Output.self)
        else { throw NotLowerable(summary: "contains on \(LHS.Output.self)") }
        // A constant list with a field looked up in it is IN, which an index answers.
        if whole.constantValue != nil {
            return .condition(.compare(Comparison(member, .isIn, whole, dialect: .swift)))
        }
        return .condition(.compare(Comparison(whole, .contains, member, dialect: .swift)))
    }
}

extension PredicateExpressions.SequenceContainsWhere: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        try elements(.any, of: sequence, LHS.Output.self, variable.key, satisfy: test, lowering)
    }
}

extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        try elements(.all, of: sequence, LHS.Output.self, variable.key, satisfy: test, lowering)
    }
}

private func elements(
    _ quantifier: Quantifier, of sequence: Any, _ type: Any.Type, _ variable: PredicateExpressions.VariableID,
    satisfy test: Any, _ lowering: Lowering
) throws -> Lowered {
    guard type is any StoredCollection.Type else { throw NotLowerable(summary: "the elements of \(type)") }
    let collection = try lowering.operand(sequence)
    return try lowering.scoped(variable) { element in
        .condition(.elements(quantifier, of: collection, variable: element, satisfy: try lowering.condition(test)))
    }
}

extension PredicateExpressions.Filter: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        guard LHS.Output.self is any StoredCollection.Type else {
            throw NotLowerable(summary: "the elements of \(LHS.Output.self)")
        }
        let collection = try lowering.operand(sequence)
        return try lowering.scoped(variable.key) { element in
            .operand(.subquery(of: collection, variable: element, where: try lowering.condition(filter)))
        }
    }
}

extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let (whole, start) = try lowering.operands(base, prefix)
        let isText = StoredTypes.isText(Base.Output.self) && StoredTypes.isText(Prefix.Output.self)
        let isList =
            Base.Output.self is any StoredCollection.Type && Prefix.Output.self is any StoredCollection.Type
            && StoredTypes.isEquatable(Base.Output.self)
        guard isText || isList else { throw NotLowerable(summary: "starts(with:) on \(Base.Output.self)") }
        return .condition(.compare(Comparison(whole, .beginsWith, start, dialect: .swift)))
    }
}

extension PredicateExpressions.CollectionContainsCollection: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let (whole, part) = try lowering.operands(base, other)
        guard StoredTypes.isText(Base.Output.self), StoredTypes.isText(Other.Output.self) else {
            throw NotLowerable(summary: "contains on \(Base.Output.self)")
        }
        return .condition(.compare(Comparison(whole, .contains, part, dialect: .swift)))
    }
}

extension PredicateExpressions.SequenceMinimum: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        try extreme(.min, elements, Elements.Output.self, lowering)
    }
}

extension PredicateExpressions.SequenceMaximum: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        try extreme(.max, elements, Elements.Output.self, lowering)
    }
}

private func extreme(_ function: Function, _ elements: Any, _ type: Any.Type, _ lowering: Lowering) throws -> Lowered {
    guard let collection = type as? any StoredCollection.Type, StoredTypes.isOrdered(collection.elementType) else {
        throw NotLowerable(summary: "\(function.rawValue) of \(type)")
    }
    return .operand(.call(function, [try lowering.operand(elements)], dialect: .swift, .none))
}

extension PredicateExpressions.CollectionIndexSubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        guard Index.Output.self == Int.self, Wrapped.Output.self is any StoredCollection.Type else {
            throw NotLowerable(summary: "a subscript of \(Wrapped.Output.self)")
        }
        let (list, place) = try lowering.operands(wrapped, index)
        return .operand(.step(list, .subscripted(place, dialect: .swift), .none))
    }
}

extension PredicateExpressions.CollectionRangeSubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        let list = try lowering.operand(wrapped)
        guard Wrapped.Output.self is any StoredCollection.Type,
            case .range(let low?, let high?, let isClosed) = try lowering.lowered(range)
        else { throw NotLowerable(summary: "a range of \(Wrapped.Output.self)") }
        return .operand(.step(list, .slice(low, high, closed: isClosed), .none))
    }
}

extension PredicateExpressions.DictionaryKeySubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        guard Wrapped.Output.hasNamedKeys else {
            throw NotLowerable(summary: "a subscript of \(Wrapped.Output.self)")
        }
        let (dictionary, key) = try lowering.operands(wrapped, key)
        return .operand(.step(dictionary, .subscripted(key, dialect: .swift), .none))
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws -> Lowered {
        guard Wrapped.Output.hasNamedKeys else {
            throw NotLowerable(summary: "a subscript of \(Wrapped.Output.self)")
        }
        let (dictionary, key) = try lowering.operands(wrapped, key)
        return .operand(.step(dictionary, .subscriptedDefault(key, try lowering.operand(`default`)), .none))
    }
}
