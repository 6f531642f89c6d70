import QuarryCoding
import QuarryLMDB
import QuarryPredicate

/// One field of an index.
package struct IndexComponent: Hashable, Sendable {
    /// Coding keys from the row.
    package var path: [String]
    package var options: TextOptions
    /// One entry for each distinct element of a collection.
    package var isEach: Bool
    /// What the entries hold; `.any` while several types were written.
    package var type: FieldType
}

/// What an index covers.
package struct IndexDefinition: Hashable, Sendable {
    package var name: String
    package var components: [IndexComponent]
    package var isUnique: Bool

    /// Bytes of text that each component may take, so that a whole key fits LMDB's limit.
    package var textBudget: Int { 480 / max(components.count, 1) - 12 }
}

/// An index and its opened table: key = components, duplicate values = primary keys.
package struct IndexTable: Sendable {
    package let definition: IndexDefinition
    package let database: Database
    /// Whether the primary keys have one length and are packed page by page.
    package let isFixedWidth: Bool
}

/// An entity's opened tables. Made anew when the catalogue changes, and compared by identity.
package final class EntityTable: Sendable {
    package let name: String
    package let database: Database
    /// The stored field behind the id; nil when the id has several.
    package let idPath: [String]?
    package let idType: FieldType?
    package let indexes: [IndexTable]
    package let fields: FieldCatalog
    package let isFixedWidthKey: Bool
    /// The catalogue's stamp it was opened under.
    package let stamp: UInt64

    package init(
        name: String, database: Database, idPath: [String]?, idType: FieldType?, indexes: [IndexTable],
        fields: FieldCatalog, isFixedWidthKey: Bool, stamp: UInt64
    ) {
        self.name = name
        self.database = database
        self.idPath = idPath
        self.idType = idType
        self.indexes = indexes
        self.fields = fields
        self.isFixedWidthKey = isFixedWidthKey
        self.stamp = stamp
    }

    /// A primary key for people.
    package func idDescription(_ key: UnsafeRawBufferPointer) -> String {
        KeyCoder.primaryKeyValue(key, type: idType).description
    }
}
