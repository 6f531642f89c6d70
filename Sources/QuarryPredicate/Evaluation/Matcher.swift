import Foundation
import QuarryCoding

/// A condition made ready to look at many rows or values. One thread at a time.
///
/// The tree becomes closures once; a comparison of a field with a constant then reads the field's bytes where they lie.
package final class Matcher {
    private let test: Test
    private let context: EvaluationContext

    /// - Parameters:
    ///   - now: What `now()` means for every row.
    ///   - decode: Makes an object of a row for parts that only Foundation can evaluate.
    /// - Throws: `PredicateFailure.pattern` for constants that are no regular expressions.
    package init(
        _ condition: Condition, registry: ShapeRegistry, now: Date,
        decode: ((UnsafeRawBufferPointer) throws -> Any)? = nil
    ) throws {
        context = EvaluationContext(registry: registry, now: now, decode: decode)
        var compiler = Compiler()
        test = try compiler.compile(condition)
        context.elements = Array(repeating: .null, count: compiler.elementCount)
    }

    /// Values of the `$variables`.
    package var variables: [String: Value] {
        get { context.variables }
        set { context.variables = newValue }
    }

    /// Whether a stored row passes.
    ///
    /// - Throws: `PredicateFailure` when an operation in the condition fails on this row; `CodingFailure` for a damaged
    ///   row; what the object's own `init(from:)` throws.
    package func matches(row: UnsafeRawBufferPointer) throws -> Bool {
        context.row = row
        context.object = nil
        return try test(RowView(row, context.registry), context)
    }

    /// Whether a value passes; `object` is what native parts see.
    package func matches(value: Value, object: Any? = nil) throws -> Bool {
        context.root = value
        context.object = object
        defer { context.root = .null }
        return try test(nil, context)
    }
}

/// A compiled condition. The view is nil while a value is looked at instead of a row.
typealias Test = (RowView?, EvaluationContext) throws -> Bool
/// A compiled operand.
typealias Getter = (RowView?, EvaluationContext) throws -> Value

/// What a condition looks at.
final class EvaluationContext {
    let registry: ShapeRegistry
    let now: Date
    private let decode: ((UnsafeRawBufferPointer) throws -> Any)?
    var row = UnsafeRawBufferPointer(start: nil, count: 0)
    var root = Value.null
    var object: Any?
    var variables: [String: Value] = [:]
    /// The bound elements, by the places that the compiler gave them.
    var elements: [Value] = []

    init(registry: ShapeRegistry, now: Date, decode: ((UnsafeRawBufferPointer) throws -> Any)?) {
        self.registry = registry
        self.now = now
        self.decode = decode
    }

    /// The row as an object, decoded once.
    func decoded() throws -> Any {
        if let object { return object }
        guard let decode else {
            throw PredicateFailure(
                .unsupported, "a part of this predicate runs on Swift objects only, and here are records")
        }
        let made = try decode(row)
        object = made
        return made
    }
}

/// A stored field, with its slot found once a shape.
final class FieldReference {
    let path: [String]
    private let name: String?
    private var shape: UnsafeRawPointer?
    private var slot: Slot?

    init(_ path: [String]) {
        self.path = path
        name = path.count == 1 ? path[0] : nil
    }

    /// Whether it is a field of the row itself, which `slot(in:)` finds.
    var isDirect: Bool { name != nil }

    @inline(__always)
    func slot(in view: RowView) -> Slot? {
        let identity = view.shapeIdentity
        if _fastPath(identity == shape) { return slot }
        return find(in: view)
    }

    @inline(never)
    private func find(in view: RowView) -> Slot? {
        slot = name.flatMap { view.shape.slot(named: $0) }
        shape = view.shapeIdentity
        return slot
    }

    func value(_ view: RowView?, _ context: EvaluationContext) throws -> Value {
        guard let view else { return Stepping.fields(path, of: context.root) }
        if isDirect { return try slot(in: view).map { try view.value($0) } ?? .null }
        return try view.value(of: path)
    }
}

extension Stepping {
    /// Fields through objects alone; the binder has made steps of the rest.
    static func fields(_ path: [String], of value: Value) -> Value {
        path.reduce(value) { value, name in
            if case .object(let fields) = value { fields[name] ?? .null } else { key(name, of: value) }
        }
    }
}
