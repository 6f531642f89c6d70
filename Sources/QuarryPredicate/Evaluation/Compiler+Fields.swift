import Foundation
import QuarryCoding

extension Compiler {
    /// A field of the row against a constant, compared where its bytes lie; nil for comparisons of other kinds.
    ///
    /// Where a row holds the field in another packing than the constant's, the general comparison decides.
    func fastTest(_ comparison: Comparison) throws(PredicateFailure) -> Test? {
        guard case .field(let path) = comparison.left, path.steps.count == 1,
            case .constant(let constant) = comparison.right
        else {
            guard case .field(let path) = comparison.right, path.steps.count == 1,
                case .constant = comparison.left, let flipped = comparison.relation.flipped
            else { return nil }
            var mirrored = comparison
            (mirrored.left, mirrored.right) = (comparison.right, comparison.left)
            mirrored.relation = flipped
            return try fastTest(mirrored)
        }
        let field = FieldReference(path.steps)
        let relate = try relation(comparison)
        let value = constant.value
        let general: (RowView?, EvaluationContext) throws -> Bool = { view, context in
            try relate(field.value(view, context), value)
        }
        switch comparison.relation {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            return ordered(field, comparison, value, general)
        case .isIn: return membership(field, comparison, value, general)
        case .contains, .beginsWith, .endsWith: return part(field, comparison, value, general)
        case .between:
            guard case .array(let ends) = value, ends.count == 2, !ends[0].isNil, !ends[1].isNil else { return nil }
            var low = comparison
            low.relation = .greaterOrEqual
            var high = comparison
            high.relation = .lessOrEqual
            guard let from = ordered(field, low, ends[0], nil), let to = ordered(field, high, ends[1], nil) else {
                return general
            }
            return { view, context in
                guard view != nil else { return try general(view, context) }
                return try from(view, context) && to(view, context)
            }
        case .like, .matches: return general
        }
    }

    /// The six comparisons. Without `general`, the relation itself compares values that are packed otherwise.
    private func ordered(
        _ field: FieldReference, _ comparison: Comparison, _ value: Value,
        _ general: Test?
    ) -> Test? {
        let relation = comparison.relation
        let options = comparison.options
        let position = comparison.position
        let whenNil = relation == .notEqual
        let general: Test =
            general ?? { view, context in
                try Comparing.holds(relation, field.value(view, context), value, options, at: position)
            }
        switch value {
        case .null:
            let holdsForNil = relation != .notEqual && relation != .less && relation != .greater
            let holdsForOthers = relation == .notEqual
            return { view, context in
                guard let view else { return try general(view, context) }
                guard let slot = field.slot(in: view), view.isPresent(slot) else { return holdsForNil }
                return slot.packing == .any ? try general(view, context) : holdsForOthers
            }
        case .int(let number):
            return { view, context in
                guard let view else { return try general(view, context) }
                guard let slot = field.slot(in: view) else { return whenNil }
                switch slot.packing {
                case .int8, .int16, .int32, .int64:
                    guard let found = view.int(slot) else { return whenNil }
                    return relation.compare(found, number)
                default: return try general(view, context)
                }
            }
        case .double(let number):
            return { view, context in
                guard let view else { return try general(view, context) }
                guard let slot = field.slot(in: view) else { return whenNil }
                guard slot.packing == .double || slot.packing == .float else { return try general(view, context) }
                guard let found = view.double(slot) else { return whenNil }
                return relation.compare(found, number)
            }
        case .date(let date):
            let number = date.timeIntervalSinceReferenceDate
            return { view, context in
                guard let view else { return try general(view, context) }
                guard let slot = field.slot(in: view) else { return whenNil }
                guard slot.packing == .date else { return try general(view, context) }
                guard let found = view.date(slot) else { return whenNil }
                return relation.compare(found, number)
            }
        case .bool(let flag):
            let number = flag ? 1 : 0
            return { view, context in
                guard let view else { return try general(view, context) }
                guard let slot = field.slot(in: view) else { return whenNil }
                guard slot.packing == .bool else { return try general(view, context) }
                guard let found = view.bool(slot) else { return whenNil }
                return relation.compare(found ? 1 : 0, number)
            }
        case .string(let text): return texts(field, comparison, text, general)
        default: return general
        }
    }

    private func texts(
        _ field: FieldReference, _ comparison: Comparison, _ constant: String, _ general: @escaping Test
    ) -> Test {
        let relation = comparison.relation
        let isFolding =
            !comparison.options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
            && !comparison.options.contains(.normalized)
        let isLiteral = comparison.options.contains(.normalized)
        let options = comparison.options
        let whenNil = relation == .notEqual
        let text = TextBytes(Comparing.form(constant, options))
        return { view, context in
            guard let view else { return try general(view, context) }
            guard let slot = field.slot(in: view) else { return whenNil }
            guard slot.packing == .string else { return try general(view, context) }
            guard let (bytes, isPlain) = try view.bytes(slot) else { return whenNil }
            if isPlain || isLiteral || TextFolding.isSurelyComposed(bytes) {
                if !isFolding { return relation.holds(Comparing.bytes(bytes, text.buffer)) }
                if isPlain, options.contains(.caseInsensitive) {
                    return relation.holds(Comparing.lowercased(bytes, text.buffer))
                }
                if isPlain { return relation.holds(Comparing.bytes(bytes, text.buffer)) }
            }
            let form = Comparing.form(String(decoding: bytes, as: UTF8.self), options)
            return relation.holds(text.order(of: form))
        }
    }

    private func part(
        _ field: FieldReference, _ comparison: Comparison, _ value: Value, _ general: @escaping Test
    ) -> Test {
        guard case .string(let constant) = value, !constant.isEmpty,
            comparison.options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
                || comparison.options.contains(.normalized)
        else { return general }
        let relation = comparison.relation
        let text = TextBytes(Comparing.form(constant, comparison.options))
        guard text.isPlain else { return general }
        return { view, context in
            guard let view else { return try general(view, context) }
            guard let slot = field.slot(in: view) else { return false }
            guard slot.packing == .string else { return try general(view, context) }
            guard let (bytes, isPlain) = try view.bytes(slot) else { return false }
            guard isPlain else { return try general(view, context) }
            let needle = text.buffer
            guard bytes.count >= needle.count else { return false }
            switch relation {
            case .contains: return TextMatching.contains(plain: bytes, needle)
            case .beginsWith:
                return Comparing.bytes(UnsafeRawBufferPointer(rebasing: bytes[..<needle.count]), needle) == 0
            default:
                return Comparing.bytes(
                    UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - needle.count)...]), needle) == 0
            }
        }
    }

    private func membership(
        _ field: FieldReference, _ comparison: Comparison, _ value: Value, _ general: @escaping Test
    ) -> Test {
        guard let elements = value.arrayValue else { return general }
        let options = comparison.options
        let hasNil = comparison.dialect == .swift && elements.contains(where: \.isNil)
        let integers = Set(
            elements.compactMap { value -> Int64? in if case .int(let number) = value { number } else { nil } })
        if integers.count > 0, elements.allSatisfy({ if case .int = $0 { true } else { $0.isNil } }) {
            return { view, context in
                guard let view else { return try general(view, context) }
                guard let slot = field.slot(in: view), view.isPresent(slot) else { return hasNil }
                switch slot.packing {
                case .int8, .int16, .int32, .int64:
                    guard let found = view.int(slot) else { return hasNil }
                    return integers.contains(found)
                default: return try general(view, context)
                }
            }
        }
        guard !options.contains(.normalized), elements.count >= 4 else { return general }
        // Equal values have one normal form: text folded, numbers of one value one kind.
        func form(_ value: Value) -> Value {
            if case .string(let text) = value { return .string(Comparing.form(text, options)) }
            return value.normalized
        }
        guard elements.allSatisfy(\.isHashedByValue) else { return general }
        let known = Set(elements.filter { !$0.isNil }.map(form))
        return { view, context in
            let found = try field.value(view, context)
            if found.isNil { return hasNil }
            // What is not equal to itself is in no list.
            if found.isHashedByValue { return known.contains(form(found)) }
            return try general(view, context)
        }
    }
}

/// The bytes of a constant text, at an address that stays.
final class TextBytes {
    let buffer: UnsafeRawBufferPointer
    let isPlain: Bool

    init(_ text: String) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(text.utf8.count, 1), alignment: 1)
        copy.copyBytes(from: text.utf8)
        buffer = UnsafeRawBufferPointer(rebasing: copy[..<text.utf8.count])
        isPlain = TextFolding.isPlain(buffer)
    }

    deinit { buffer.deallocate() }

    func order(of text: String) -> Int {
        var text = text
        return text.withUTF8 { Comparing.bytes(UnsafeRawBufferPointer($0), buffer) }
    }
}

extension Comparing {
    /// ASCII bytes, made lower case on the way, against text that is folded already.
    static func lowercased(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let common = min(a.count, b.count)
        for i in 0..<common {
            let byte = a[i]
            let low = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
            if low != b[i] { return Int(low) - Int(b[i]) }
        }
        return a.count - b.count
    }
}

extension Relation {
    /// The relation seen from the other side; nil where there is none.
    var flipped: Relation? {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        default: nil
        }
    }

    @inline(__always)
    func compare<T: Comparable>(_ a: T, _ b: T) -> Bool {
        switch self {
        case .equal: a == b
        case .notEqual: a != b
        case .less: a < b
        case .lessOrEqual: a <= b
        case .greater: a > b
        case .greaterOrEqual: a >= b
        default: false
        }
    }
}

extension Value {
    /// Whether equality in a hash table is equality of predicates, once the value is in its normal form.
    var isHashedByValue: Bool {
        switch self {
        case .null, .bool, .int, .uint, .string, .data, .uuid: true
        case .double(let number): !number.isNaN
        case .date(let date): !date.timeIntervalSinceReferenceDate.isNaN
        case .decimal, .array, .set, .object: false
        }
    }
}
