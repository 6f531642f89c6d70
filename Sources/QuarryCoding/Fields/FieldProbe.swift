internal import Synchronization

/// Finds out which stored fields a type has, and which of them a key path reads, without asking for names.
///
/// The type's `init(from:)` runs several times over values that differ from field to field and from run to run. The
/// field whose values a key path reads in every run is the key path's field. A type that refuses made-up values is
/// learned from the first real one.
package final class FieldProbe: Sendable {
    package enum Trace: Sendable, Equatable {
        case field([String])
        /// The key path reads something that is not stored under one name.
        case computed(String)
        /// The type has not shown its fields yet.
        case unprobed(String)
    }

    /// One run: an object, and what it was given for each path.
    struct Pass {
        let object: Any
        let values: [[String]: Value]
    }

    private struct State {
        var passes: [Pass] = []
        var fields: [FieldShape] = []
        var traces: [AnyKeyPath: Trace] = [:]
        var reason = ""
        var didProbe = false
    }
    // Unchecked inside: objects of the probed type are only read, and only under the lock.
    private let state = Mutex(Unchecked(value: State()))
    private let type: TypeAccess
    private let isClass: Bool
    private let typeName: String

    /// Holds what the compiler cannot see to be safe; the lock around it makes it so.
    private struct Unchecked: @unchecked Sendable { var value: State }

    /// What needs the static type. Unchecked, since a metatype may have isolated conformances; `init(from:)` of stored
    /// types has none, as rows are read on any thread.
    private struct TypeAccess: @unchecked Sendable {
        let run: (Value?) -> ProbeResult
        let isStored: (AnyKeyPath) -> Bool
    }

    private static let known = Mutex<[ObjectIdentifier: FieldProbe]>([:])

    /// The probe of a type: one a process.
    package static func of(_ type: any Decodable.Type) -> FieldProbe {
        if let probe = known.withLock({ $0[ObjectIdentifier(type)] }) { return probe }
        func make<T: Decodable>(_ type: T.Type) -> FieldProbe { FieldProbe(type) }
        let probe = make(type)
        return known.withLock { known in
            if let first = known[ObjectIdentifier(type)] { return first }
            known[ObjectIdentifier(type)] = probe
            return probe
        }
    }

    private init<T: Decodable>(_ type: T.Type) {
        typeName = "\(type)"
        isClass = type is AnyObject.Type
        self.type = TypeAccess(
            run: { sample in ProbeRun.run(T.self, sample: sample) },
            isStored: { keyPath in
                guard let partial = keyPath as? PartialKeyPath<T> else { return false }
                return MemoryLayout<T>.offset(of: partial) != nil
            })
    }

    /// The stored fields; empty while the type could not be probed.
    package var fields: [FieldShape] {
        state.withLock { state in
            probe(&state.value)
            return state.value.fields
        }
    }

    /// What the probed objects are and hold, for checks against another way to read them.
    func withPasses<R>(_ body: ([Pass]) throws -> sending R) throws -> sending R {
        try state.withLock { state in
            probe(&state.value)
            return try body(state.value.passes)
        }
    }

    private func probe(_ state: inout State) {
        guard !state.didProbe else { return }
        state.didProbe = true
        take(type.run(nil), &state)
    }

    private func take(_ result: ProbeResult, _ state: inout State) {
        switch result {
        case .probed(let passes, let fields):
            state.passes = passes
            state.fields = fields
            state.reason = ""
            state.traces = [:]
        case .refused(let reason): state.reason = reason
        }
    }

    /// Learns from a stored value, unless the type has been probed without one.
    package func learn(from record: Value) {
        state.withLock { state in
            probe(&state.value)
            if state.value.fields.isEmpty { take(type.run(record), &state.value) }
        }
    }

    /// The field that a key path from this type reads.
    ///
    /// - Parameter allowingComputed: takes a computed property for the field it always agrees with, as `id` often is.
    package func path(of keyPath: AnyKeyPath, allowingComputed: Bool = false) -> Trace {
        state.withLock { state in
            if let known = state.value.traces[keyPath] { return known }
            probe(&state.value)
            let trace = trace(keyPath, state.value, allowingComputed)
            if !state.value.passes.isEmpty { state.value.traces[keyPath] = trace }
            return trace
        }
    }

    private func trace(_ keyPath: AnyKeyPath, _ state: State, _ allowingComputed: Bool) -> Trace {
        guard let first = state.passes.first else { return .unprobed("\(typeName) cannot be probed: \(state.reason)") }
        var candidates = Array(first.values.keys)
        for pass in state.passes {
            guard let read = pass.object[keyPath: keyPath], let value = FieldProbe.encoded(read) else {
                return .computed("what it reads is not encodable")
            }
            candidates.removeAll { path in
                // A path through a nil has no value of its own, and reads nil.
                guard let given = pass.values[path] else { return !value.isNil }
                return given != value
            }
            if candidates.isEmpty { return .computed("it reads no stored field") }
        }
        // An object of one field reads as nothing else than itself, but a nil may be the nil of something inside it.
        guard candidates.count == 1, let path = candidates.first else {
            return .unprobed("more than one field agrees with it in every value seen so far")
        }
        let isChained = path.count > 1
        if type.isStored(keyPath) || allowingComputed || isClass || isChained { return .field(path) }
        return .computed("it is computed, observed or wrapped")
    }
}

/// What came of running a type's `init(from:)`.
enum ProbeResult {
    case probed([FieldProbe.Pass], [FieldShape])
    case refused(String)
}
