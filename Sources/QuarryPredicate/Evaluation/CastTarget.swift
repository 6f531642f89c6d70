import Foundation
import QuarryCoding

/// What CAST converts to.
enum CastTarget: String, CaseIterable {
    case date = "NSDate"
    case number = "NSNumber"
    case string = "NSString"
    case decimal = "NSDecimalNumber"
    case uuid = "NSUUID"
    case data = "NSData"
    case set = "NSSet"

    /// The value as the target's type; null where it does not read as one, nil where it never can.
    func convert(_ value: Value) -> Value? {
        if value.isNil { return .null }
        switch self {
        case .date:
            if case .date = value { return value }
            if case .string(let text) = value { return ISODate.parse(text).map { .date($0) } ?? .null }
            return value.doubleValue.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .number:
            switch value {
            case .int, .uint, .double, .decimal: return value
            case .bool(let flag): return .int(flag ? 1 : 0)
            case .date(let date): return .double(date.timeIntervalSinceReferenceDate)
            case .string(let text):
                if let whole = Int64(text) { return .int(whole) }
                if let whole = UInt64(text) { return .uint(whole) }
                return Double(text).map { .double($0) } ?? .null
            default: return nil
            }
        case .string: return .string(value.description)
        case .decimal:
            switch value {
            case .decimal: return value
            case .int(let number): return .decimal(Decimal(number))
            case .uint(let number): return .decimal(Decimal(number))
            case .bool(let flag): return .decimal(flag ? 1 : 0)
            case .double(let number): return Decimal(string: number.description).map { .decimal($0) } ?? .null
            case .string(let text): return Decimal(string: text).map { .decimal($0) } ?? .null
            default: return nil
            }
        case .uuid:
            if case .uuid = value { return value }
            return value.stringValue.map { UUID(uuidString: $0).map { .uuid($0) } ?? .null }
        case .data:
            if case .data = value { return value }
            return value.stringValue.map { Data(base64Encoded: $0).map { .data($0) } ?? .null }
        case .set: return value.arrayValue.map { .set($0) }
        }
    }
}
