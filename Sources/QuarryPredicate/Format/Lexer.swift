import Foundation
import QuarryCoding

/// A token and where it stands.
struct Token {
    enum Kind: Equatable {
        /// An identifier; with `#` it is never a keyword.
        case word(String, isEscaped: Bool)
        case number(Value)
        case text(String)
        case symbol(Symbol)
        /// `$name`.
        case variable(String)
        /// `@name`.
        case collectionOperator(String)
        /// What follows `%`.
        case format(String)
        case end
    }
    var kind: Kind
    var position: SourcePosition
}

enum Symbol: String {
    case and = "&&"
    case or = "||"
    case not = "!"
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divide = "/"
    case power = "**"
    case assign = ":="
    case open = "("
    case close = ")"
    case openBracket = "["
    case closeBracket = "]"
    case openBrace = "{"
    case closeBrace = "}"
    case comma = ","
    case dot = "."
    case colon = ":"
}

/// Splits a format text into tokens, one at a time and never back.
struct Lexer {
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    private var current: UInt8? { place < bytes.count ? bytes[place] : nil }
    private func byte(_ ahead: Int) -> UInt8? { place + ahead < bytes.count ? bytes[place + ahead] : nil }

    func failure(_ message: String, _ start: Int, _ kind: PredicateFailure.Kind = .syntax) -> PredicateFailure {
        PredicateFailure(kind, message, at: SourcePosition(start: start, end: max(place, start + 1)))
    }

    mutating func next() throws(PredicateFailure) -> Token {
        while let byte = current, byte == 0x20 || (byte >= 0x09 && byte <= 0x0D && byte != 0x0B) { place += 1 }
        let start = place
        let kind = try kind(start)
        return Token(kind: kind, position: SourcePosition(start: start, end: place))
    }

    private mutating func kind(_ start: Int) throws(PredicateFailure) -> Token.Kind {
        guard let byte = current else { return .end }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number(start))
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .text(try text(quote: byte, start))
        case UInt8(ascii: "#"):
            place += 1
            guard let name = identifier() else { throw failure("a name should follow #", start) }
            return .word(name, isEscaped: true)
        case UInt8(ascii: "$"):
            place += 1
            guard let name = identifier() else { throw failure("a variable's name should follow $", start) }
            return .variable(name)
        case UInt8(ascii: "@"):
            place += 1
            guard let name = identifier() else { throw failure("an operator's name should follow @", start) }
            return .collectionOperator(name)
        case UInt8(ascii: "%"): return .format(try format(start))
        default:
            if let name = identifier() { return .word(name, isEscaped: false) }
            return .symbol(try symbol(byte, start))
        }
    }

    // MARK: Names

    /// Letters of any script, digits and underscores; nil when none begins here.
    private mutating func identifier() -> String? {
        let start = place
        while let byte = current {
            if byte < 0x80 {
                let isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A
                let isDigit = byte >= 0x30 && byte <= 0x39
                guard isLetter || byte == 0x5F || (isDigit && place > start) else { break }
                place += 1
            } else {
                guard let (scalar, length) = scalar(),
                    scalar.properties.isXIDContinue || scalar.properties.isEmojiPresentation
                else { break }
                place += length
            }
        }
        return place == start ? nil : String(decoding: bytes[start..<place], as: UTF8.self)
    }

    private func scalar() -> (Unicode.Scalar, Int)? {
        guard let first = current else { return nil }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard place + length <= bytes.count else { return nil }
        let text = String(decoding: bytes[place..<(place + length)], as: UTF8.self)
        return text.unicodeScalars.first.map { ($0, length) }
    }

    // MARK: Numbers

    private mutating func digits(_ isDigit: (UInt8) -> Bool) -> Int {
        let start = place
        while let byte = current, isDigit(byte) { place += 1 }
        return place - start
    }

    private mutating func number(_ start: Int) throws(PredicateFailure) -> Value {
        let isDecimal: (UInt8) -> Bool = { $0 >= 0x30 && $0 <= 0x39 }
        if current == UInt8(ascii: "0"), let letter = byte(1).map({ $0 | 0x20 }),
            let radix = [UInt8(ascii: "x"): 16, UInt8(ascii: "o"): 8, UInt8(ascii: "b"): 2][letter]
        {
            place += 2
            let from = place
            _ = digits { byte in
                let digit = byte <= 0x39 ? Int(byte) - 0x30 : Int(byte | 0x20) - 0x61 + 10
                return digit >= 0 && digit < radix && (isDecimal(byte) || byte | 0x20 >= 0x61)
            }
            guard place > from, !continuesName else { throw failure("a number with a digit that is none", start) }
            let digits = String(decoding: bytes[from..<place], as: UTF8.self)
            if let value = Int64(digits, radix: radix) { return .int(value) }
            if let value = UInt64(digits, radix: radix) { return .uint(value) }
            throw failure("a number of more than 64 bits", start)
        }
        _ = digits(isDecimal)
        var isWhole = true
        if current == UInt8(ascii: "."), byte(1) != UInt8(ascii: ".") {
            isWhole = false
            place += 1
            _ = digits(isDecimal)
        }
        if let letter = current, letter | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            place += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { place += 1 }
            guard digits(isDecimal) > 0 else { throw failure("a number whose exponent has no digits", start) }
        }
        guard !continuesName, current != UInt8(ascii: ".") || isWhole else {
            throw failure("a number that runs into something else", start)
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole {
            if let value = Int64(text) { return .int(value) }
            if let value = UInt64(text) { return .uint(value) }
            if text.utf8.count <= 38, let value = Decimal(string: text) { return .decimal(value) }
        }
        guard let value = Double(text.hasSuffix(".") ? text + "0" : text.replacing(".e", with: ".0e")) else {
            throw failure("a number that cannot be read", start)
        }
        return .double(value)
    }

    /// Whether a letter, digit or underscore follows.
    private var continuesName: Bool {
        guard let byte = current else { return false }
        return byte >= 0x80 || byte == 0x5F || (byte >= 0x30 && byte <= 0x39)
            || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A)
    }

    // MARK: Text

    private mutating func text(quote: UInt8, _ start: Int) throws(PredicateFailure) -> String {
        place += 1
        var result: [UInt8] = []
        var units: [UInt16] = []
        func flush(_ units: inout [UInt16], _ result: inout [UInt8]) {
            guard !units.isEmpty else { return }
            result += Array(String(decoding: units, as: UTF16.self).utf8)
            units = []
        }
        while let byte = current {
            place += 1
            if byte == quote {
                flush(&units, &result)
                return String(decoding: result, as: UTF8.self)
            }
            if byte != UInt8(ascii: "\\") {
                flush(&units, &result)
                result.append(byte)
                continue
            }
            // Units of an escape are joined, so that two make a surrogate pair.
            guard let unit = try escape(start) else { continue }
            units.append(unit)
        }
        throw failure("a text without its closing \(quote == UInt8(ascii: "'") ? "'" : "\"")", start)
    }

    /// The UTF-16 unit of the escape after a backslash; nil where the character stands for itself.
    private mutating func escape(_ start: Int) throws(PredicateFailure) -> UInt16? {
        guard let letter = current else { throw failure("a text that ends with a backslash", start) }
        switch letter {
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            var value: UInt16 = 0
            var count = 0
            while count < 3, let digit = current, digit >= 0x30, digit <= 0x37 {
                value = value * 8 + UInt16(digit - 0x30)
                place += 1
                count += 1
            }
            return value
        case UInt8(ascii: "x"), UInt8(ascii: "X"): return try hex(2, start)
        case UInt8(ascii: "u"), UInt8(ascii: "U"): return try hex(4, start)
        case UInt8(ascii: "n"): return control(0x0A)
        case UInt8(ascii: "t"): return control(0x09)
        case UInt8(ascii: "r"): return control(0x0D)
        case UInt8(ascii: "b"): return control(0x08)
        case UInt8(ascii: "f"): return control(0x0C)
        case UInt8(ascii: "a"): return control(0x07)
        case UInt8(ascii: "v"): return control(0x0B)
        default:
            if letter < 0x80 { return control(UInt16(letter)) }
            // A character of several bytes: they follow as they are.
            return nil
        }
    }

    private mutating func control(_ unit: UInt16) -> UInt16 {
        place += 1
        return unit
    }

    private mutating func hex(_ count: Int, _ start: Int) throws(PredicateFailure) -> UInt16 {
        place += 1
        guard place + count <= bytes.count,
            let value = UInt16(String(decoding: bytes[place..<(place + count)], as: UTF8.self), radix: 16),
            bytes[place] != UInt8(ascii: "+"), bytes[place] != UInt8(ascii: "-")
        else { throw failure("an escape that needs \(count) hexadecimal digits", max(place - 2, 0)) }
        place += count
        return value
    }

    // MARK: Formats and symbols

    private mutating func format(_ start: Int) throws(PredicateFailure) -> String {
        place += 1
        let from = place
        if current == UInt8(ascii: "@") || current == UInt8(ascii: "K") {
            place += 1
        } else {
            while let byte = current, "hlqzjt".utf8.contains(byte) { place += 1 }
            guard let letter = current, "diuxXoDUOfeEgGaAcC".utf8.contains(letter) else {
                if current != nil { place += 1 }
                let text = String(decoding: bytes[from..<place], as: UTF8.self)
                throw failure("%\(text) is no format; an object is %@, a key path %K", start, .argument)
            }
            place += 1
        }
        return String(decoding: bytes[from..<place], as: UTF8.self)
    }

    private mutating func symbol(_ first: UInt8, _ start: Int) throws(PredicateFailure) -> Symbol {
        if let second = byte(1) {
            let pair = String(decoding: [first, second], as: UTF8.self)
            let found: Symbol? =
                switch pair {
                case "=<": .lessOrEqual
                case "=>": .greaterOrEqual
                case "<>": .notEqual
                default: Symbol(rawValue: pair)
                }
            if let found {
                place += 2
                return found
            }
        }
        place += 1
        if first == UInt8(ascii: "=") { return .equal }
        if let found = Symbol(rawValue: String(decoding: [first], as: UTF8.self)) { return found }
        var end = place
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end += 1 }
        let character = String(decoding: bytes[start..<end], as: UTF8.self)
        place = end
        throw failure("\(character) has no meaning here", start)
    }
}
