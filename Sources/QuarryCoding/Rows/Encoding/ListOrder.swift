/// Rearranges the elements of a list or map that has been written.
enum ListOrder {
    /// Puts the elements of a set, the pairs of a dictionary or the entries of a map in the order of their bytes, so
    /// that equal values have equal bytes.
    static func sort(_ state: UnsafeMutablePointer<EncodingState>, isMap: Bool) {
        let bytes = state.pointee.bytes
        let first = state.pointee.start + 4
        let whole = UnsafeRawBufferPointer(start: bytes.pointee.base + first, count: bytes.pointee.end - first)
        var parts: [Range<Int>] = []
        var place = 0
        let stride = state.pointee.trait == pairs && !isMap ? 2 : 1
        for _ in 0..<(state.pointee.count / stride) {
            let start = place
            if isMap { place += 4 + Int(whole.loadUnaligned(fromByteOffset: place, as: UInt32.self)) }
            for _ in 0..<stride { skip(whole, &place) }
            parts.append(start..<place)
        }
        func precedes(_ a: Range<Int>, _ b: Range<Int>) -> Bool {
            // A map compares its keys alone, whose length comes first.
            let x = isMap ? key(whole, a) : UnsafeRawBufferPointer(rebasing: whole[a])
            let y = isMap ? key(whole, b) : UnsafeRawBufferPointer(rebasing: whole[b])
            return x.lexicographicallyPrecedes(y)
        }
        var isSorted = true
        for i in parts.indices.dropFirst() where precedes(parts[i], parts[i - 1]) { isSorted = false }
        if isSorted { return }
        parts.sort(by: precedes)
        var sorted: [UInt8] = []
        sorted.reserveCapacity(whole.count)
        for part in parts { sorted += whole[part] }
        sorted.withUnsafeBytes { UnsafeMutableRawBufferPointer(mutating: whole).copyMemory(from: $0) }
    }

    static let pairs: UInt8 = 1

    private static func key(_ whole: UnsafeRawBufferPointer, _ part: Range<Int>) -> UnsafeRawBufferPointer {
        let length = Int(whole.loadUnaligned(fromByteOffset: part.lowerBound, as: UInt32.self))
        return UnsafeRawBufferPointer(rebasing: whole[(part.lowerBound + 4)..<(part.lowerBound + 4 + length)])
    }

    private static func skip(_ whole: UnsafeRawBufferPointer, _ place: inout Int) {
        let tag = whole[place]
        if let size = PayloadTag.size(tag) {
            place += 1 + size
        } else {
            place += 5 + Int(whole.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self))
        }
    }

    /// Puts the values of nested containers where they were asked for.
    static func replacePlaceholders(_ state: UnsafeMutablePointer<EncodingState>, _ payloads: [[UInt8]]) {
        let bytes = state.pointee.bytes
        let first = state.pointee.start + 4
        let whole = Array(UnsafeRawBufferPointer(start: bytes.pointee.base + first, count: bytes.pointee.end - first))
        bytes.pointee.end = first
        whole.withUnsafeBytes { whole in
            var place = 0
            for _ in 0..<state.pointee.count {
                let start = place
                if state.pointee.kind == PayloadTag.map {
                    place += 4 + Int(whole.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                }
                let value = place
                skip(whole, &place)
                let isPlaceholder = whole[value] == PayloadTag.placeholder
                let kept = UnsafeRawBufferPointer(rebasing: whole[start..<(isPlaceholder ? value : place)])
                bytes.append(bytes: kept.baseAddress, count: kept.count)
                if isPlaceholder {
                    let index = Int(whole.loadUnaligned(fromByteOffset: value + 1, as: UInt32.self))
                    payloads[index].withUnsafeBytes { bytes.append(bytes: $0.baseAddress, count: $0.count) }
                }
            }
        }
    }
}
