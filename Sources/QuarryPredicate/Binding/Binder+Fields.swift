import QuarryCoding

extension Binder {
    /// A path of keys from the row: fields, then what can be reached inside them.
    mutating func bind(_ path: FieldPath) throws(PredicateFailure) -> (Operand, Known) {
        var fields: [FieldInfo]? = catalog.fields
        var isOpen = catalog.isOpen
        var known = Known(.object, fields: catalog.fields)
        for (i, step) in path.steps.enumerated() {
            let name = path.steps[...i].joined(separator: ".")
            if let info = fields?.first(where: { $0.name == step }) {
                known = Known(info, name: name)
                fields = known.fields
                // A dictionary's keys are its own.
                isOpen = catalog.isOpen || (info.type == .object && (info.fields ?? []).isEmpty) || info.type == .any
                if info.type == .array || info.type == .set || (info.type != .object && info.type != .any) {
                    return try bind(through: path, at: i, known)
                }
                continue
            }
            // `name.length`, where no field is called so.
            if step == "length", i == path.steps.count - 1, i > 0 {
                let base = Operand.field(FieldPath(Array(path.steps[..<i]), position: path.position))
                return (.step(base, .key("length"), path.position), .unknown)
            }
            guard isOpen else { throw unknown(step, name, fields ?? [], path.position) }
            // Nothing is known from here on; values decide.
            if i > 0 || path.steps.count > 1 {
                let base = Operand.field(FieldPath(Array(path.steps[...i]), position: path.position))
                return (path.steps[(i + 1)...].reduce(base) { .step($0, .key($1), path.position) }, .unknown)
            }
            return (.field(path), .unknown)
        }
        return (.field(path), known)
    }

    /// The keys behind a field that is no object: those of a collection's elements, or a text's length.
    private mutating func bind(
        through path: FieldPath, at i: Int, _ known: Known
    ) throws(PredicateFailure) -> (Operand, Known) {
        var operand = Operand.field(FieldPath(Array(path.steps[...i]), position: path.position))
        var known = known
        for step in path.steps[(i + 1)...] { (operand, known) = try bind(operand, known, .key(step), path.position) }
        return (operand, known)
    }

    /// A step from an operand that has been bound.
    mutating func bind(
        _ base: Operand, _ known: Known, _ step: Step, _ position: SourcePosition
    ) throws(PredicateFailure) -> (Operand, Known) {
        switch step {
        case .key(let name): return try key(base, known, name, position)
        case .subscripted(let index, let dialect):
            let (bound, _) = try bind(index)
            // A key of an object is a field of it.
            if known.type == .object, case .constant(let constant) = bound, case .string(let name) = constant.value {
                let info = known.fields?.first { $0.name == name }
                return (
                    .step(base, .subscripted(bound, dialect: dialect), position),
                    info.map { Known($0, name: name) } ?? .unknown
                )
            }
            return (.step(base, .subscripted(bound, dialect: dialect), position), known.inside)
        case .subscriptedDefault(let index, let other):
            return (.step(base, .subscriptedDefault(try bind(index).0, try bind(other).0), position), .unknown)
        case .slice(let from, let to, let isClosed):
            return (.step(base, .slice(try bind(from).0, try bind(to).0, closed: isClosed), position), known)
        case .first, .last:
            if known.type == .set {
                throw PredicateFailure(
                    .type, "\(known.name ?? "it") is a set, which has no first or last element", at: position)
            }
            return (.step(base, step, position), known.inside)
        case .size, .length, .count: return (.step(base, step, position), Known(.int))
        case .isEmpty: return (.step(base, step, position), Known(.bool))
        case .unwrapped: return (.step(base, step, position), known)
        case .collection(let name, let path):
            if known.isCollection == false {
                throw PredicateFailure(
                    .type, "@\(name.rawValue) works on collections; \(describe(known, base)) is none", at: position)
            }
            if let fields = known.fields, !fields.isEmpty, let first = path.first, !catalog.isOpen,
                !fields.contains(where: { $0.name == first })
            {
                throw unknown(first, "@\(name.rawValue).\(first)", fields, position)
            }
            switch name {
            case .count: return (.step(base, step, position), Known(.int))
            case .sum, .avg, .min, .max: return (.step(base, step, position), .unknown)
            default: return (.step(base, step, position), Known(.array))
            }
        }
    }

    private func key(
        _ base: Operand, _ known: Known, _ name: String, _ position: SourcePosition
    ) throws(PredicateFailure) -> (Operand, Known) {
        let stepped = Operand.step(base, .key(name), position)
        switch known.type {
        case nil: return (stepped, .unknown)
        case .string where name == "length": return (.step(base, .length, position), Known(.int))
        case .object:
            guard let fields = known.fields, !fields.isEmpty else { return (stepped, .unknown) }
            guard let info = fields.first(where: { $0.name == name }) else {
                if catalog.isOpen { return (stepped, .unknown) }
                throw unknown(name, name, fields, position)
            }
            return (stepped, Known(info, name: name))
        case .array, .set:
            guard let fields = known.fields, !fields.isEmpty, known.element == .object || known.element == nil else {
                if name == "length", known.element == .string { return (stepped, Known(.array, element: .int)) }
                if let element = known.element, element != .object {
                    throw PredicateFailure(
                        .unknownField,
                        "the elements of \(known.name ?? "the collection") are \(element.rawValue), and have no \(name)",
                        at: position)
                }
                return (stepped, Known(.array))
            }
            guard let info = fields.first(where: { $0.name == name }) else {
                if catalog.isOpen { return (stepped, Known(.array)) }
                throw unknown(name, name, fields, position)
            }
            // Mapped over the elements, and flattened.
            let isNested = info.type == .array || info.type == .set
            return (
                stepped,
                Known(
                    .array, element: isNested ? info.element : info.type,
                    fields: isNested ? info.elementFields : info.fields, name: known.name.map { "\($0).\(name)" })
            )
        case let type?:
            throw PredicateFailure(
                .unknownField, "\(known.name ?? "the value") is a \(type.rawValue), and has no \(name)", at: position)
        }
    }

    func unknown(_ step: String, _ name: String, _ fields: [FieldInfo], _ position: SourcePosition) -> PredicateFailure
    {
        let names = fields.map(\.name)
        var message = "\(catalog.entity) has no field \(name)"
        if let near = EditDistance.nearest(to: step, in: names) { message += "; did you mean `\(near)`?" }
        if !names.isEmpty { message += " It has \(names.joined(separator: ", "))." }
        return PredicateFailure(.unknownField, message, at: position)
    }
}

/// Finds the name that somebody may have meant.
package enum EditDistance {
    package static func nearest(to name: String, in names: [String]) -> String? {
        let wanted = Array(name.lowercased())
        var best: (name: String, distance: Int)?
        for candidate in names {
            let distance = distance(wanted, Array(candidate.lowercased()))
            if distance <= max(1, wanted.count / 3), distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let next = min(row[j + 1] + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[b.count]
    }
}
