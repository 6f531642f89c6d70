import Foundation
import QuarryCoding

extension Compiler {
    mutating func compile(_ operand: Operand) throws(PredicateFailure) -> Getter {
        switch operand {
        case .constant(let constant):
            let value = constant.value
            return { _, _ in value }
        case .field(let path):
            if path.steps.isEmpty {
                return { view, context in try view.map { .object(try $0.record()) } ?? context.root }
            }
            let field = FieldReference(path.steps)
            return { view, context in try field.value(view, context) }
        case .variable(let name, let position):
            return { _, context in
                guard let value = context.variables[name] else {
                    throw PredicateFailure(.variable, "$\(name) has no value", at: position)
                }
                return value
            }
        case .element(let variable):
            let place = place(variable)
            return { _, context in context.elements[place] }
        case .list(let items):
            let getters = try compile(items)
            return { view, context in .array(try getters.map { try $0(view, context) }) }
        case .ternary(let test, let first, let second):
            let test = try compile(test)
            let first = try compile(first)
            let second = try compile(second)
            return { view, context in try test(view, context) ? first(view, context) : second(view, context) }
        case .condition(let condition):
            let test = try compile(condition)
            return { view, context in .bool(try test(view, context)) }
        case .subquery(let collection, let variable, let condition):
            return try subquery(collection, variable, condition)
        case .ifPresent(let inner, let variable, let body):
            let getter = try compile(inner)
            let place = place(variable)
            let then = try compile(body)
            return { view, context in
                let value = try getter(view, context)
                if value.isNil { return .null }
                let outer = context.elements[place]
                defer { context.elements[place] = outer }
                context.elements[place] = value
                return try then(view, context)
            }
        case .step(let base, let step, let position): return try compile(base, step, position)
        case .call(let function, let operands, let dialect, let position):
            return try compile(function, operands, dialect, position)
        }
    }

    mutating func compile(_ operands: [Operand]) throws(PredicateFailure) -> [Getter] {
        var getters: [Getter] = []
        getters.reserveCapacity(operands.count)
        for operand in operands { getters.append(try compile(operand)) }
        return getters
    }

    private mutating func subquery(
        _ collection: Operand, _ variable: ElementVariable, _ condition: Condition
    ) throws(PredicateFailure) -> Getter {
        let getter = try compile(collection)
        let place = place(variable)
        let test = try compile(condition)
        let position = collection.position
        return { view, context in
            let elements = try Compiler.elements(getter(view, context), position)
            let outer = context.elements[place]
            defer { context.elements[place] = outer }
            return .array(
                try elements.filter { element in
                    context.elements[place] = element
                    return try test(view, context)
                })
        }
    }

    private mutating func compile(
        _ base: Operand, _ step: Step, _ position: SourcePosition
    ) throws(PredicateFailure) -> Getter {
        let getter = try compile(base)
        switch step {
        case .key(let name): return { view, context in Stepping.key(name, of: try getter(view, context)) }
        case .subscripted(let index, let dialect):
            let index = try compile(index)
            return { view, context in
                try Stepping.subscripted(getter(view, context), index(view, context), dialect, position)
            }
        case .subscriptedDefault(let index, let other):
            let index = try compile(index)
            let other = try compile(other)
            return { view, context in
                let found = try Stepping.subscripted(getter(view, context), index(view, context), .format, position)
                return found.isNil ? try other(view, context) : found
            }
        case .slice(let from, let to, let isClosed):
            let from = try compile(from)
            let to = try compile(to)
            return { view, context in
                try Stepping.slice(
                    getter(view, context), from(view, context), to(view, context), isClosed: isClosed, position)
            }
        case .first, .last:
            let isFirst = step == .first
            return { view, context in try Compiler.end(getter(view, context), isFirst, position) }
        case .size:
            return { view, context in
                let value = try getter(view, context)
                if value.isNil { return .int(0) }
                if case .string = value {} else if let count = Stepping.count(value) { return .int(Int64(count)) }
                throw PredicateFailure(.type, "\(FormatPrinter.shown(value)) has no size", at: position)
            }
        case .collection(let name, let path):
            return { view, context in try Stepping.collection(name, path, of: getter(view, context), position) }
        case .length:
            return { view, context in
                let value = try getter(view, context)
                if value.isNil { return .null }
                guard case .string(let text) = value else {
                    throw PredicateFailure(.type, "\(FormatPrinter.shown(value)) has no length", at: position)
                }
                return .int(Int64(text.utf16.count))
            }
        case .count, .isEmpty:
            let wantsCount = step == .count
            return { view, context in
                let value = try getter(view, context)
                if value.isNil { return .null }
                guard let count = Stepping.count(value) else {
                    throw PredicateFailure(.type, "\(FormatPrinter.shown(value)) has no count", at: position)
                }
                return wantsCount ? .int(Int64(count)) : .bool(count == 0)
            }
        case .unwrapped:
            return { view, context in
                let value = try getter(view, context)
                if value.isNil { throw PredicateFailure(.arithmetic, "a forced unwrap met nil", at: position) }
                return value
            }
        }
    }

    private static func end(
        _ value: Value, _ isFirst: Bool, _ position: SourcePosition
    ) throws(PredicateFailure) -> Value {
        switch value {
        case .null: return .null
        case .array(let elements): return (isFirst ? elements.first : elements.last) ?? .null
        case .string(let text): return (isFirst ? text.first : text.last).map { .string(String($0)) } ?? .null
        default:
            throw PredicateFailure(
                .type, "\(FormatPrinter.shown(value)) has no first or last element", at: position)
        }
    }
}
