import Foundation
import QuarryCoding

/// Finding texts in texts, by Characters. Both sides come in the form that is compared.
enum TextMatching {
    // MARK: Parts

    static func contains(_ text: String, _ needle: String) -> Bool { find(needle, in: text) { _, _ in true } }

    static func begins(_ text: String, _ needle: String) -> Bool {
        find(needle, in: text, stopsAfterFirst: true) { start, _ in start == 0 }
    }

    static func ends(_ text: String, _ needle: String) -> Bool {
        let length = text.utf8.count
        return find(needle, in: text, from: length - needle.utf8.count) { _, end in end == length }
    }

    /// Whether the needle stands somewhere in the text, from one Character boundary to another, where `accept` likes it.
    private static func find(
        _ needle: String, in text: String, from first: Int = 0, stopsAfterFirst: Bool = false,
        _ accept: (_ start: Int, _ end: Int) -> Bool
    ) -> Bool {
        if needle.isEmpty { return true }
        var text = text
        var needle = needle
        let matches: [Int] = text.withUTF8 { t in
            needle.withUTF8 { n in
                places(
                    UnsafeRawBufferPointer(n), UnsafeRawBufferPointer(t), from: first, only: stopsAfterFirst ? 0 : nil)
            }
        }
        let isPlain = text.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D }
        for start in matches {
            let end = start + needle.utf8.count
            guard accept(start, end) else { continue }
            if isPlain || (isBoundary(start, text) && isBoundary(end, text)) { return true }
        }
        return false
    }

    /// Where the needle's bytes stand.
    private static func places(
        _ needle: UnsafeRawBufferPointer, _ text: UnsafeRawBufferPointer, from first: Int, only: Int?
    ) -> [Int] {
        var found: [Int] = []
        guard let n = needle.baseAddress, let t = text.baseAddress else { return found }
        var place = max(first, 0)
        while place + needle.count <= text.count {
            if let only, place > only { break }
            if only != nil {
                if memcmp(t + place, n, needle.count) == 0 { found.append(place) }
                break
            }
            guard let at = search(t, text.count, n, needle.count, from: place) else { break }
            found.append(at)
            place = at + 1
        }
        return found
    }

    private static func isBoundary(_ offset: Int, _ text: String) -> Bool {
        let index = text.utf8.index(text.utf8.startIndex, offsetBy: offset)
        return index == text.endIndex || String.Index(index, within: text) != nil
    }

    /// `contains` on bytes that are their own Characters.
    @inline(__always)
    static func contains(plain text: UnsafeRawBufferPointer, _ needle: UnsafeRawBufferPointer) -> Bool {
        guard needle.count <= text.count else { return false }
        guard let t = text.baseAddress, let n = needle.baseAddress else { return needle.isEmpty }
        return search(t, text.count, n, needle.count, from: 0) != nil
    }

    /// Looks for the needle's first byte, then compares the rest. The needle has a byte at least.
    @inline(__always)
    private static func search(
        _ text: UnsafeRawPointer, _ length: Int, _ needle: UnsafeRawPointer, _ size: Int, from first: Int
    ) -> Int? {
        guard size > 0 else { return first }
        let head = Int32(needle.load(as: UInt8.self))
        var place = first
        while place &+ size <= length {
            guard let next = memchr(text + place, head, length &- size &- place &+ 1) else { return nil }
            let at = text.distance(to: UnsafeRawPointer(next))
            if memcmp(next, needle, size) == 0 { return at }
            place = at &+ 1
        }
        return nil
    }

    // MARK: LIKE

    enum Piece: Equatable {
        case one(Character)
        case anyOne, anyRun
    }

    /// A LIKE pattern: `*` any run, `?` one Character, a backslash takes the next as it is.
    static func pieces(_ pattern: String) -> [Piece] {
        var pieces: [Piece] = []
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                pieces.append(.one(character))
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "*" {
                if pieces.last != .anyRun { pieces.append(.anyRun) }
            } else {
                pieces.append(character == "?" ? .anyOne : .one(character))
            }
        }
        if isEscaped { pieces.append(.one("\\")) }
        return pieces
    }

    /// Whether the whole text matches. At most length × pieces steps.
    static func like(_ text: String, _ pieces: [Piece]) -> Bool {
        let characters = Array(text)
        var i = 0
        var j = 0
        var star = -1
        var mark = 0
        while i < characters.count {
            if j < pieces.count, pieces[j] == .anyRun {
                star = j
                mark = i
                j += 1
            } else if j < pieces.count, pieces[j] == .anyOne || pieces[j] == .one(characters[i]) {
                i += 1
                j += 1
            } else if star >= 0 {
                // Let the last star take one more.
                j = star + 1
                mark += 1
                i = mark
            } else {
                return false
            }
        }
        while j < pieces.count, pieces[j] == .anyRun { j += 1 }
        return j == pieces.count
    }
}
