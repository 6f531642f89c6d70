import Foundation
import Testing

@testable import Quarry

/// Random histories of every verb against a dictionary, with aborts and reopening, all indexes checked against a scan.
///
/// `QUARRY_SECONDS` sets how long it runs, `QUARRY_SEED` replays one history.
@Suite struct ModelTests {
    struct Item: Entity, Equatable {
        var id: Int
        var name: String
        var group: Int?
        var score: Double
        var code: String?
        var tags: [String]
        var place: Place
        struct Place: Codable, Equatable, Sendable { var city: String }
        static let schema = Schema<Item>(
            .index(\.name), .index(\.group, \.name), .unique(\.code), .each(\.tags), .index(\.place.city),
            .index(\.name, [.caseInsensitive, .diacriticInsensitive]), .index(\.score))
    }

    struct Stop: Error {}

    struct History {
        var generator: SeededGenerator
        var model: [Int: Item] = [:]
        var steps = 0

        mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }
        mutating func flip() -> Bool { .random(using: &generator) }

        mutating func text() -> String {
            let parts = ["", "a", "A", "é", "e\u{301}", "李雷", "z", "\0", " ", String(repeating: "long", count: 150)]
            return (0...number(0...2)).map { _ in parts[number(0...parts.count - 1)] }.joined()
        }

        mutating func item(_ id: Int) -> Item {
            Item(
                id: id, name: text(), group: flip() ? number(-2...3) : nil,
                score: [0, -0.0, 1.5, -3, .infinity, Double(number(-5...5))][number(0...5)],
                code: flip() ? "c\(number(0...40))" : nil, tags: (0..<number(0...3)).map { _ in "t\(number(0...4))" },
                place: .init(city: ["Bonn", "Rome", "上海"][number(0...2)]))
        }

        func holder(of code: String?, except id: Int) -> Int? {
            guard let code else { return nil }
            return model.values.first { $0.code == code && $0.id != id }?.id
        }
    }

    @Test func randomHistoriesAgreeWithADictionary() throws {
        let environment = ProcessInfo.processInfo.environment
        let seconds = environment["QUARRY_SECONDS"].flatMap(Double.init) ?? 6
        var seed = environment["QUARRY_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0 ... .max)
        let end = Date().addingTimeInterval(seconds)
        var histories = 0
        var steps = 0
        repeat {
            steps += try run(seed)
            histories += 1
            seed &+= 1
        } while Date() < end && environment["QUARRY_SEED"] == nil
        print("model: \(histories) histories, \(steps) steps, last seed \(seed &- 1)")
    }

    private func run(_ seed: UInt64) throws -> Int {
        var history = History(generator: SeededGenerator(seed: seed))
        let folder = try TemporaryFolder()
        var store = try Store(at: folder.file(), for: Item.self, options: StoreOptions(durability: .none))
        for _ in 0..<60 {
            let before = history.model
            let aborts = history.number(0...5) == 0
            do {
                try store.write { tx in
                    for _ in 0..<history.number(1...6) { try step(tx, &history, seed) }
                    if aborts { throw Stop() }
                }
            } catch is Stop {
                history.model = before
            }
            if history.number(0...9) == 0 {
                store.close()
                store = try Store(at: folder.file(), for: Item.self, options: StoreOptions(durability: .none))
            }
            try verify(store, history.model, seed)
        }
        return history.steps
    }

    private func step(_ tx: borrowing WriteTransaction, _ h: inout History, _ seed: UInt64) throws {
        h.steps += 1
        let id = h.number(0...25)
        switch h.number(0...8) {
        case 0:
            let item = h.item(id)
            let refused = h.model[id] != nil || h.holder(of: item.code, except: id) != nil
            do {
                try tx.insert(item)
                #expect(!refused, "seed \(seed)")
                h.model[id] = item
            } catch is QuarryError {
                #expect(refused, "seed \(seed)")
            }
        case 1:
            let item = h.item(id)
            let refused = h.model[id] == nil || h.holder(of: item.code, except: id) != nil
            do {
                try tx.update(item)
                #expect(!refused, "seed \(seed)")
                h.model[id] = item
            } catch is QuarryError {
                #expect(refused, "seed \(seed)")
            }
        case 2:
            let item = h.item(id)
            do {
                let old = try tx.upsert(item)
                #expect(old == h.model[id], "seed \(seed)")
                h.model[id] = item
            } catch is QuarryError {
                #expect(h.holder(of: item.code, except: id) != nil, "seed \(seed)")
            }
        case 3:
            let wasThere = h.model.removeValue(forKey: id) != nil
            #expect(try tx.delete(Item.self, id: id) == wasThere, "seed \(seed)")
        case 4:
            let items = (0..<h.number(1...5)).map { _ in h.item(h.number(0...60)) }
            var after = h.model
            var fails = false
            for item in items {
                if after[item.id] != nil { fails = true }
                after[item.id] = item
            }
            let codes = after.values.compactMap(\.code)
            if Set(codes).count != codes.count { fails = true }
            do {
                try tx.insert(contentsOf: items)
                #expect(!fails, "seed \(seed)")
                h.model = after
            } catch is QuarryError {
                #expect(fails, "seed \(seed)")
            }
        case 5:
            let group = h.number(-2...3)
            let name = h.text()
            let count = try tx.updateAll(Item.self, where: Filter("group = %@", group)) { $0.name = name }
            let touched = h.model.values.filter { $0.group == group }
            #expect(count == touched.count, "seed \(seed)")
            for item in touched { h.model[item.id]?.name = name }
        case 6 where h.number(0...3) == 0:
            let group = h.number(-2...3)
            let count = try tx.deleteAll(Item.self, where: Filter("group = %@ OR ANY tags = 't1'", group))
            let gone = h.model.values.filter { $0.group == group || $0.tags.contains("t1") }
            #expect(count == gone.count, "seed \(seed)")
            for item in gone { h.model[item.id] = nil }
        case 7:
            guard h.model[id] != nil else { return }
            let score = Double(h.number(-9...9))
            try tx.modify(Item.self, id: id) { $0.score = score }
            h.model[id]?.score = score
        default:
            let before = h.model
            let fails = h.flip()
            do {
                try tx.savepoint { inner in
                    let item = h.item(h.number(100...120))
                    if h.model[item.id] == nil, h.holder(of: item.code, except: item.id) == nil {
                        try inner.insert(item)
                        h.model[item.id] = item
                    }
                    if fails { throw Stop() }
                }
            } catch is Stop {
                h.model = before
            }
        }
    }

    private func verify(_ store: Store, _ model: [Int: Item], _ seed: UInt64) throws {
        let all = model.values.sorted { $0.id < $1.id }
        func same(_ found: [Item], _ passes: (Item) -> Bool) {
            #expect(found == all.filter(passes), "seed \(seed)")
        }
        try store.read { tx in
            same(try tx.fetch(FetchDescriptor<Item>())) { _ in true }
            #expect(try tx.count(Item.self) == all.count, "seed \(seed)")
            for group in -2...3 {
                same(try tx.fetch(Item.self, where: Filter("group = %@", group))) { $0.group == group }
            }
            same(try tx.fetch(Item.self, where: Filter("group = nil"))) { $0.group == nil }
            for item in all.prefix(5) {
                #expect(try tx.get(Item.self, id: item.id) == item, "seed \(seed)")
                same(try tx.fetch(Item.self, \.name, equals: item.name)) { $0.name == item.name }
                if let code = item.code { same(try tx.fetch(Item.self, \.code, equals: code)) { $0 == item } }
                let city = item.place.city
                same(try tx.fetch(Item.self, where: Filter("place.city = %@", city))) { $0.place.city == city }
            }
            same(try tx.fetch(Item.self, where: Filter("ANY tags = 't2'"))) { $0.tags.contains("t2") }
            same(try tx.fetch(Item.self, where: Filter("score < 1"))) { $0.score < 1 }
        }
    }
}
