/// Growable raw memory for byte strings that are sorted and put later. Offsets stay valid while it grows.
///
/// Holds its memory by hand, because an array of bytes would be copied or bounds-checked in the innermost loop of bulk
/// loads. Owned by one write transaction and never shared.
struct EntryArena: ~Copyable {
    private(set) var base: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 1 << 12) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { base.deallocate() }

    /// Room for `size` bytes at the end; the caller fills all of it.
    @inline(__always)
    mutating func extend(by size: Int) -> UnsafeMutableRawPointer {
        if count &+ size > capacity { grow(size) }
        let place = base + count
        count &+= size
        return place
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        extend(by: bytes.count).copyMemory(from: source, byteCount: bytes.count)
    }

    @inline(never)
    private mutating func grow(_ size: Int) {
        let larger = max(capacity * 2, count + size + 64)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        moved.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = moved
        capacity = larger
    }

    /// Forgets everything from `mark` on.
    mutating func truncate(to mark: Int) { count = mark }

    /// Forgets everything and gives large memory back.
    mutating func reset() {
        count = 0
        guard capacity > 1 << 20 else { return }
        base.deallocate()
        capacity = 1 << 12
        base = .allocate(byteCount: capacity, alignment: 8)
    }
}

/// A sort key for byte strings: the first eight bytes as a number, then where the whole string lies.
struct SortEntry {
    var prefix: UInt64
    var offset: UInt32
    /// Position in the order of arrival, so that the sort is stable and the last change of one entry wins.
    var ordinal: UInt32

    /// The first eight bytes of a string in memcmp order, zero-filled.
    @inline(__always)
    static func prefix(_ bytes: UnsafeRawPointer, _ count: Int) -> UInt64 {
        if count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
        var value: UInt64 = 0
        for i in 0..<count { value |= UInt64(bytes.load(fromByteOffset: i, as: UInt8.self)) << UInt64(56 - 8 * i) }
        return value
    }
}
