import Foundation
import QuarryCoding
import QuarryPredicate

/// Plans of one type that serve more than one run. Dropped when the type's tables change.
final class PlanCache: Sendable {
    enum Key: Hashable, Sendable {
        case lookup(SendableKeyPath, Relation, limit: Int?)
    }

    private struct State {
        var plans: [Key: Plan] = [:]
    }
    private let state = Locked(State())

    func plan(_ key: Key, table: EntityTable, make: () throws -> Plan) throws -> Plan {
        if let known = state.withLock({ $0.plans[key] }), known.table === table { return known }
        let plan = try make()
        state.withLock { $0.plans[key] = plan }
        return plan
    }
}

extension TransactionCore {
    /// The variable that stands for the value of a lookup.
    private static let lookupVariable = "value"

    private func execution<E: Entity>(
        _ state: TypeState<E>, _ path: AnyKeyPath, _ relation: Relation, _ value: any Sendable, limit: Int?
    ) throws -> Execution {
        let plan = try state.binding.plans.plan(
            .lookup(SendableKeyPath(path), relation, limit: limit), table: state.table
        ) {
            guard let steps = tracedPath(of: path) else {
                throw QuarryError.unmappedKeyPath(
                    entity: state.binding.name, keyPath: "\(path)", reason: "only stored fields can be looked up")
            }
            var right = Operand.variable(Self.lookupVariable, .none)
            if relation == .between { right = .list([.variable("lower", .none), .variable("upper", .none)]) }
            let condition = Condition.compare(
                Comparison(.field(FieldPath(steps)), relation, right, dialect: .swift))
            let specification = QuerySpecification(
                condition: try bind(condition, to: state.table.fields), sort: [], offset: 0, limit: limit, after: nil)
            return try Plan.makePlan(specification, table: state.table, core: self)
        }
        var variables: [String: Value] = [:]
        let value = try QuarryPredicate.value(fromArgument: value)
        if relation == .between, case .array(let bounds) = value, bounds.count == 2 {
            variables = ["lower": bounds[0], "upper": bounds[1]]
        } else {
            variables[Self.lookupVariable] = value
        }
        return try execution(plan, state, variables: variables)
    }

    func lookup<E: Entity>(
        _ type: E.Type, _ path: AnyKeyPath, _ relation: Relation, _ value: any Sendable, limit: Int? = nil
    ) throws -> [E] {
        let state = try state(type)
        var result: [E] = []
        let execution = try described(state.table) { try self.execution(state, path, relation, value, limit: limit) }
        try run(execution, type) {
            result.append($0)
            return true
        }
        return result
    }

    func lookupCount<E: Entity>(
        _ type: E.Type, _ path: AnyKeyPath, _ relation: Relation, _ value: any Sendable
    ) throws -> Int {
        let state = try state(type)
        return try described(state.table) { try execution(state, path, relation, value, limit: nil).count() }
    }

    func lookupExists<E: Entity>(
        _ type: E.Type, _ path: AnyKeyPath, _ relation: Relation, _ value: any Sendable
    ) throws -> Bool {
        let state = try state(type)
        return try described(state.table) { try execution(state, path, relation, value, limit: 1).exists() }
    }
}
