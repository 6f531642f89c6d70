/// Rows to be sorted: their sort keys and ids, and where the row lies while that is known.
///
/// With a limit it is a heap of the first rows so far, and takes memory for those alone.
struct SortBuffer: ~Copyable {
    /// Record: u32 length of the sort key, u32 of the id, u64 address and u64 length of the row, sort key, id.
    private static let header = 24

    private struct Item {
        var prefix: UInt64
        var offset: Int
    }
    private var items: [Item] = []
    private var arena = EntryArena()
    private var live = 0
    private let limit: Int
    private let idsDescending: Bool

    init(limit: Int = .max, idsDescending: Bool) {
        self.limit = limit
        self.idsDescending = idsDescending
    }

    var count: Int { items.count }

    /// Rows whose sort key's first eight bytes are larger need not be offered.
    var bound: UInt64 { items.count < limit ? .max : items.first?.prefix ?? .max }

    struct Record {
        var key: UnsafeRawBufferPointer
        var id: UnsafeRawBufferPointer
        /// Nil address: fetch it by its id.
        var row: UnsafeRawBufferPointer

        init(_ place: UnsafeRawPointer) {
            let keyLength = Int(place.loadUnaligned(as: UInt32.self))
            let idLength = Int(place.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            let address = UInt(place.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            let length = Int(place.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            key = UnsafeRawBufferPointer(start: place + SortBuffer.header, count: keyLength)
            id = UnsafeRawBufferPointer(start: place + SortBuffer.header + keyLength, count: idLength)
            row = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: address == 0 ? 0 : length)
        }
    }

    /// The record at a position; in order once `sort` has run.
    subscript(i: Int) -> Record { Record(UnsafeRawPointer(arena.base) + items[i].offset) }

    /// Takes a row, or turns it away when enough come before it.
    @inline(__always)
    mutating func offer(
        key: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer, row: UnsafeRawBufferPointer
    ) {
        if limit == 0 { return }
        let prefix = key.baseAddress.map { SortEntry.prefix($0, key.count) } ?? 0
        if items.count < limit {
            items.append(Item(prefix: prefix, offset: store(key, id, row)))
            if limit < .max { siftUp(items.count - 1) }
            return
        }
        if prefix > items[0].prefix { return }
        let worst = self[0]
        if prefix == items[0].prefix {
            let order = compareKeys(key, worst.key)
            if order > 0 { return }
            if order == 0 {
                let ids = compareKeys(id, worst.id)
                if idsDescending ? ids < 0 : ids > 0 { return }
            }
        }
        live -= Self.header + worst.key.count + worst.id.count
        items[0] = Item(prefix: prefix, offset: store(key, id, row))
        siftDown(0)
        if arena.count > 1 << 16, arena.count > 4 * live { compact() }
    }

    private mutating func store(
        _ key: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer
    ) -> Int {
        let offset = arena.count
        let place = arena.extend(by: Self.header)
        place.storeBytes(of: UInt32(truncatingIfNeeded: key.count), as: UInt32.self)
        place.storeBytes(of: UInt32(truncatingIfNeeded: id.count), toByteOffset: 4, as: UInt32.self)
        place.storeBytes(of: UInt64(UInt(bitPattern: row.baseAddress)), toByteOffset: 8, as: UInt64.self)
        place.storeBytes(of: UInt64(row.count), toByteOffset: 16, as: UInt64.self)
        arena.append(key)
        arena.append(id)
        live += Self.header + key.count + id.count
        return offset
    }

    private mutating func compact() {
        var fresh = EntryArena()
        for i in items.indices {
            let record = self[i]
            let length = Self.header + record.key.count + record.id.count
            let place = UnsafeRawPointer(arena.base) + items[i].offset
            items[i].offset = fresh.count
            fresh.append(UnsafeRawBufferPointer(start: place, count: length))
        }
        arena = fresh
    }

    @inline(__always)
    private static func precedes(_ a: Item, _ b: Item, _ base: UnsafeRawPointer, _ idsDescending: Bool) -> Bool {
        if a.prefix != b.prefix { return a.prefix < b.prefix }
        let x = Record(base + a.offset)
        let y = Record(base + b.offset)
        let order = compareKeys(x.key, y.key)
        if order != 0 { return order < 0 }
        let ids = compareKeys(x.id, y.id)
        return idsDescending ? ids > 0 : ids < 0
    }

    private func precedes(_ a: Item, _ b: Item) -> Bool {
        SortBuffer.precedes(a, b, UnsafeRawPointer(arena.base), idsDescending)
    }

    private mutating func siftUp(_ start: Int) {
        var i = start
        while i > 0, precedes(items[(i - 1) / 2], items[i]) {
            items.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var i = start
        while true {
            var largest = i
            for child in [2 * i + 1, 2 * i + 2] where child < items.count && precedes(items[largest], items[child]) {
                largest = child
            }
            if largest == i { return }
            items.swapAt(i, largest)
            i = largest
        }
    }

    mutating func sort() {
        let base = UnsafeRawPointer(arena.base)
        let idsDescending = idsDescending
        items.sort { SortBuffer.precedes($0, $1, base, idsDescending) }
    }
}
