/// Hands out the probe's values.
struct ProbeDecoder: Decoder {
    let probe: ProbeRun
    let path: [String]
    /// Collections have no elements.
    var isEmpty = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedDecodingContainer<K> {
        probe.note(path, .object)
        return KeyedDecodingContainer(ProbeKeyed<K>(probe: probe, path: path, isEmpty: isEmpty))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        probe.note(path, .array)
        return ProbeList(probe: probe, path: path, isEmpty: isEmpty)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeSingle(probe: probe, path: path) }
}

private struct ProbeKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: ProbeRun
    let path: [String]
    let isEmpty: Bool

    var codingPath: [any CodingKey] { [] }

    /// Keys of a dictionary may be anything; there is one for each run.
    var allKeys: [Key] {
        guard !isEmpty, !(_isPOD(Key.self) && MemoryLayout<Key>.size <= 1) else { return [] }
        return [Key(stringValue: "\(probe.pass)")].compactMap { $0 }
    }

    private var isDictionary: Bool { !(_isPOD(Key.self) && MemoryLayout<Key>.size <= 1) && Int(path.count) > 0 }

    private func step(_ key: Key) -> [String] {
        // A dictionary's values are no fields.
        path
            + (isDictionary && Int(key.stringValue) == probe.pass
                ? [ProbeRun.element, key.stringValue] : [key.stringValue])
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try probe.value(type, step(key)) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        probe.markOptional(step(key))
        // An optional of a type that takes nothing made up is nil.
        return try? probe.value(type, step(key))
    }

    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) throws -> KeyedDecodingContainer<N> {
        ProbeDecoder(probe: probe, path: step(key)).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        ProbeDecoder(probe: probe, path: step(key)).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { ProbeDecoder(probe: probe, path: path + ["super"]) }
    func superDecoder(forKey key: Key) throws -> any Decoder { ProbeDecoder(probe: probe, path: step(key)) }
}

/// A list of one element.
private struct ProbeList: UnkeyedDecodingContainer {
    let probe: ProbeRun
    let path: [String]
    let isEmpty: Bool
    private(set) var currentIndex = 0

    init(probe: ProbeRun, path: [String], isEmpty: Bool) {
        self.probe = probe
        self.path = path
        self.isEmpty = isEmpty
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { isEmpty ? 0 : 1 }
    var isAtEnd: Bool { currentIndex >= (count ?? 0) }
    private var step: [String] { path + [ProbeRun.element] }

    private mutating func advance() throws {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Any.self, DecodingError.Context(codingPath: [], debugDescription: "the list has one element"))
        }
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try advance()
        return try probe.value(type, step)
    }
    mutating func nestedContainer<N: CodingKey>(keyedBy type: N.Type) throws -> KeyedDecodingContainer<N> {
        try advance()
        return ProbeDecoder(probe: probe, path: step).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try advance()
        return ProbeDecoder(probe: probe, path: step).unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder {
        try advance()
        return ProbeDecoder(probe: probe, path: step)
    }
}

private struct ProbeSingle: SingleValueDecodingContainer {
    let probe: ProbeRun
    let path: [String]

    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try probe.value(type, path) }
}
