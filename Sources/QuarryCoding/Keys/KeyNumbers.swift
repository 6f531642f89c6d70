import Foundation

/// Numbers as bytes that compare as the numbers do.
enum KeyNumbers {
    @inline(__always)
    static func bits(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }

    @inline(__always)
    static func int(_ bits: UInt64) -> Int64 { Int64(bitPattern: bits ^ (1 << 63)) }

    /// -0.0 is 0.0, and every NaN is one value after all others.
    @inline(__always)
    static func bits(_ value: Double) -> UInt64 {
        if value.isNaN { return .max }
        let raw = (value + 0.0).bitPattern
        return raw >> 63 == 0 ? raw | (1 << 63) : ~raw
    }

    @inline(__always)
    static func double(_ bits: UInt64) -> Double {
        if bits == .max { return .nan }
        return Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    }

    // MARK: Decimal

    /// Sign, power of ten, then digits that end with 0, the rest of a negative one inverted. 1 is zero, 3 is NaN.
    static func append(_ decimal: Decimal, to key: inout KeyBuffer) {
        if decimal.isNaN { return key.append(3) }
        var digits: [UInt8] = []
        var pointAt: Int?
        for byte in decimal.description.utf8 {
            if byte == UInt8(ascii: ".") { pointAt = digits.count }
            if byte >= 0x30 && byte <= 0x39 { digits.append(byte - 0x30) }
        }
        var power = pointAt ?? digits.count
        let leading = digits.prefix { $0 == 0 }.count
        digits.removeFirst(leading)
        power -= leading
        while digits.last == 0 { digits.removeLast() }
        if digits.isEmpty { return key.append(1) }
        let isNegative = decimal.sign == .minus
        let mask: UInt8 = isNegative ? 0xFF : 0
        key.append(isNegative ? 0 : 2)
        let biased = UInt16(truncatingIfNeeded: power + 0x8000)
        key.append(UInt8(biased >> 8) ^ mask)
        key.append(UInt8(biased & 0xFF) ^ mask)
        for digit in digits { key.append((digit + 1) ^ mask) }
        key.append(0 ^ mask)
    }

    static func decimal(at place: inout Int, of key: UnsafeRawBufferPointer) throws -> Decimal {
        func next() throws -> UInt8 {
            guard place < key.count else { throw CodingFailure.corruptRow("a key ends early") }
            defer { place += 1 }
            return key[place]
        }
        let sign = try next()
        if sign == 1 { return 0 }
        if sign == 3 { return .nan }
        let mask: UInt8 = sign == 0 ? 0xFF : 0
        let power = (Int(try next() ^ mask) << 8 | Int(try next() ^ mask)) - 0x8000
        var text = sign == 0 ? "-" : ""
        var count = 0
        while true {
            let byte = try next() ^ mask
            if byte == 0 { break }
            text += String(byte &- 1)
            count += 1
        }
        text += "e\(power - count)"
        guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
            throw CodingFailure.corruptRow("a key holds no number")
        }
        return value
    }

    // MARK: Any number

    /// Numbers of several kinds under one name: the nearest double, then what is missing to the number itself.
    static func appendMixed(_ value: Value, to key: inout KeyBuffer) {
        var nearest = 0.0
        var rest: Int64 = 0
        switch value {
        case .int(let number):
            nearest = Double(number)
            rest = difference(Decimal(number), nearest)
        case .uint(let number):
            nearest = Double(number)
            rest = difference(Decimal(number), nearest)
        case .double(let number): nearest = number
        case .decimal(let number):
            nearest = NSDecimalNumber(decimal: number).doubleValue
            rest = difference(number, nearest)
        default: break
        }
        key.append(bigEndian: bits(nearest))
        key.append(bigEndian: bits(rest))
    }

    private static func difference(_ number: Decimal, _ nearest: Double) -> Int64 {
        if number.isNaN || abs(nearest) >= 1e38 { return 0 }
        // Below 2^53 doubles are dense enough for whole numbers, which have no rest then.
        if abs(nearest) < 0x1p53 { return 0 }
        let exact: Decimal
        if let small = Int64(exactly: nearest) {
            exact = Decimal(small)
        } else if let large = UInt64(exactly: nearest) {
            exact = Decimal(large)
        } else {
            return 0
        }
        let rest = NSDecimalNumber(decimal: number - exact)
        return rest.int64Value
    }
}
