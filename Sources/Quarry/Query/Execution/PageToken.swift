import Foundation
import QuarryCoding

/// Where a page ended: the values it was sorted by and the id of its last row.
///
/// The next page begins after that place whatever rows have come or gone since. `Codable` as one string, which can be
/// sent to a client and come back; a token of another sort or entity is refused.
public struct PageToken: Codable, Hashable, Sendable, CustomStringConvertible {
    /// The sort key's components, before direction and nil placement.
    let components: [[UInt8]]
    let id: [UInt8]
    /// Of the entity and its sort.
    let fingerprint: UInt64

    init(components: [[UInt8]], id: [UInt8], fingerprint: UInt64) {
        self.components = components
        self.id = id
        self.fingerprint = fingerprint
    }

    /// The token as text: letters, digits, `-` and `_`.
    public var description: String {
        var bytes: [UInt8] = [PageToken.version]
        func append(_ part: [UInt8]) {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.count).littleEndian) { bytes += $0 }
            bytes += part
        }
        withUnsafeBytes(of: fingerprint.littleEndian) { bytes += $0 }
        append(id)
        for component in components { append(component) }
        return Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static let version: UInt8 = 1

    /// A token from its text; nil when it is none.
    public init?(_ text: String) {
        var base = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while base.utf8.count % 4 != 0 { base += "=" }
        guard let data = Data(base64Encoded: base), data.count >= 13, data[0] == PageToken.version else { return nil }
        let bytes = [UInt8](data)
        var number: UInt64 = 0
        for i in 0..<8 { number |= UInt64(bytes[1 + i]) << UInt64(8 * i) }
        var parts: [[UInt8]] = []
        var at = 9
        while at < bytes.count {
            guard bytes.count - at >= 4 else { return nil }
            var length = 0
            for i in 0..<4 { length |= Int(bytes[at + i]) << (8 * i) }
            at += 4
            guard length <= bytes.count - at else { return nil }
            parts.append(Array(bytes[at..<at + length]))
            at += length
        }
        guard let id = parts.first, !id.isEmpty, id.count <= 511, !parts.contains([]) else { return nil }
        self.init(components: Array(parts.dropFirst()), id: id, fingerprint: number)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = PageToken(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a page token")
        }
        self = token
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Refuses a token that another sort or entity has made.
    func check(_ sort: [SortTerm], _ table: EntityTable) throws {
        let order = RequiredOrder(sort, idPath: table.idPath)
        guard fingerprint == order.fingerprint(table.name), components.count == order.terms.count else {
            throw QuarryError.invalidArgument(
                "the page token was made by a query with another sort or entity; begin without a token")
        }
    }
}

extension RequiredOrder {
    /// FNV-1a over the entity and the sort.
    func fingerprint(_ entity: String) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01b3
        }
        mix(entity)
        mix(idsDescending ? "v" : "^")
        for term in terms {
            for step in term.path { mix(step) }
            mix("\(term.options.folding.rawValue) \(term.descending) \(term.nilsLast)")
        }
        return hash
    }
}
