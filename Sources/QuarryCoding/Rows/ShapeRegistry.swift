internal import Synchronization

/// The shapes that a store's rows have, by number. Only grows, but for a rollback of what a transaction added.
///
/// Unchecked, because readers look shapes up in plain memory: a page of the table is published with release order before
/// any row names its shapes, and shapes live as long as the registry.
package final class ShapeRegistry: @unchecked Sendable {
    private typealias Page = UnsafeMutablePointer<Unmanaged<Shape>?>
    private static let pageSize = 256
    private let pages = UnsafeMutablePointer<Page?>.allocate(capacity: 256)
    private let length = Atomic<Int>(0)
    private let rollbacks = Atomic<Int>(0)

    private struct State {
        var byColumns: [[Column]: Shape] = [:]
        /// In order of number; nil where a number is not known yet.
        var shapes: [Shape?] = []
        /// Shapes that were rolled back: a reader may hold one still.
        var retired: [Shape] = []
    }
    private let state = Mutex(State())

    package init() { pages.initialize(repeating: nil, count: 256) }

    deinit {
        for i in 0..<256 { pages[i]?.deallocate() }
        pages.deallocate()
    }

    package var count: Int { length.load(ordering: .acquiring) }

    /// Grows with each rollback, so that coders forget shapes that are no more.
    var generation: Int { rollbacks.load(ordering: .acquiring) }

    /// The shape of this number; nil while it is unknown.
    @inline(__always)
    func unretained(_ id: UInt16) -> Unmanaged<Shape>? {
        guard Int(id) < length.load(ordering: .acquiring), let page = pages[Int(id) >> 8] else { return nil }
        return page[Int(id) & 0xFF]
    }

    package func shape(_ id: UInt16) -> Shape? { unretained(id)?.takeUnretainedValue() }

    /// The shape with these columns, added if it is new.
    func shape(columns: [Column]) throws -> Shape {
        try state.withLock { state in
            if let known = state.byColumns[columns] { return known }
            guard state.shapes.count < Int(UInt16.max) else {
                throw CodingFailure.tooMany("65535 kinds of rows in one store")
            }
            let shape = try Shape(id: UInt16(state.shapes.count), columns: columns)
            add(shape, &state)
            return shape
        }
    }

    /// Makes a shape from the catalogue known under its number.
    ///
    /// - Throws: `CodingFailure.corruptRow` when the number stands for other columns.
    package func load(id: UInt16, columns: [Column]) throws {
        try state.withLock { state in
            if Int(id) < state.shapes.count, let known = state.shapes[Int(id)] {
                if known.columns == columns { return }
                throw CodingFailure.corruptRow("the shape \(id) has other columns in the catalogue than in memory")
            }
            add(try Shape(id: id, columns: columns), &state)
        }
    }

    private func add(_ shape: Shape, _ state: inout State) {
        let place = Int(shape.id)
        while state.shapes.count <= place { state.shapes.append(nil) }
        state.shapes[place] = shape
        if state.byColumns[shape.columns] == nil { state.byColumns[shape.columns] = shape }
        let page: Page
        if let known = pages[place >> 8] {
            page = known
        } else {
            page = .allocate(capacity: Self.pageSize)
            page.initialize(repeating: nil, count: Self.pageSize)
            pages[place >> 8] = page
        }
        page[place & 0xFF] = Unmanaged.passUnretained(shape)
        if state.shapes.count > length.load(ordering: .relaxed) {
            length.store(state.shapes.count, ordering: .releasing)
        }
    }

    // MARK: Transactions

    /// How many shapes there were.
    package struct Mark: Sendable { fileprivate let count: Int }

    package func mark() -> Mark { Mark(count: count) }

    /// The shapes that were added after the mark.
    package func shapes(since mark: Mark) -> [Shape] {
        state.withLock { state in state.shapes.dropFirst(mark.count).compactMap { $0 } }
    }

    /// Forgets the shapes that were added after the mark: the transaction that would have stored them has failed.
    package func rollback(to mark: Mark) {
        state.withLock { state in
            guard state.shapes.count > mark.count else { return }
            for shape in state.shapes[mark.count...].compactMap({ $0 }) {
                if state.byColumns[shape.columns] === shape { state.byColumns[shape.columns] = nil }
                pages[Int(shape.id) >> 8]?[Int(shape.id) & 0xFF] = nil
                state.retired.append(shape)
            }
            state.shapes.removeLast(state.shapes.count - mark.count)
            length.store(mark.count, ordering: .releasing)
            rollbacks.wrappingAdd(1, ordering: .acquiringAndReleasing)
        }
    }
}
