import QuarryCoding

/// A half-open range of key bytes in the order of LMDB.
struct KeyRange: Hashable, Sendable {
    var lower: [UInt8]
    /// Exclusive; nil means no end.
    var upper: [UInt8]?
    /// All keys in it begin with `lower`, which is one whole value.
    var isPoint: Bool

    init(lower: [UInt8], upper: [UInt8]?, isPoint: Bool = false) {
        self.lower = lower
        self.upper = upper
        self.isPoint = isPoint
    }

    /// The keys that are or begin with these bytes.
    init(point: [UInt8]) { self.init(lower: point, upper: KeyRange.successor(point), isPoint: true) }

    static let everything = KeyRange(lower: [], upper: nil)

    var isEverything: Bool { lower.isEmpty && upper == nil }
    var isEmpty: Bool { upper.map { !KeyRange.precedes(lower, $0) } ?? false }

    /// The smallest bytes after all that begin with `bytes`; nil when there are none.
    static func successor(_ bytes: [UInt8]) -> [UInt8]? {
        var result = bytes
        while let last = result.last {
            if last < 0xFF {
                result[result.count - 1] = last + 1
                return result
            }
            result.removeLast()
        }
        return nil
    }

    static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.lexicographicallyPrecedes(b) }

    func contains(_ key: [UInt8]) -> Bool {
        !KeyRange.precedes(key, lower) && (upper.map { KeyRange.precedes(key, $0) } ?? true)
    }

    /// The same range behind the bytes of earlier components.
    func prefixed(by prefix: [UInt8]) -> KeyRange {
        if prefix.isEmpty { return self }
        return KeyRange(
            lower: prefix + lower, upper: upper.map { prefix + $0 } ?? KeyRange.successor(prefix), isPoint: isPoint)
    }
}

/// Disjoint key ranges in ascending order, and whether every key in them belongs to a row that matches.
struct KeyRanges: Hashable, Sendable {
    private(set) var ranges: [KeyRange]
    /// False when rows found through them have to be checked again.
    var isExact: Bool

    init(_ ranges: [KeyRange], isExact: Bool = true) {
        self.isExact = isExact
        let solid = ranges.filter { !$0.isEmpty }
        if solid.count < 2 {
            self.ranges = solid
            return
        }
        self.ranges = []
        self.ranges.reserveCapacity(solid.count)
        for range in solid.sorted(by: { KeyRange.precedes($0.lower, $1.lower) }) {
            guard let last = self.ranges.last else {
                self.ranges.append(range)
                continue
            }
            // Ranges that only touch stay apart, so that neighbouring points remain points.
            let overlaps = last.upper.map { KeyRange.precedes(range.lower, $0) } ?? true
            if !overlaps {
                self.ranges.append(range)
            } else if last.upper != range.upper || last.lower != range.lower {
                let upper = KeyRanges.larger(last.upper, range.upper)
                self.ranges[self.ranges.count - 1] = KeyRange(lower: last.lower, upper: upper)
            }
        }
    }

    static let nothing = KeyRanges([])
    static let everything = KeyRanges([.everything])

    var isEmpty: Bool { ranges.isEmpty }
    var arePoints: Bool { ranges.allSatisfy(\.isPoint) }

    private static func larger(_ a: [UInt8]?, _ b: [UInt8]?) -> [UInt8]? {
        guard let a, let b else { return nil }
        return KeyRange.precedes(a, b) ? b : a
    }

    private static func smaller(_ a: [UInt8]?, _ b: [UInt8]?) -> [UInt8]? {
        guard let a else { return b }
        guard let b else { return a }
        return KeyRange.precedes(b, a) ? b : a
    }

    func union(_ other: KeyRanges) -> KeyRanges {
        KeyRanges(ranges + other.ranges, isExact: isExact && other.isExact)
    }

    static func union(_ parts: [KeyRanges]) -> KeyRanges {
        KeyRanges(parts.flatMap(\.ranges), isExact: parts.allSatisfy(\.isExact))
    }

    func intersection(_ other: KeyRanges) -> KeyRanges {
        var result: [KeyRange] = []
        var i = 0
        var j = 0
        while i < ranges.count && j < other.ranges.count {
            let a = ranges[i]
            let b = other.ranges[j]
            let lower = KeyRange.precedes(a.lower, b.lower) ? b.lower : a.lower
            let upper = KeyRanges.smaller(a.upper, b.upper)
            let isPoint =
                (a.isPoint && a.lower == lower && a.upper == upper)
                || (b.isPoint && b.lower == lower && b.upper == upper)
            let both = KeyRange(lower: lower, upper: upper, isPoint: isPoint)
            if !both.isEmpty { result.append(both) }
            if upper == a.upper { i += 1 } else { j += 1 }
        }
        return KeyRanges(result, isExact: isExact && other.isExact)
    }

    /// Everything else; only meaningful for exact ranges.
    var complement: KeyRanges {
        var result: [KeyRange] = []
        var lower: [UInt8]? = []
        for range in ranges {
            if let start = lower { result.append(KeyRange(lower: start, upper: range.lower)) }
            lower = range.upper
        }
        if let start = lower { result.append(KeyRange(lower: start, upper: nil)) }
        return KeyRanges(result, isExact: isExact)
    }
}
