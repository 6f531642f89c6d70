import Foundation

/// The container of keys that are made at run time, in a row that keys of one byte have begun: a subclass with them.
///
/// Each value goes into a child of its own, under the name of its key.
struct RowStringKeyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let level: EncodingLevel
    init(_ level: EncodingLevel) { self.level = level }

    var codingPath: [any CodingKey] { [] }

    private func child(_ name: String) -> EncodingLevel { level.makeChild(named: name) }

    func encodeNil(forKey key: Key) throws { child(key.stringValue).state.pointee.kind = PayloadTag.null }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try SingleEncoding(child(key.stringValue)).encode(value)
    }
    func nestedContainer<N: CodingKey>(keyedBy type: N.Type, forKey key: Key) -> KeyedEncodingContainer<N> {
        child(key.stringValue).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key.stringValue).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { child("super") }
    func superEncoder(forKey key: Key) -> any Encoder { child(key.stringValue) }
}

extension EncodingLevel {
    /// A child in a column of its own, whatever it holds.
    func makeChild(named name: String) -> EncodingLevel {
        if let slot = shape?.slot(named: name), slot.packing == .any { return makeChild(at: EncodingSlot(slot)) }
        if let keys { encoder.need(Column(name: name, packing: .any), for: keys) }
        return makeChild(at: .unresolved)
    }
}
