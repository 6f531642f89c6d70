import Foundation
import QuarryCoding

@testable import QuarryPredicate

/// One line of Tests/Fixtures/predicate-cases.jsonl.
struct PredicateCase: Sendable {
    var line: Int
    var source: String
    var predicate: String
    var arguments: [(any Sendable)?]
    var variables: [String: Value]
    var data: [(id: Value, value: Value)]
    /// Nil where an error is expected.
    var expected: [Value]?
    var isOrdered: Bool
    var allowsSuffixes: Bool
    var phase: String?
}

enum CaseFile {
    static let url: URL = {
        if let path = ProcessInfo.processInfo.environment["QUARRY_CASES"] { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/predicate-cases.jsonl")
    }()

    static func load() throws -> [PredicateCase] {
        let text = try String(contentsOf: url, encoding: .utf8)
        return try text.split(separator: "\n").enumerated().map { try parse(String($1), line: $0 + 1) }
    }

    private static func parse(_ line: String, line number: Int) throws -> PredicateCase {
        let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as! [String: Any]
        let data = (json["data"] as! [[String: Any]]).map { record -> (id: Value, value: Value) in
            let id = value(record["id"]!)
            if let whole = record["$self"] { return (id, value(whole)) }
            return (id, value(record))
        }
        let expected = (json["expect"] as? [Any])?.map(value)
        if expected == nil { precondition(json["expect"] as? String == "error") }
        return PredicateCase(
            line: number, source: json["source"] as! String, predicate: json["predicate"] as! String,
            arguments: (json["args"] as? [Any] ?? []).map { value($0) },
            variables: (json["vars"] as? [String: Any] ?? [:]).mapValues(value), data: data, expected: expected,
            isOrdered: json["ordered"] as? Bool ?? false, allowsSuffixes: json["dialect"] as? String == "realm-suffix",
            phase: json["phase"] as? String)
    }

    static func value(_ json: Any) -> Value {
        switch json {
        case is NSNull: return .null
        case let number as NSNumber:
            let type = String(cString: number.objCType)
            // Foundation keeps JSON's true and false as chars, and no number so.
            if type == "c" || type == "B" { return .bool(number.boolValue) }
            if type == "d" || type == "f" { return .double(number.doubleValue) }
            return .int(number.int64Value)
        case let text as String: return .string(text)
        case let list as [Any]: return .array(list.map(value))
        case let object as [String: Any]:
            if let seconds = object["$date"] as? NSNumber {
                return .date(Date(timeIntervalSince1970: seconds.doubleValue))
            }
            if let text = object["$uuid"] as? String { return .uuid(UUID(uuidString: text)!) }
            if let text = object["$data"] as? String { return .data(Data(base64Encoded: text)!) }
            if let list = object["$set"] as? [Any] { return .set(list.map(value)) }
            return .object(Value.Fields(object.sorted { $0.key < $1.key }.map { ($0.key, value($0.value)) }))
        default: fatalError("no value for \(json)")
        }
    }
}
