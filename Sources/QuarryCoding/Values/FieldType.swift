/// The logical type of a stored field. Widths and packing are the row format's business.
public enum FieldType: String, Sendable, Hashable, Codable, CaseIterable {
    case bool, int, uint, double, decimal, string, date, data, uuid
    /// A list (`Array`), a `Set`, or a nested keyed value (struct, dictionary, payload enum).
    case array, set, object
    /// Values of different types were written under one name.
    case any
}
