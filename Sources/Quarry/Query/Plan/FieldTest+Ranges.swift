import Foundation
import QuarryCoding
import QuarryPredicate

extension FieldTest {
    /// The key ranges of the column in which the test can hold; nil when the column cannot answer it.
    func ranges(in column: KeyColumn, _ variables: [String: Value]) -> KeyRanges? {
        switch self {
        case .compare(let relation, let operand, let options, let dialect):
            guard let value = operand.known(variables) else { return nil }
            return column.ranges(relation, value, options, dialect)
        case .all(let tests):
            // A test that the column cannot answer only makes the others' answer too large.
            var result: KeyRanges?
            var isPartial = false
            for test in tests {
                guard let found = test.ranges(in: column, variables) else {
                    isPartial = true
                    continue
                }
                result = result?.intersection(found) ?? found
            }
            if isPartial { result?.isExact = false }
            return result
        case .any(let tests):
            var parts: [KeyRanges] = []
            parts.reserveCapacity(tests.count)
            for test in tests {
                guard let part = test.ranges(in: column, variables) else { return nil }
                parts.append(part)
            }
            return KeyRanges.union(parts)
        case .not(let test):
            guard let part = test.ranges(in: column, variables), part.isExact else { return nil }
            return part.complement
        }
    }
}

extension KeyColumn {
    func ranges(_ relation: Relation, _ value: Value, _ options: TextOptions, _ dialect: Dialect) -> KeyRanges? {
        switch relation {
        case .equal:
            return equal(value, options)
        case .isIn:
            guard let elements = value.elements else { return nil }
            var parts: [KeyRanges] = []
            parts.reserveCapacity(elements.count)
            var isExact = true
            for element in elements {
                guard let part = equal(element, options) else { return nil }
                // Whether nil is in a list is for the evaluator to say.
                if element.isNull { isExact = false }
                parts.append(part)
            }
            var result = KeyRanges.union(parts)
            if !isExact { result.isExact = false }
            return result
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            return ordered(relation, value, options)
        case .between:
            guard let bounds = value.elements, bounds.count == 2, !bounds[0].isNull, !bounds[1].isNull,
                let low = ordered(.greaterOrEqual, bounds[0], options),
                let high = ordered(.lessOrEqual, bounds[1], options)
            else { return nil }
            return low.intersection(high)
        case .beginsWith:
            guard case .string(let text) = value else { return nil }
            return prefix(text, options)
        case .like:
            guard case .string(let pattern) = value else { return nil }
            return like(pattern, options)
        case .notEqual, .contains, .endsWith, .matches:
            return nil
        }
    }

    // MARK: Equality

    private func equal(_ value: Value, _ options: TextOptions) -> KeyRanges? {
        if value.isNull { return isPrimary ? .nothing : KeyRanges([KeyRange(point: [KeyTag.null])]) }
        switch type {
        case .int, .uint, .double, .bool, .decimal:
            switch NumberPlace(value, in: type) {
            case .at(let number): return point(number, isExact: type != .decimal)
            case .above, .belowAll, .aboveAll, .nowhere: return .nothing
            case .unknown: return nil
            }
        case .date:
            guard case .date(let date) = value else { return nil }
            return date.timeIntervalSinceReferenceDate.isNaN ? .nothing : point(value)
        case .uuid:
            guard case .uuid = value else { return nil }
            return point(value)
        case .data:
            guard case .data = value else { return nil }
            return point(value)
        case .string:
            guard case .string = value else { return nil }
            // Equal texts are equal folded too, so a folded column finds them among others.
            guard folding == options.folding || options.folding.isEmpty else { return nil }
            return point(value, isExact: folding == options.folding && !options.contains(.normalized))
        case .any: return mixed(value)
        case .array, .set, .object: return nil
        }
    }

    private func point(_ value: Value, isExact: Bool = true) -> KeyRanges? {
        guard let key = key(value) else { return nil }
        return KeyRanges([KeyRange(point: key.bytes)], isExact: isExact && !key.isCut)
    }

    /// A value among values of several types: a number may lie under any of the number tags.
    private func mixed(_ value: Value) -> KeyRanges? {
        guard !isPrimary else { return nil }
        var points: [KeyRange] = []
        func add(_ value: Value?, isMixed: Bool = false) {
            guard let value, let key = key(value, isMixed: isMixed) else { return }
            points.append(KeyRange(point: key.bytes))
        }
        switch value {
        case .string, .data, .uuid, .date:
            add(value)
        case .int, .uint, .double, .decimal, .bool:
            var number = value
            if case .bool(let flag) = value { number = .int(flag ? 1 : 0) }
            for type in [FieldType.int, .uint, .double] {
                if case .at(let same) = NumberPlace(number, in: type) { add(same) }
            }
            add(number, isMixed: true)
            if case .double(let double) = number { add(.decimal(Decimal(double))) } else { add(number.asDecimal) }
            switch NumberPlace(number, in: .int) {
            case .at(.int(0)): add(.bool(false))
            case .at(.int(1)): add(.bool(true))
            default: break
            }
        default: return nil
        }
        return points.isEmpty ? nil : KeyRanges(points, isExact: false)
    }

    // MARK: Order

    private func ordered(_ relation: Relation, _ value: Value, _ options: TextOptions) -> KeyRanges? {
        if value.isNull {
            // nil <= nil holds, as nil = nil does; nothing is less than nil.
            return relation == .lessOrEqual || relation == .greaterOrEqual ? equal(value, options) : .nothing
        }
        switch type {
        case .int, .uint, .double, .bool, .decimal:
            var ranges = number(relation, value)
            if type == .decimal { ranges?.isExact = false }
            return ranges
        case .date:
            guard case .date(let date) = value else { return nil }
            return date.timeIntervalSinceReferenceDate.isNaN ? .nothing : bound(relation, value)
        case .string:
            guard case .string = value, folding == options.folding, !options.contains(.normalized) else { return nil }
            return bound(relation, value)
        case .data:
            guard case .data = value else { return nil }
            return inexact(bound(relation, value))
        case .uuid:
            guard case .uuid = value else { return nil }
            return inexact(bound(relation, value))
        // Values of several types: ordering two kinds is an error that only the row can raise.
        case .any, .array, .set, .object: return nil
        }
    }

    private func inexact(_ ranges: KeyRanges?) -> KeyRanges? {
        var ranges = ranges
        ranges?.isExact = false
        return ranges
    }

    private func number(_ relation: Relation, _ value: Value) -> KeyRanges? {
        let isUpper = relation == .less || relation == .lessOrEqual
        switch NumberPlace(value, in: type) {
        case .at(let same): return bound(relation, same)
        case .above(let next): return bound(isUpper ? .lessOrEqual : .greater, next)
        case .belowAll: return isUpper ? .nothing : KeyRanges([KeyRange(lower: start, upper: end)])
        case .aboveAll: return isUpper ? KeyRanges([KeyRange(lower: start, upper: end)]) : .nothing
        case .nowhere: return .nothing
        case .unknown: return nil
        }
    }

    /// The range on one side of a value of the column's own type.
    private func bound(_ relation: Relation, _ value: Value) -> KeyRanges? {
        guard let key = key(value) else { return nil }
        let isUpper = relation == .less || relation == .lessOrEqual
        if key.isCut {
            // Texts with the same start lie on either side.
            let kept = KeyColumn.kept(of: key.bytes)
            let range =
                isUpper
                ? KeyRange(lower: start, upper: KeyRange.successor(kept + [0xFF])) : KeyRange(lower: kept, upper: end)
            return KeyRanges([range], isExact: false)
        }
        switch relation {
        case .less: return KeyRanges([KeyRange(lower: start, upper: key.bytes)])
        case .lessOrEqual: return KeyRanges([KeyRange(lower: start, upper: KeyRange.successor(key.bytes))])
        case .greaterOrEqual: return KeyRanges([KeyRange(lower: key.bytes, upper: end)])
        default:
            guard let lower = KeyRange.successor(key.bytes) else { return .nothing }
            return KeyRanges([KeyRange(lower: lower, upper: end)])
        }
    }

    // MARK: Prefixes

    /// Texts that begin with `text`. Always checked again: an accent that follows may change the last character.
    private func prefix(_ text: String, _ options: TextOptions) -> KeyRanges? {
        guard type == .string, folding == options.folding, !text.isEmpty else { return nil }
        let budget: Int
        var start: [UInt8] = []
        switch place {
        case .primary: budget = 511
        case .component(_, let limit):
            budget = limit
            start = [KeyTag.of(.string) ?? 0]
        }
        let bytes = start + KeyCoder.prefix(text, options: folding, budget: budget)
        guard bytes.count > start.count else { return nil }
        return KeyRanges([KeyRange(lower: bytes, upper: KeyRange.successor(bytes))], isExact: false)
    }

    /// LIKE: what stands before the first wildcard.
    private func like(_ pattern: String, _ options: TextOptions) -> KeyRanges? {
        var literal = String.UnicodeScalarView()
        var isWhole = true
        var scalars = pattern.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            if scalar == "*" || scalar == "?" {
                isWhole = false
                break
            }
            guard scalar == "\\" else {
                literal.append(scalar)
                continue
            }
            guard let escaped = scalars.next(), escaped == "*" || escaped == "?" || escaped == "\\" else {
                isWhole = false
                break
            }
            literal.append(escaped)
        }
        if !isWhole { return prefix(String(literal), options) }
        return inexact(equal(.string(String(literal)), options))
    }
}

extension Value {
    var asDecimal: Value? {
        switch self {
        case .int(let number): .decimal(Decimal(number))
        case .uint(let number): .decimal(Decimal(number))
        case .decimal: self
        default: nil
        }
    }
}
