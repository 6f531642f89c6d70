import Dataset
import Foundation
import Quarry

/// Runs the operations through Quarry's public API.
struct QuarryPeer<S: BenchmarkStudent> {
    let n: Int
    let url: URL
    let filter: String
    let rows: UnsafeMutablePointer<dataset_student>

    init(n: Int, directory: String, filter: String) throws {
        self.n = n
        self.filter = filter
        let folder = URL(fileURLWithPath: directory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("students.quarry")
        rows = dataset_make(UInt64(n))
    }

    func wants(_ operation: String) -> Bool { dataset_wants(filter, operation) != 0 }

    func wipe() {
        try? FileManager.default.removeItem(at: url)
        try? FileManager.default.removeItem(atPath: url.path + "-lock")
    }

    func open(_ durability: StoreOptions.Durability) throws -> Store {
        try Store(at: url, types: [S.self], options: StoreOptions(durability: durability))
    }

    /// One untimed run, then three timed ones (one if it is slow); the median in ns per `per`.
    func measure(_ operation: String, per: Int, check: String? = nil, _ body: () throws -> Int) throws {
        guard wants(operation) else { return }
        var times: [Double] = []
        var sum = 0
        var count = 3
        for round in -1..<3 where round < count {
            let start = dataset_now()
            sum = try body()
            let taken = dataset_now() - start
            if round >= 0 { times.append(taken) } else if taken > 1.5 { count = 1 }
        }
        times.sort()
        dataset_result(operation, times[times.count / 2] * 1e9 / Double(per), "ns")
        dataset_check(check ?? operation, Int64(sum))
    }

    private func load(_ durability: StoreOptions.Durability, _ order: UnsafeMutablePointer<UInt32>?) throws -> Double {
        wipe()
        let store = try open(durability)
        defer { store.close() }
        let start = dataset_now()
        let rows = rows
        try store.insert(contentsOf: (0..<n).lazy.map { i in S(rows[order.map { Int($0[i]) } ?? i]) })
        return (dataset_now() - start) * 1e9 / Double(n)
    }

    func loads() throws {
        let order = dataset_permutation(UInt64(n), 7)
        defer { free(order) }
        if ["insert_rand_nosync", "rss_load_MB", "filesize_rand_MB"].contains(where: wants) {
            sync()
            let before = dataset_memory("VmRSS")
            dataset_reset_peak()
            let taken = try load(.none, order)
            if wants("insert_rand_nosync") { dataset_result("insert_rand_nosync", taken, "ns") }
            if wants("rss_load_MB") {
                dataset_result("rss_load_MB", Double(dataset_memory("VmHWM") - before) / 1024, "MB")
            }
            if wants("filesize_rand_MB") {
                dataset_result("filesize_rand_MB", Double(dataset_file_bytes(url.path)) / 1e6, "MB")
            }
        }
        if wants("insert_rand_sync") {
            sync()
            dataset_result("insert_rand_sync", try load(.full, order), "ns")
        }
        if wants("insert_asc_sync") {
            sync()
            dataset_result("insert_asc_sync", try load(.full, nil), "ns")
        }
        sync()
        let taken = try load(.none, nil)
        if wants("insert_asc_nosync") { dataset_result("insert_asc_nosync", taken, "ns") }
        if wants("filesize_asc_MB") {
            dataset_result("filesize_asc_MB", Double(dataset_file_bytes(url.path)) / 1e6, "MB")
        }
        sync()
    }
}
