/// Primary keys collected before rows are read, packed one after another.
///
/// Keys of eight bytes, which most ids have, are kept as numbers: half the memory, and they sort several times as fast.
package final class KeyList {
    private struct Item {
        var prefix: UInt64
        var offset: Int
        var length: Int
    }
    private let isNumeric: Bool
    private var numbers: [UInt64] = []
    private var items: [Item] = []
    private var arena = EntryArena(capacity: 256)
    private var isSorted = true

    /// - Parameter width: the length of all keys where it is known to be one.
    init(width: Int?) { isNumeric = width == 8 }

    package var count: Int { isNumeric ? numbers.count : items.count }
    package var isEmpty: Bool { count == 0 }

    @inline(__always)
    func append(_ key: UnsafeRawBufferPointer) {
        if isNumeric, key.count == 8, let base = key.baseAddress {
            let number = UInt64(bigEndian: base.loadUnaligned(as: UInt64.self))
            if isSorted, let last = numbers.last, last >= number { isSorted = false }
            numbers.append(number)
            return
        }
        appendBytes(key)
    }

    @inline(never)
    private func appendBytes(_ key: UnsafeRawBufferPointer) {
        guard !isNumeric, let base = key.baseAddress else { return }
        let item = Item(prefix: SortEntry.prefix(base, key.count), offset: arena.count, length: key.count)
        arena.append(key)
        if isSorted, let last = items.last, compare(last, item) >= 0 { isSorted = false }
        items.append(item)
    }

    @inline(__always)
    private func compare(_ a: Item, _ b: Item) -> Int {
        KeyList.compare(a, b, UnsafeRawPointer(arena.base))
    }

    @inline(__always)
    private static func compare(_ a: Item, _ b: Item, _ base: UnsafeRawPointer) -> Int {
        if a.prefix != b.prefix { return a.prefix < b.prefix ? -1 : 1 }
        return compareBytes(base + a.offset, a.length, base + b.offset, b.length)
    }

    /// Puts the keys in order and drops repeated ones.
    func sort() {
        if isSorted { return }
        isSorted = true
        if isNumeric {
            numbers.sort()
            var kept = 0
            for i in numbers.indices where kept == 0 || numbers[i] != numbers[kept - 1] {
                numbers[kept] = numbers[i]
                kept += 1
            }
            numbers.removeLast(numbers.count - kept)
            return
        }
        let base = UnsafeRawPointer(arena.base)
        items.sort { KeyList.compare($0, $1, base) < 0 }
        var kept = 0
        for i in items.indices where kept == 0 || KeyList.compare(items[i], items[kept - 1], base) != 0 {
            items[kept] = items[i]
            kept += 1
        }
        items.removeLast(items.count - kept)
    }

    /// Calls `body` with one key; the bytes are valid inside only.
    @inline(__always)
    package func withKey<R>(_ i: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        if isNumeric {
            return try withUnsafeBytes(of: numbers[i].bigEndian) { try body($0) }
        }
        let item = items[i]
        return try body(UnsafeRawBufferPointer(start: arena.base + item.offset, count: item.length))
    }

    /// Leaves only the keys that the other list has too. Both are in order.
    func formIntersection(_ other: KeyList) {
        var i = 0
        var j = 0
        var kept = 0
        while i < count && j < other.count {
            let order = withKey(i) { a in other.withKey(j) { b in compareKeys(a, b) } }
            if order == 0 {
                if isNumeric { numbers[kept] = numbers[i] } else { items[kept] = items[i] }
                kept += 1
            }
            if order <= 0 { i += 1 }
            if order >= 0 { j += 1 }
        }
        if isNumeric { numbers.removeLast(numbers.count - kept) } else { items.removeLast(items.count - kept) }
    }

    /// The position of the first key after the given one, in a list in order.
    func position(after key: UnsafeRawBufferPointer) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if withKey(middle, { compareKeys($0, key) <= 0 }) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// All keys as arrays.
    var arrays: [[UInt8]] { (0..<count).map { withKey($0) { Array($0) } } }
}
