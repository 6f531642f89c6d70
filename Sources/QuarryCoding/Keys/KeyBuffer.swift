/// The bytes of a key while it is written, in memory that is used again for the next one.
///
/// Holds its memory by hand, because an array would be bounds-checked and copied in the innermost loop of a load. The
/// memory is not shared: a copy that is written to gets its own.
package struct KeyBuffer {
    private final class Storage {
        var base: UnsafeMutableRawPointer
        var capacity: Int
        init(capacity: Int) {
            self.capacity = capacity
            base = .allocate(byteCount: capacity, alignment: 8)
        }
        deinit { base.deallocate() }
    }
    private var storage = Storage(capacity: 64)
    package private(set) var count = 0

    package init() {}

    /// Valid until the buffer is next written to or goes away.
    @inline(__always)
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage.base, count: count) }

    package var array: [UInt8] { withExtendedLifetime(storage) { Array(bytes) } }

    @inline(__always)
    package mutating func reset() { count = 0 }

    package mutating func truncate(to length: Int) { count = min(count, length) }

    /// Room for `size` bytes at the end; the caller fills all of it.
    @inline(__always)
    mutating func extend(by size: Int) -> UnsafeMutableRawPointer {
        if count &+ size > storage.capacity || !isKnownUniquelyReferenced(&storage) { grow(size) }
        let place = storage.base + count
        count &+= size
        return place
    }

    @inline(never)
    private mutating func grow(_ size: Int) {
        let larger = Storage(capacity: max(storage.capacity * 2, count + size))
        larger.base.copyMemory(from: storage.base, byteCount: count)
        storage = larger
    }

    @inline(__always)
    package mutating func append(_ byte: UInt8) { extend(by: 1).storeBytes(of: byte, as: UInt8.self) }

    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        extend(by: bytes.count).copyMemory(from: source, byteCount: bytes.count)
    }

    @inline(__always)
    mutating func append(bigEndian value: UInt64) {
        extend(by: 8).storeBytes(of: value.bigEndian, as: UInt64.self)
    }

    /// Puts a byte over one that has been written.
    @inline(__always)
    mutating func set(_ byte: UInt8, at place: Int) {
        if !isKnownUniquelyReferenced(&storage) { grow(0) }
        storage.base.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
    }
}
