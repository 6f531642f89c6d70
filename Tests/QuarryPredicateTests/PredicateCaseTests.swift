import Foundation
import QuarryCoding
import Testing

@testable import QuarryPredicate

/// The case table, in memory and on stored bytes. The store runs the same table with indexes.
@Suite struct PredicateCaseTests {
    enum Way: CaseIterable { case inMemory, onRows }

    @Test func everyCaseMatchesTheRowsItNames() throws {
        let cases = try CaseFile.load()
        #expect(cases.count > 0)
        var failures: [String] = []
        for item in cases {
            for way in Way.allCases {
                do {
                    guard let found = try run(item, way) else { continue }
                    let wanted = item.expected.map { item.isOrdered ? $0 : $0.sorted { "\($0)" < "\($1)" } }
                    let got = item.isOrdered ? found : found.sorted { "\($0)" < "\($1)" }
                    if wanted == nil || wanted! != got {
                        failures.append(
                            "\(item.line) \(way): \(item.predicate) → \(got), not \(wanted.map { "\($0)" } ?? "an error")"
                        )
                    }
                } catch {
                    if item.expected != nil { failures.append("\(item.line) \(way): \(item.predicate) threw \(error)") }
                }
            }
        }
        for failure in failures { print(failure) }
        print("cases: \(cases.count * 2 - failures.count) passed, \(failures.count) failed")
        #expect(failures.isEmpty)
    }

    /// The ids of the matches; nil where this way has nothing to look at.
    private func run(_ item: PredicateCase, _ way: Way) throws -> [Value]? {
        let parsed = try parseFormat(item.predicate, arguments: item.arguments, allowsSuffixes: item.allowsSuffixes)
        let catalog = FieldCatalog(entity: "Case", fields: [], isOpen: true)
        let condition = try bind(parsed.condition, to: catalog, text: item.predicate)
        let registry = ShapeRegistry()
        let matcher = try Matcher(condition, registry: registry, now: Date())
        matcher.variables = item.variables
        let encoder = RowEncoder(registry)
        var rows = try item.data.filter { row in
            switch way {
            case .inMemory: return try matcher.matches(value: row.value)
            case .onRows:
                // Only objects are stored.
                guard case .object(let fields) = row.value else { return try matcher.matches(value: row.value) }
                return try matcher.matches(row: encoder.encode(record: fields))
            }
        }
        for suffix in parsed.suffixes { rows = try suffix.apply(to: rows) }
        return rows.map(\.id)
    }
}

extension FormatSuffix {
    /// A plain rendering of what the suffixes mean, to hold the store's against.
    func apply(to rows: [(id: Value, value: Value)]) throws -> [(id: Value, value: Value)] {
        func field(_ path: [String], _ value: Value) -> Value { Stepping.fields(path, of: value) }
        switch self {
        case .sort(let keys):
            return try rows.enumerated().sorted { a, b in
                for key in keys {
                    let x = field(key.path, a.element.value)
                    let y = field(key.path, b.element.value)
                    let order: Int
                    if x.isNil || y.isNil {
                        order = x.isNil && y.isNil ? 0 : x.isNil ? -1 : 1
                    } else {
                        order = try Comparing.order(x, y, at: .none) ?? 0
                    }
                    if order != 0 { return key.ascending ? order < 0 : order > 0 }
                }
                return a.offset < b.offset
            }.map(\.element)
        case .distinct(let paths):
            var seen: [[Value]] = []
            return rows.filter { row in
                let key = paths.map { field($0, row.value) }
                if seen.contains(key) { return false }
                seen.append(key)
                return true
            }
        case .limit(let count): return Array(rows.prefix(count))
        }
    }
}
