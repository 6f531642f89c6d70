import Foundation

extension RowEncoder {
    /// Fields without a Swift type as a row, valid until the encoder's next use. Nested objects become maps.
    package func encode(record: Value.Fields) throws -> UnsafeRawBufferPointer {
        var columns: [Column] = []
        columns.reserveCapacity(record.pairs.count)
        for pair in record.pairs {
            if pair.value.isNil { continue }
            guard !columns.contains(where: { $0.name == pair.name }) else {
                throw CodingFailure.corruptRow("the field \(pair.name) comes twice")
            }
            columns.append(Column(name: pair.name, packing: Packing(of: pair.value)))
        }
        let shape = try registry.shape(columns: columns)
        bytes.pointee.end = RowLayout.start
        let level = self.level(0)
        level.begin()
        level.openRow(shape)
        for pair in record.pairs {
            guard let slot = shape.slot(named: pair.name).map(EncodingSlot.init) else { continue }
            try level.put(slot, untyped: pair.value)
        }
        level.forgetContainer()
        if let failure {
            self.failure = nil
            throw failure
        }
        return seal()
    }
}

extension Packing {
    fileprivate init(of value: Value) {
        switch value {
        case .bool: self = .bool
        case .int: self = .int64
        case .uint: self = .uint64
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .date: self = .date
        case .data: self = .data
        case .uuid: self = .uuid
        case .null, .array, .set, .object: self = .any
        }
    }
}

extension EncodingLevel {
    fileprivate func put(_ slot: EncodingSlot, untyped value: Value) throws {
        switch value {
        case .bool(let value): put(slot, value ? UInt8(1) : 0)
        case .int(let value): put(slot, value)
        case .uint(let value): put(slot, value)
        case .double(let value): put(slot, value)
        case .date(let value): put(slot, value.timeIntervalSinceReferenceDate)
        case .uuid(let value): put(slot, value.uuid)
        case .string(let text): put(slot, text: text)
        case .decimal(let value):
            let bytes = state.pointee.bytes
            let at = bytes.pointee.end
            DecimalBytes.append(value, to: bytes)
            bytes.pointee.end = at
            (bytes.pointee.base + state.pointee.start + Int(slot.offset))
                .copyMemory(from: bytes.pointee.base + at, byteCount: 20)
            markPresent(slot)
        case .data, .array, .set, .object, .null:
            let bytes = state.pointee.bytes
            let at = bytes.pointee.end
            if slot.code == PayloadTag.any { bytes.append(UInt8(0)) }
            let kind = try write(untyped: value)
            if slot.code == PayloadTag.any { bytes.store(kind, at: at) }
            putReference(slot, offset: at - state.pointee.start, length: bytes.pointee.end - at, isPlain: false)
        }
    }

    /// Writes the payload of a value, without tag, at the end; tells its tag.
    func write(untyped value: Value, depth: Int = 0) throws -> UInt8 {
        let bytes = state.pointee.bytes
        switch value {
        case .null: return PayloadTag.null
        case .bool(let value): bytes.append(value ? UInt8(1) : 0)
        case .int(let value): bytes.append(value)
        case .uint(let value): bytes.append(value)
        case .double(let value): bytes.append(value)
        case .decimal(let value): DecimalBytes.append(value, to: bytes)
        case .string(let text): bytes.append(text: text)
        case .date(let value): bytes.append(value.timeIntervalSinceReferenceDate)
        case .data(let data): data.withUnsafeBytes { bytes.append(bytes: $0.baseAddress, count: $0.count) }
        case .uuid(let value): bytes.append(value.uuid)
        case .array(let elements), .set(let elements):
            try list(elements.count, depth) { try element(elements[$0], depth) }
            if case .set = value { return PayloadTag.set }
            return PayloadTag.list
        case .object(let fields):
            let pairs = fields.pairs.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            try list(pairs.count, depth) { i in
                bytes.append(UInt32(truncatingIfNeeded: pairs[i].name.utf8.count))
                bytes.append(text: pairs[i].name)
                try element(pairs[i].value, depth)
            }
            return PayloadTag.map
        }
        return Packing(of: value).rawValue
    }

    private func list(_ count: Int, _ depth: Int, _ body: (Int) throws -> Void) throws {
        guard depth + self.depth < RowLayout.depthLimit else { throw CodingFailure.tooMany("levels of nesting") }
        state.pointee.bytes.append(UInt32(truncatingIfNeeded: count))
        for i in 0..<count { try body(i) }
    }

    private func element(_ value: Value, _ depth: Int) throws {
        let bytes = state.pointee.bytes
        let at = bytes.pointee.end
        bytes.append(UInt8(0))
        bytes.append(UInt32(0))
        close(try write(untyped: value, depth: depth + 1), at: at)
    }
}
