import Foundation

/// The forms in which text is compared: NFC, and folded NFC.
package enum TextFolding {
    /// Whether the text is its own NFC and its Characters are its bytes: ASCII without CR.
    @inline(__always)
    package static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes where byte >= 0x80 || byte == 0x0D { return false }
        return true
    }

    /// Whether a look at the bytes shows that the text is its own NFC: scripts without combining marks, CJK among them.
    /// False says nothing.
    package static func isSurelyComposed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var i = 0
        while i < bytes.count {
            let byte = bytes[i]
            if byte < 0x80 {
                i &+= 1
            } else if byte < 0xCC, byte >= 0xC2, i &+ 1 < bytes.count {
                // Up to U+02FF: Latin letters, all composed.
                i &+= 2
            } else if byte >= 0xE5, byte <= 0xE9, i &+ 2 < bytes.count {
                // U+5000 to U+9FFF: Han.
                i &+= 3
            } else if byte == 0xE4, i &+ 2 < bytes.count, bytes[i &+ 1] >= 0xB8 {
                // U+4E00 to U+4FFF: Han.
                i &+= 3
            } else {
                return false
            }
        }
        return true
    }

    /// The canonical composition. Equal texts have equal bytes then.
    package static func composed(_ text: String) -> String {
        isASCII(text) ? text : text.precomposedStringWithCanonicalMapping
    }

    /// The text in the form that these options compare, composed.
    package static func folded(_ text: String, _ options: TextOptions) -> String {
        if options.contains(.normalized) || options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive]) {
            return composed(text)
        }
        if isASCII(text) { return options.contains(.caseInsensitive) ? text.lowercased() : text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            if options.contains(.diacriticInsensitive), isMark(scalar) { continue }
            if options.contains(.caseInsensitive) {
                fold(scalar, into: &scalars)
            } else {
                scalars.append(scalar)
            }
        }
        return String(scalars).precomposedStringWithCanonicalMapping
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: scalar.value >= 0x300
        default: false
        }
    }

    /// Full case folding by way of the case mappings: lower, upper, lower meets every pair of CaseFolding.txt's C and F
    /// (capital sharp s needs the first step). The dotless i has no fold of its own and is left alone.
    private static func fold(_ scalar: Unicode.Scalar, into result: inout String.UnicodeScalarView) {
        if scalar.isASCII {
            result.append(
                scalar.value >= 0x41 && scalar.value <= 0x5A ? Unicode.Scalar(UInt8(scalar.value) + 0x20) : scalar)
            return
        }
        guard scalar.value != 0x131, scalar.properties.isCased || scalar.properties.changesWhenCaseFolded else {
            result.append(scalar)
            return
        }
        for low in scalar.properties.lowercaseMapping.unicodeScalars {
            for up in low.properties.uppercaseMapping.unicodeScalars {
                result.append(contentsOf: up.properties.lowercaseMapping.unicodeScalars)
            }
        }
    }
}
