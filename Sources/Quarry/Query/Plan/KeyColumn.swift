import Foundation
import QuarryCoding
import QuarryPredicate

/// The bytes that one field has in a key: as the primary key, or as a component of an index.
struct KeyColumn: Sendable {
    enum Place: Sendable {
        case primary
        case component(IndexComponent, budget: Int)
    }
    let place: Place
    let type: FieldType

    init?(primary type: FieldType?) {
        guard let type else { return nil }
        place = .primary
        self.type = type
    }

    init(_ component: IndexComponent, budget: Int) {
        place = .component(component, budget: budget)
        type = component.type
    }

    var isPrimary: Bool { if case .primary = place { true } else { false } }

    /// How the column's text is folded.
    var folding: TextOptions {
        if case .component(let component, _) = place { component.options.folding } else { [] }
    }

    struct Key {
        var bytes: [UInt8]
        /// The bytes hold only the start of the value and a hash: rows have to be checked again.
        var isCut: Bool
    }

    /// The bytes of a value of the column's own type; nil when it has none.
    func key(_ value: Value, isMixed: Bool = false) -> Key? {
        var buffer = KeyBuffer()
        do {
            switch place {
            case .primary:
                try KeyCoder.primaryKey(value: value, type: type, into: &buffer)
                return Key(bytes: Array(buffer.bytes), isCut: false)
            case .component(let component, let budget):
                _ = try KeyCoder.append(
                    value, to: &buffer, budget: budget, options: component.options, isMixed: isMixed)
                let isCut = buffer.count > budget && KeyCoder.components(buffer.bytes).contains(where: \.isCut)
                return Key(bytes: Array(buffer.bytes), isCut: isCut)
            }
        } catch {
            return nil
        }
    }

    /// The bytes that all longer texts with the same start share with a cut key.
    static func kept(of cut: [UInt8]) -> [UInt8] { Array(cut.dropLast(9)) }

    /// Where the values of the column's type begin, after nil.
    var start: [UInt8] { isPrimary ? [] : KeyTag.of(type).map { [$0] } ?? [] }

    /// Where they end, before NaN where the type has it.
    var end: [UInt8]? {
        switch type {
        case .double: if let nan = key(.double(.nan)) { return nan.bytes }
        case .date: if let nan = key(.date(Date(timeIntervalSinceReferenceDate: .nan))) { return nan.bytes }
        default: break
        }
        return isPrimary ? nil : KeyTag.of(type).map { [$0 + 1] }
    }
}

/// The bytes that begin a component of an index key.
enum KeyTag {
    static let null: UInt8 = 0x00

    static func of(_ type: FieldType) -> UInt8? {
        switch type {
        case .bool: 0x10
        case .int: 0x20
        case .uint: 0x21
        case .double: 0x22
        case .decimal: 0x23
        case .date: 0x30
        case .string: 0x40
        case .data: 0x50
        case .uuid: 0x60
        case .array, .set, .object, .any: nil
        }
    }
}

/// Where a number stands among the values that a column can hold.
enum NumberPlace {
    /// The column holds this very number.
    case at(Value)
    /// It lies between this value of the column and the next larger one.
    case above(Value)
    case belowAll, aboveAll
    /// NaN: no comparison with it is true.
    case nowhere
    /// Only the row can tell.
    case unknown

    init(_ value: Value, in type: FieldType) {
        switch type {
        case .int: self = NumberPlace.integer(value, Int64.min, Int64.max) { .int($0) }
        case .uint: self = NumberPlace.integer(value, UInt64.min, UInt64.max) { .uint($0) }
        case .double: self = NumberPlace.double(value)
        case .decimal:
            switch value {
            case .decimal(let number): self = number.isNaN ? .nowhere : .at(value)
            case .int(let number): self = .at(.decimal(Decimal(number)))
            case .uint(let number): self = .at(.decimal(Decimal(number)))
            default: self = .unknown
            }
        case .bool:
            if case .bool = value { self = .at(value) } else { self = .unknown }
        default: self = .unknown
        }
    }

    private static func integer<I: FixedWidthInteger>(
        _ value: Value, _ least: I, _ greatest: I, _ wrap: (I) -> Value
    ) -> NumberPlace {
        switch value {
        case .int(let number):
            if let exact = I(exactly: number) { return .at(wrap(exact)) }
            return number < 0 ? .belowAll : .aboveAll
        case .uint(let number):
            return I(exactly: number).map { .at(wrap($0)) } ?? .aboveAll
        case .double(let number):
            if number.isNaN { return .nowhere }
            if number < Double(least) { return .belowAll }
            // Double(greatest) rounds up to the first number that does not fit.
            if number >= Double(greatest) { return .aboveAll }
            let floor = number.rounded(.down)
            guard let whole = I(exactly: floor) else { return .unknown }
            return floor == number ? .at(wrap(whole)) : .above(wrap(whole))
        case .decimal(let number):
            if number.isNaN { return .nowhere }
            guard let text = I(exactly: number) else { return .unknown }
            return .at(wrap(text))
        default: return .unknown
        }
    }

    private static func double(_ value: Value) -> NumberPlace {
        switch value {
        case .double(let number): number.isNaN ? .nowhere : .at(value)
        case .int(let number): Double(exactly: number).map { .at(.double($0)) } ?? .unknown
        case .uint(let number): Double(exactly: number).map { .at(.double($0)) } ?? .unknown
        default: .unknown
        }
    }
}

extension FixedWidthInteger {
    /// The same number, if it is whole and fits.
    fileprivate init?(exactly decimal: Decimal) {
        guard let value = Self(decimal.description) else { return nil }
        self = value
    }
}

extension KeyColumn {
    /// The column's key for a text or data component that was written without a limit.
    func recut(_ component: [UInt8]) -> Key? {
        guard component.first == KeyTag.of(type) else { return nil }
        var end = 0
        guard let value = try? component.withUnsafeBytes({ try KeyCoder.value(at: &end, of: $0) }) else { return nil }
        // Folded once already.
        return key(value, options: [])
    }

    private func key(_ value: Value, options: TextOptions) -> Key? {
        guard case .component(var component, let budget) = place else { return nil }
        component.options = options
        return KeyColumn(component, budget: budget).key(value)
    }
}
