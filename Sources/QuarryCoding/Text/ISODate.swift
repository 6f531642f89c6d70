import Foundation

/// Dates as ISO 8601 text in UTC: `2013-01-01T05:00:00Z`, with a fraction where there is one.
package enum ISODate {
    /// Seconds from 1970 to Foundation's reference date.
    private static let epoch = 978_307_200.0

    /// The date as text; exact to the microsecond. Dates beyond the years 0001 to 9999 are seconds since 2001.
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate + epoch
        guard seconds.isFinite, seconds >= -62_135_596_800, seconds < 253_402_300_800 else {
            return "\(date.timeIntervalSinceReferenceDate) s since 2001"
        }
        var whole = seconds.rounded(.down)
        var micros = Int(((seconds - whole) * 1_000_000).rounded())
        if micros == 1_000_000 {
            whole += 1
            micros = 0
        }
        let total = Int(whole)
        let days = total >= 0 ? total / 86_400 : (total - 86_399) / 86_400
        let rest = total - days * 86_400
        let (year, month, day) = civil(days)
        func pad(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        var text = pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + "T"
        text += pad(rest / 3600, 2) + ":" + pad(rest / 60 % 60, 2) + ":" + pad(rest % 60, 2)
        if micros > 0 {
            var fraction = pad(micros, 6)
            while fraction.hasSuffix("0") { fraction.removeLast() }
            text += "." + fraction
        }
        return text + "Z"
    }

    /// The date that the whole text spells: a day, or a day and a time with `Z` or an offset (UTC without one).
    package static func parse(_ text: String) -> Date? {
        var bytes = Array(text.utf8)[...]
        func digits(_ count: Int) -> Int? {
            guard bytes.count >= count else { return nil }
            var number = 0
            for byte in bytes.prefix(count) {
                guard byte >= 48, byte <= 57 else { return nil }
                number = number * 10 + Int(byte - 48)
            }
            bytes = bytes.dropFirst(count)
            return number
        }
        func take(_ character: Character) -> Bool {
            guard let byte = bytes.first, byte == character.asciiValue else { return false }
            bytes = bytes.dropFirst()
            return true
        }
        guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2),
            (1...12).contains(month), day >= 1, day <= length(month, year)
        else { return nil }
        var seconds = Double(days(year, month, day)) * 86_400
        if !bytes.isEmpty {
            guard take("T") || take("t") || take(" "), let hour = digits(2), take(":"), let minute = digits(2) else {
                return nil
            }
            var second = 0
            var fraction = 0.0
            if take(":") {
                guard let found = digits(2) else { return nil }
                second = found
                if take(".") || take(",") {
                    let figures = bytes.prefix { $0 >= 48 && $0 <= 57 }
                    guard !figures.isEmpty, let value = Double("0." + String(decoding: figures, as: UTF8.self)) else {
                        return nil
                    }
                    fraction = value
                    bytes = bytes.dropFirst(figures.count)
                }
            }
            guard hour < 24, minute < 60, second < 60 else { return nil }
            seconds += Double(hour * 3600 + minute * 60 + second) + fraction
            if !bytes.isEmpty, !take("Z"), !take("z") {
                let sign = take("+") ? 1 : take("-") ? -1 : 0
                guard sign != 0, let hours = digits(2), hours < 24 else { return nil }
                _ = take(":")
                let minutes = bytes.isEmpty ? 0 : digits(2) ?? 60
                guard minutes < 60 else { return nil }
                seconds -= Double(sign * (hours * 3600 + minutes * 60))
            }
            guard bytes.isEmpty else { return nil }
        }
        return Date(timeIntervalSinceReferenceDate: seconds - epoch)
    }

    private static func length(_ month: Int, _ year: Int) -> Int {
        if month == 2 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    // Days of the proleptic Gregorian calendar, counted in eras of 400 years that begin in March.

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let z = days + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
