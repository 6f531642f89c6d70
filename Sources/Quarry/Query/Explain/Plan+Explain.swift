import QuarryCoding
import QuarryLMDB
import QuarryPredicate

extension Plan {
    /// The plan for people, without running it.
    package func explain(core: TransactionCore) throws -> QueryPlan { queryPlan(strategy, nil) }

    /// The plan with the rows that each step really gave: runs the query to its end and drops the result.
    package func analyze(
        core: TransactionCore, variables: [String: Value] = [:],
        decode: ((UnsafeRawBufferPointer) throws -> Any)? = nil
    ) throws -> QueryPlan {
        let execution = try Execution(self, core: core, variables: variables, decode: decode)
        try execution.forEachRow(Self.pass)
        return queryPlan(execution.counters.fellBack ? fallback : strategy, execution.counters)
    }

    private static func pass(_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) -> Bool { true }

    private func queryPlan(_ strategy: Strategy, _ counters: Execution.Counters?) -> QueryPlan {
        var words: [String] = []
        var step: QueryPlan.Step
        switch strategy.source {
        case .access(let access):
            step = self.step(access, isReversed: isByID && order.idsDescending)
        case .walk(let walk):
            step = walk.step(limit: strategy.reads)
        }
        step.actualRows = counters.map { max($0.rows, step.kind == .scan ? 0 : $0.entries) }
        words.append(step.word)
        if let residual = strategy.residual {
            words.append("filter")
            step = QueryPlan.Step(.filter, "filter \(residual.text)", estimated: matches, [step])
            step.actualRows = counters?.matches
        }
        let needed = limit.map { Double(offset) + Double($0) }
        if !strategy.isOrdered {
            let terms = order.text
            let keeps = needed.map { $0 <= Double(Planner.topLimit) } ?? false
            let count = needed.map { min($0, matches) } ?? matches
            words.append(keeps ? "top \(Int(needed ?? 0)) by \(terms)" : "sort by \(terms)")
            let title = "sort by \(terms)" + (keeps ? ", keeps \(Int(needed ?? 0))" : "")
            step = QueryPlan.Step(.sort, title, estimated: count, [step])
            step.actualRows = counters?.matches
        }
        if offset > 0 || limit != nil || specification.after != nil {
            var parts: [String] = []
            if specification.after != nil { parts.append("after a page token") }
            if offset > 0 { parts.append("offset \(offset)") }
            if let limit { parts.append("limit \(limit)") }
            let title = parts.joined(separator: ", ")
            words.append(title)
            let left = max(0, min(matches - Double(offset), limit.map(Double.init) ?? .infinity))
            step = QueryPlan.Step(.page, title, estimated: left, [step])
        }
        if let counters { step.actualRows = counters.results }
        return QueryPlan(entity: table.name, summary: words.joined(separator: ", "), root: step)
    }

    private func step(_ access: Access, isReversed: Bool) -> QueryPlan.Step {
        switch access {
        case .nothing: return QueryPlan.Step(.nothing, "nothing: no value can match", estimated: 0)
        case .everything:
            return QueryPlan.Step(
                .scan, isReversed ? "scan in descending id order" : "scan in id order", estimated: rows)
        case .primary(let access):
            let text = access.test.condition(access.path, isEach: false).text
            return QueryPlan.Step(.id, "id: \(text)", estimated: access.estimate)
        case .index(let access):
            return QueryPlan.Step(
                .index, "index \(access.index.definition.name): \(access.text)", index: access.index.definition.name,
                estimated: access.estimate)
        case .union(let parts):
            return QueryPlan.Step(
                .union, "union", estimated: access.estimate, parts.map { step($0, isReversed: false) })
        case .intersection(let parts):
            return QueryPlan.Step(
                .intersection, "intersection", estimated: access.estimate, parts.map { step($0, isReversed: false) })
        }
    }
}

extension QueryPlan.Step {
    /// The step in a word or two.
    fileprivate var word: String {
        switch kind {
        case .index: "index \(index ?? "")" + (title.hasSuffix(" order") ? " in order" : "")
        case .union: "union of " + children.map(\.word).joined(separator: " and ")
        case .intersection: "intersection of " + children.map(\.word).joined(separator: " and ")
        default: kind.rawValue
        }
    }
}

extension IndexWalkPlan {
    fileprivate func step(limit: Double) -> QueryPlan.Step {
        let name = index.definition.name
        let text = access.map { "\($0.text), " } ?? ""
        return QueryPlan.Step(
            .index, "index \(name): \(text)in \(isReversed ? "descending" : "ascending") order", index: name,
            estimated: limit)
    }
}

extension IndexAccess {
    fileprivate var text: String {
        zip(parts, index.definition.components).flatMap { part, component in
            part.tests.map { $0.condition(component.path, isEach: component.isEach).text }
        }.joined(separator: " AND ")
    }
}

extension FieldTest {
    /// The test as a condition on a field, to print it.
    func condition(_ path: [String], isEach: Bool) -> Condition {
        switch self {
        case .compare(let relation, let operand, let options, let dialect):
            let comparison = Comparison(
                .field(FieldPath(path)), relation, operand, options: options, dialect: dialect)
            return isEach ? .quantified(.any, comparison) : .compare(comparison)
        case .all(let tests): return .all(tests.map { $0.condition(path, isEach: isEach) })
        case .any(let tests): return .any(tests.map { $0.condition(path, isEach: isEach) })
        case .not(.compare(.equal, let operand, let options, let dialect)) where !isEach:
            return .compare(
                Comparison(.field(FieldPath(path)), .notEqual, operand, options: options, dialect: dialect))
        case .not(let test): return .not(test.condition(path, isEach: isEach))
        }
    }
}

extension Condition {
    /// Format text, cut where it is too long for a line.
    fileprivate var text: String {
        let text = printFormat(self)
        return text.count <= 240 ? text : text.prefix(239) + "…"
    }
}

extension RequiredOrder {
    var text: String {
        var parts = terms.map { term in
            term.path.joined(separator: ".") + (term.descending ? " descending" : "")
                + (term.nilsLast != term.descending ? (term.nilsLast ? " (nil last)" : " (nil first)") : "")
        }
        if idsDescending { parts.append("id descending") }
        return parts.joined(separator: ", ")
    }
}
