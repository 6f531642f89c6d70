import Dataset
import Foundation
import Quarry

struct Student: Entity {
    var stuid: Int
    var name: String
    var sex: Bool
    var classid: Int
    var score: Double
    var createtime: Double
    var id: Int { stuid }
    static let schema = Schema<Student>(id: \.stuid, .index(\.name))
}

/// The same with fields read and written by their offsets.
struct DirectStudent: Entity {
    var stuid: Int
    var name: String
    var sex: Bool
    var classid: Int
    var score: Double
    var createtime: Double
    var id: Int { stuid }
    static let schema = Schema<DirectStudent>(id: \.stuid, layout: .direct, .index(\.name))
}

protocol BenchmarkStudent: Entity where ID == Int {
    var stuid: Int { get set }
    var name: String { get set }
    var sex: Bool { get set }
    var classid: Int { get set }
    var score: Double { get set }
    init(stuid: Int, name: String, sex: Bool, classid: Int, score: Double, createtime: Double)
    static var namePath: any KeyPath<Self, String> & Sendable { get }
}
extension Student: BenchmarkStudent {
    static var namePath: any KeyPath<Student, String> & Sendable { \Student.name }
}
extension DirectStudent: BenchmarkStudent {
    static var namePath: any KeyPath<DirectStudent, String> & Sendable { \DirectStudent.name }
}

/// A student under an object id of its own, as Core Data keeps it.
struct Person: Entity {
    var id: Int
    var stuid: Int
    var name: String
    var classid: Int
    static let schema = Schema<Person>(.unique(\.stuid), .index(\.name))
}

extension BenchmarkStudent {
    init(_ row: dataset_student) {
        let name = withUnsafeBytes(of: row.name) { String(decoding: $0.prefix(Int(row.name_length)), as: UTF8.self) }
        self.init(
            stuid: Int(row.stuid), name: name, sex: row.sex != 0, classid: Int(row.classid), score: row.score,
            createtime: row.createtime)
    }
}
