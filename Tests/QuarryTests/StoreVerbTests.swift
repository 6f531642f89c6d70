import Foundation
import Testing

@testable import Quarry

@Suite struct StoreVerbTests {
    @Test func anInsertedObjectIsFoundByItsId() throws {
        let test = try TestStore(Student.self)
        let ann = Student(stuid: 1, name: "Ann", classid: 3)
        try test.store.insert(ann)
        #expect(try test.store.get(Student.self, id: 1) == ann)
        #expect(try test.store.get(Student.self, id: 2) == nil)
    }

    @Test func aSecondObjectWithTheSameIdIsRefused() throws {
        let test = try TestStore(Student.self)
        try test.store.insert(Student(stuid: 1, name: "Ann"))
        #expect(throws: QuarryError.self) { try test.store.insert(Student(stuid: 1, name: "Bob")) }
        #expect(try test.store.get(Student.self, id: 1)?.name == "Ann")
    }

    @Test func aTransactionCommitsAllOrNothing() throws {
        struct Stop: Error {}
        let test = try TestStore(Student.self)
        #expect(throws: Stop.self) {
            try test.store.write { tx in
                try tx.insert(Student(stuid: 1, name: "Ann"))
                throw Stop()
            }
        }
        #expect(try test.store.count(Student.self) == 0)
    }

    @Test func everyVerbOfATransactionWorks() throws {
        let test = try TestStore(Student.self)
        try test.store.write { tx in
            try tx.insert(contentsOf: (1...100).map { Student(stuid: $0, name: "n\($0)", classid: $0 % 5) })
            var one = try #require(try tx.get(Student.self, id: 7))
            one.name = "seven"
            try tx.update(one)
            #expect(try tx.upsert(Student(stuid: 7, name: "siete")) == one)
            #expect(try tx.upsert(Student(stuid: 101, name: "new")) == nil)
            try tx.modify(Student.self, id: 7) { $0.name = "李雷" }
            #expect(try tx.delete(Student.self, id: 8))
            #expect(try !tx.delete(Student.self, id: 8))
            #expect(try tx.updateAll(Student.self, where: Filter("classid = 3")) { $0.classid = 33 } == 19)
            #expect(try tx.deleteAll(Student.self, where: Filter("classid = 0")) == 20)
        }
        #expect(try test.store.count(Student.self) == 80)
        #expect(try test.store.count(Student.self, where: Filter("classid = 33")) == 19)
        #expect(try test.store.fetch(Student.self, \.name, equals: "李雷").map(\.stuid) == [7])
    }

    @Test func existsByIdOrNameFindsEither() throws {
        let test = try TestStore(Student.self)
        try test.store.insert(contentsOf: (1...50).map { Student(stuid: $0, name: "n\($0)") })
        #expect(try test.store.exists(Student.self, where: Filter("stuid = %@ OR name = %@", 999, "n7")))
        #expect(try test.store.exists(Student.self, where: Filter("stuid = %@ OR name = %@", 7, "none")))
        #expect(try !test.store.exists(Student.self, where: Filter("stuid = %@ OR name = %@", 999, "none")))
        let found = try test.store.fetch(
            FetchDescriptor<Student>(predicate: #Predicate { $0.stuid == 5 || $0.name == "n9" }))
        #expect(found.map(\.stuid) == [5, 9])
    }

    @Test func pagesSortBySeveralKeys() throws {
        let test = try TestStore(Student.self)
        let all = (1...100).map { Student(stuid: $0, name: "n\($0 % 7)", classid: $0 % 3) }
        try test.store.insert(contentsOf: all.shuffled())
        let sorted = all.sorted {
            ($0.classid!, $1.name, $0.stuid) < ($1.classid!, $0.name, $1.stuid)
        }
        for offset in [0, 10, 95, 200] {
            let page = try test.store.fetch(
                FetchDescriptor<Student>(
                    sortBy: [SortKey(\.classid), SortKey(\.name, .descending)], fetchLimit: 10, fetchOffset: offset))
            #expect(page == Array(sorted.dropFirst(offset).prefix(10)))
        }
        let descriptor = try FetchDescriptor<Student>(
            filter: Filter("classid = 1"), sortBy: [SortKey(\.stuid, .descending), SortKey(\.name)], fetchLimit: 10,
            fetchOffset: 10)
        #expect(
            try test.store.fetch(descriptor)
                == Array(all.filter { $0.classid == 1 }.sorted { $0.stuid > $1.stuid }.dropFirst(10).prefix(10)))
        print(try test.store.explain(descriptor))
    }

    @Test func aUniqueValueIsRefusedTwiceAndNilIsNoValue() throws {
        let test = try TestStore(Student.self)
        try test.store.insert(Student(stuid: 1, name: "a", email: "x@y"))
        #expect(throws: QuarryError.self) { try test.store.insert(Student(stuid: 2, name: "b", email: "x@y")) }
        try test.store.insert(Student(stuid: 3, name: "c"))
        try test.store.insert(Student(stuid: 4, name: "d"))
        #expect(try test.store.count(Student.self) == 3)
    }

    @Test func aStoreKeepsItsRowsWhenOpenedAgain() throws {
        let folder = try TemporaryFolder()
        do {
            let store = try Store(at: folder.file(), for: Student.self)
            try store.insert(contentsOf: (1...10).map { Student(stuid: $0, name: "n\($0)") })
            store.close()
        }
        let store = try Store(at: folder.file(), for: Student.self)
        #expect(try store.fetch(FetchDescriptor<Student>()).map(\.stuid) == Array(1...10))
        #expect(try store.fetch(Student.self, \.name, equals: "n3").map(\.stuid) == [3])
    }

    @Test func asyncWritesAndReadsSeeEachOther() async throws {
        let test = try TestStore(Student.self)
        let store = test.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for i in 1...100 {
                group.addTask { try await store.write { tx in _ = try tx.insert(Student(stuid: i, name: "n\(i)")) } }
            }
            try await group.waitForAll()
        }
        let count = try await store.read { tx in try tx.count(Student.self) }
        #expect(count == 100)
    }
}
