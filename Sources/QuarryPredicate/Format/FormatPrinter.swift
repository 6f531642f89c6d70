import Foundation
import QuarryCoding

/// The condition as canonical format text. What the parser made parses back to the same tree; parts that only
/// `#Predicate` can spell are printed to be read.
package func printFormat(_ condition: Condition) -> String {
    var printer = FormatPrinter()
    printer.print(condition)
    return printer.text
}

struct FormatPrinter {
    var text = ""

    // MARK: Conditions

    mutating func print(_ condition: Condition) {
        switch condition {
        case .constant(let flag): text += flag ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .all(let parts): join(parts, " AND ", empty: "TRUEPREDICATE")
        case .any(let parts): join(parts, " OR ", empty: "FALSEPREDICATE")
        case .not(let part):
            text += "NOT "
            nested(part)
        case .compare(let comparison): print(comparison)
        case .quantified(let quantifier, let comparison):
            text += quantifier.keyword + " "
            print(comparison)
        case .truth(let operand):
            print(operand)
            text += " = YES"
        case .choice(let test, let first, let second):
            text += "TERNARY("
            print(test)
            text += ", "
            print(first)
            text += ", "
            print(second)
            text += ") = YES"
        case .elements(let quantifier, let operand, let variable, let satisfy):
            text += "SUBQUERY("
            print(operand)
            text += ", $\(variable.name), "
            if quantifier == .all { text += "NOT (" }
            print(satisfy)
            if quantifier == .all { text += ")" }
            text += ").@count \(quantifier == .any ? ">" : "=") 0"
        case .native(let native): text += "<\(native.summary)>"
        }
    }

    private mutating func join(_ parts: [Condition], _ separator: String, empty: String) {
        if parts.isEmpty { text += empty }
        for (i, part) in parts.enumerated() {
            if i > 0 { text += separator }
            nested(part)
        }
    }

    /// In parentheses where it is a compound.
    private mutating func nested(_ part: Condition) {
        switch part {
        case .all(let parts) where parts.count != 0, .any(let parts) where parts.count != 0:
            text += "("
            print(part)
            text += ")"
        case .not:
            text += "("
            print(part)
            text += ")"
        default: print(part)
        }
    }

    private mutating func print(_ comparison: Comparison) {
        print(comparison.left)
        text += " " + comparison.relation.symbol + comparison.options.suffix + " "
        print(comparison.right)
    }

    // MARK: Operands

    mutating func print(_ operand: Operand) {
        switch operand {
        case .constant(let constant): print(constant.value)
        case .field(let path):
            text += path.steps.isEmpty ? "SELF" : path.steps.map(FormatPrinter.key).joined(separator: ".")
        case .variable(let name, _): text += "$" + name
        case .element(let variable): text += "$" + variable.name
        case .step(let base, let step, _): print(base, step)
        case .list(let items): list(items.count, "{", "}") { $0.print(items[$1]) }
        case .call(let function, let operands, _, _): print(function, operands)
        case .ternary(let test, let first, let second):
            text += "TERNARY("
            print(test)
            text += ", "
            print(first)
            text += ", "
            print(second)
            text += ")"
        case .subquery(let operand, let variable, let condition):
            text += "SUBQUERY("
            print(operand)
            text += ", $\(variable.name), "
            print(condition)
            text += ")"
        case .ifPresent(let operand, let variable, let body):
            text += "IFPRESENT("
            print(operand)
            text += ", $\(variable.name), "
            print(body)
            text += ")"
        case .condition(let condition):
            text += "TERNARY("
            print(condition)
            text += ", YES, NO)"
        }
    }

    private mutating func print(_ base: Operand, _ step: Step) {
        switch base {
        // A path behind a path would read as one.
        case .call(let function, _, _, _) where FormatPrinter.infix[function] == nil && function != .negate: print(base)
        case .field, .step, .element, .variable, .subquery, .ternary, .list: print(base)
        case .constant(let constant):
            if case .string = constant.value { print(base) } else { parenthesized(base) }
        case .call: print(base)
        default: parenthesized(base)
        }
        switch step {
        case .key(let name): text += "." + FormatPrinter.key(name)
        case .subscripted(let index, _): bracket { $0.print(index) }
        case .subscriptedDefault(let index, let other):
            bracket {
                $0.print(index)
                $0.text += ", default: "
                $0.print(other)
            }
        case .slice(let from, let to, let isClosed):
            bracket {
                $0.print(from)
                $0.text += isClosed ? "..." : "..<"
                $0.print(to)
            }
        case .first: text += "[FIRST]"
        case .last: text += "[LAST]"
        case .size: text += "[SIZE]"
        case .collection(let name, let path):
            text += "." + "@" + name.rawValue
            if name != .count {
                text += "." + (path.isEmpty ? "#self" : path.map(FormatPrinter.key).joined(separator: "."))
            }
        case .length: text += ".length"
        case .count: text += ".@count"
        case .isEmpty: text += ".isEmpty"
        case .unwrapped: text += "!"
        }
    }

    private mutating func parenthesized(_ operand: Operand) {
        text += "("
        print(operand)
        text += ")"
    }

    private mutating func bracket(_ body: (inout FormatPrinter) -> Void) {
        text += "["
        body(&self)
        text += "]"
    }

    private mutating func list(
        _ count: Int, _ open: String, _ close: String, _ body: (inout FormatPrinter, Int) -> Void
    ) {
        text += open
        for i in 0..<count {
            if i > 0 { text += ", " }
            body(&self, i)
        }
        text += close
    }

    static let infix: [Function: String] = [
        .add: "+", .subtract: "-", .multiply: "*", .divide: "/", .raise: "**", .union: "UNION",
        .intersect: "INTERSECT", .minus: "MINUS", .coalesce: "??", .remainder: "%", .floatDivide: "/",
    ]

    private mutating func print(_ function: Function, _ operands: [Operand]) {
        if let symbol = FormatPrinter.infix[function], operands.count == 2 {
            text += "("
            if function == .raise, FormatPrinter.isNegative(operands[0]) {
                parenthesized(operands[0])
            } else {
                print(operands[0])
            }
            text += " \(symbol) "
            print(operands[1])
            text += ")"
            return
        }
        if function == .negate, let first = operands.first {
            text += "-"
            parenthesized(first)
            return
        }
        text += function.rawValue
        list(operands.count, "(", ")") { $0.print(operands[$1]) }
    }

    private static func isNegative(_ operand: Operand) -> Bool {
        guard case .constant(let constant) = operand, let number = constant.value.doubleValue else { return false }
        return number < 0
    }

    // MARK: Values and names

    private mutating func print(_ value: Value) {
        switch value {
        case .null: text += "NIL"
        case .bool(let flag): text += flag ? "YES" : "NO"
        case .int(let number): text += number == .min ? "-9223372036854775808" : String(number)
        case .uint(let number): text += String(number)
        case .double(let number):
            if number.isNaN {
                text += "CAST(\"nan\", \"NSNumber\")"
            } else if number.isInfinite {
                text += number < 0 ? "-1e999" : "1e999"
            } else {
                text += number.description
            }
        case .decimal(let number): text += "CAST(\"\(number)\", \"NSDecimalNumber\")"
        case .string(let string): text += FormatPrinter.quoted(string)
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            text +=
                seconds.isFinite
                ? "CAST(\(seconds), \"NSDate\")" : "CAST(\(seconds < 0 ? "-1e999" : "1e999"), \"NSDate\")"
        case .data(let data): text += "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .uuid(let uuid): text += "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        case .array(let elements): list(elements.count, "{", "}") { $0.print(elements[$1]) }
        case .set(let elements): list(elements.count, "CAST({", "}, \"NSSet\")") { $0.print(elements[$1]) }
        case .object: text += FormatPrinter.quoted(value.description)
        }
    }

    static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if scalar.value < 0x20 || scalar.value == 0x7F {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }

    static func key(_ name: String) -> String { Parser.reserved.contains(name.uppercased()) ? "#" + name : name }
}

extension Quantifier {
    var keyword: String {
        switch self {
        case .any: "ANY"
        case .all: "ALL"
        case .none: "NONE"
        }
    }
}

extension Relation {
    package var symbol: String {
        switch self {
        case .equal: "="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .between: "BETWEEN"
        case .isIn: "IN"
        case .contains: "CONTAINS"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .like: "LIKE"
        case .matches: "MATCHES"
        }
    }
}

extension TextOptions {
    /// `[cd]`, or nothing.
    var suffix: String {
        var letters = ""
        if contains(.caseInsensitive) { letters += "c" }
        if contains(.diacriticInsensitive) { letters += "d" }
        if contains(.normalized) { letters += "n" }
        if contains(.localeSensitive) { letters += "l" }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
