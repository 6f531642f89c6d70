import Foundation
import QuarryCoding
import QuarryPredicate

/// A condition on the values of one field, which an index or the id may answer.
struct FieldCondition: Sendable {
    var path: [String]
    /// Some element of the collection satisfies it, rather than the field itself.
    var isEach: Bool
    var test: FieldTest
}

/// What is asked of the field's value. Never throws for a value of the field's type.
indirect enum FieldTest: Sendable {
    case compare(Relation, Operand, TextOptions, Dialect)
    case all([FieldTest])
    case any([FieldTest])
    case not(FieldTest)

    /// How many values satisfy it, before they are known.
    enum Shape: Sendable {
        case points(Int)
        case bounded, halfOpen, open
    }

    var shape: Shape {
        switch self {
        case .compare(let relation, let operand, _, _):
            switch relation {
            case .equal: return .points(1)
            case .isIn:
                if case .list(let items) = operand { return .points(items.count) }
                if case .constant(let constant) = operand { return .points(constant.value.elements?.count ?? 4) }
                return .points(4)
            case .between, .beginsWith, .like: return .bounded
            case .less, .lessOrEqual, .greater, .greaterOrEqual: return .halfOpen
            default: return .open
            }
        case .all(let tests):
            var ends = 0
            for test in tests {
                switch test.shape {
                case .points(let count): return .points(count)
                case .bounded: ends += 2
                case .halfOpen: ends += 1
                case .open: break
                }
            }
            return ends > 1 ? .bounded : ends == 1 ? .halfOpen : .open
        case .any(let tests):
            var count = 0
            for test in tests {
                switch test.shape {
                case .points(let points): count += points
                case .bounded: count += 1 << 20
                case .halfOpen, .open: return .open
                }
            }
            return count >= 1 << 20 ? .bounded : .points(count)
        case .not: return .open
        }
    }

    var hasVariables: Bool {
        switch self {
        case .compare(_, let operand, _, _): operand.hasVariables
        case .all(let tests), .any(let tests): tests.contains(where: \.hasVariables)
        case .not(let test): test.hasVariables
        }
    }
}

extension Operand {
    /// A constant, a variable, or a list of them: known before any row is read.
    var isKnown: Bool {
        switch self {
        case .constant, .variable: true
        case .list(let items): items.allSatisfy(\.isKnown)
        default: false
        }
    }

    var hasVariables: Bool {
        switch self {
        case .variable: true
        case .list(let items): items.contains(where: \.hasVariables)
        default: false
        }
    }

    /// Its value; nil while a variable is not bound, or when it depends on the row.
    func known(_ variables: [String: Value]) -> Value? {
        switch self {
        case .constant(let constant): return constant.value
        case .variable(let name, _): return variables[name]
        case .list(let items):
            var values: [Value] = []
            values.reserveCapacity(items.count)
            for item in items {
                guard let value = item.known(variables) else { return nil }
                values.append(value)
            }
            return .array(values)
        default: return nil
        }
    }
}

extension Value {
    /// The elements of a list or set.
    var elements: [Value]? {
        switch self {
        case .array(let values), .set(let values): values
        default: nil
        }
    }

    var isNull: Bool { if case .null = self { true } else { false } }
}

extension Condition {
    /// What this says about one field alone; nil when it is more than that, or may throw.
    func fieldCondition(_ fields: FieldCatalog) -> FieldCondition? {
        switch self {
        case .compare(let comparison):
            return comparison.fieldCondition(fields, isEach: false)
        case .quantified(.any, let comparison):
            return comparison.fieldCondition(fields, isEach: true)
        case .truth(let operand):
            guard let path = operand.path(fields), fields.info(path)?.type == .bool else { return nil }
            let yes = Operand.constant(Constant(.bool(true)))
            return FieldCondition(path: path, isEach: false, test: .compare(.equal, yes, [], .swift))
        case .not(let inner):
            guard let part = inner.fieldCondition(fields), !part.isEach else { return nil }
            return FieldCondition(path: part.path, isEach: false, test: .not(part.test))
        case .any(let parts):
            return Condition.merge(parts, fields) { .any($0) }
        case .all(let parts):
            guard let merged = Condition.merge(parts, fields, { .all($0) }), !merged.isEach else { return nil }
            return merged
        case .elements(.any, of: let collection, let variable, satisfy: let condition):
            guard let path = collection.path(fields), fields.isCollection(path),
                let test = condition.elementTest(variable)
            else { return nil }
            return FieldCondition(path: path, isEach: true, test: test)
        default: return nil
        }
    }

    private static func merge(
        _ parts: [Condition], _ fields: FieldCatalog, _ join: ([FieldTest]) -> FieldTest
    ) -> FieldCondition? {
        guard let first = parts.first?.fieldCondition(fields) else { return nil }
        var tests = [first.test]
        tests.reserveCapacity(parts.count)
        for part in parts.dropFirst() {
            guard let next = part.fieldCondition(fields), next.path == first.path, next.isEach == first.isEach else {
                return nil
            }
            tests.append(next.test)
        }
        return FieldCondition(path: first.path, isEach: first.isEach, test: join(tests))
    }

    /// What this says about a collection's element alone.
    private func elementTest(_ variable: ElementVariable) -> FieldTest? {
        func tests(_ parts: [Condition]) -> [FieldTest]? {
            var result: [FieldTest] = []
            for part in parts {
                guard let test = part.elementTest(variable) else { return nil }
                result.append(test)
            }
            return result.isEmpty ? nil : result
        }
        switch self {
        case .compare(let comparison): return comparison.test { $0 == .element(variable) }
        case .all(let parts): return tests(parts).map { .all($0) }
        case .any(let parts): return tests(parts).map { .any($0) }
        case .not(let part): return part.elementTest(variable).map { .not($0) }
        default: return nil
        }
    }
}

extension FieldCatalog {
    func isCollection(_ path: [String]) -> Bool {
        switch info(path)?.type {
        case .array, .set: true
        default: false
        }
    }
}

extension Operand {
    /// The stored field that this reads, reached through objects only.
    func path(_ fields: FieldCatalog) -> [String]? {
        switch self {
        case .field(let path): return path.steps.isEmpty ? nil : path.steps
        case .step(let base, .key(let key), _):
            guard let path = base.path(fields), fields.info(path)?.type == .object else { return nil }
            return path + [key]
        default: return nil
        }
    }
}

extension Comparison {
    func fieldCondition(_ fields: FieldCatalog, isEach: Bool) -> FieldCondition? {
        // ANY compares each element; without it a collection on the left has no index.
        if let path = left.path(fields) {
            if isEach {
                guard fields.isCollection(path), let test = test({ $0 == left }) else { return nil }
                return FieldCondition(path: path, isEach: true, test: test)
            }
            if relation == .contains, fields.isCollection(path), right.isKnown {
                return FieldCondition(
                    path: path, isEach: true, test: .compare(.isIn, .list([right]), options, dialect))
            }
            guard !fields.isCollection(path), let test = test({ $0 == left }) else { return nil }
            return FieldCondition(path: path, isEach: false, test: test)
        }
        guard !isEach, let path = right.path(fields), left.isKnown else { return nil }
        if relation == .isIn, fields.isCollection(path) {
            return FieldCondition(
                path: path, isEach: true, test: .compare(.isIn, .list([left]), options, dialect))
        }
        guard !fields.isCollection(path), let test = test({ $0 == right }) else { return nil }
        return FieldCondition(path: path, isEach: false, test: test)
    }

    /// The comparison as a test of `subject`, which stands on one of its sides.
    func test(_ isSubject: (Operand) -> Bool) -> FieldTest? {
        if isSubject(left), right.isKnown {
            switch relation {
            case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .beginsWith, .like, .isIn:
                return .compare(relation, right, options, dialect)
            case .notEqual: return .not(.compare(.equal, right, options, dialect))
            case .contains, .endsWith, .matches: return nil
            }
        }
        if isSubject(right), left.isKnown {
            switch relation {
            case .equal: return .compare(.equal, left, options, dialect)
            case .notEqual: return .not(.compare(.equal, left, options, dialect))
            case .less: return .compare(.greater, left, options, dialect)
            case .lessOrEqual: return .compare(.greaterOrEqual, left, options, dialect)
            case .greater: return .compare(.less, left, options, dialect)
            case .greaterOrEqual: return .compare(.lessOrEqual, left, options, dialect)
            // {1, 2} CONTAINS x is x IN {1, 2}.
            case .contains: return .compare(.isIn, left, options, dialect)
            default: return nil
            }
        }
        return nil
    }
}

extension FieldTest {
    /// Whether the column can answer the test once its variables are bound, and if so whether exactly.
    func answer(in column: KeyColumn) -> KeyRanges? {
        hasVariables ? sampled(column.sample).ranges(in: column, [:]) : ranges(in: column, [:])
    }

    /// The test with some value of the column's type for each variable.
    private func sampled(_ sample: Value) -> FieldTest {
        switch self {
        case .compare(let relation, let operand, let options, let dialect):
            let constant: Operand
            if case .variable = operand, relation == .isIn || relation == .between {
                constant = .constant(Constant(.array([sample, sample])))
            } else {
                constant = operand.sampled(sample)
            }
            return .compare(relation, constant, options, dialect)
        case .all(let tests): return .all(tests.map { $0.sampled(sample) })
        case .any(let tests): return .any(tests.map { $0.sampled(sample) })
        case .not(let test): return .not(test.sampled(sample))
        }
    }

    /// The one value that the field must equal.
    var equated: (operand: Operand, options: TextOptions)? {
        switch self {
        case .compare(.equal, let operand, let options, _): (operand, options)
        case .all(let tests): tests.lazy.compactMap(\.equated).first
        default: nil
        }
    }
}

extension Operand {
    fileprivate func sampled(_ sample: Value) -> Operand {
        switch self {
        case .variable: .constant(Constant(sample))
        case .list(let items): .list(items.map { $0.sampled(sample) })
        default: self
        }
    }
}

extension KeyColumn {
    /// Some value of the column's type.
    var sample: Value {
        switch type {
        case .bool: .bool(true)
        case .int: .int(1)
        case .uint: .uint(1)
        case .double: .double(1)
        case .decimal: .decimal(1)
        case .date: .date(Date(timeIntervalSinceReferenceDate: 0))
        case .data: .data(Data([1]))
        case .uuid: .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case .string, .any: .string("a")
        case .array, .set, .object: .null
        }
    }
}
