// The data set and the measuring helpers that every peer shares.
#ifndef QUARRY_DATASET_H
#define QUARRY_DATASET_H
#include <stdint.h>

enum {
    dataset_extra = 12000,        // rows past N, for the operations that add some
    dataset_updates = 10000,
    dataset_deletes = 10000,
    dataset_durable = 200,        // commits with a full sync
    dataset_small = 10000,        // commits without
    dataset_group = 8,            // concurrent writers
    dataset_group_each = 40,      // their commits each
    dataset_lookups = 50000
};

typedef struct {
    int64_t stuid;
    double score, createtime;
    int32_t classid;
    uint8_t sex, name_length;
    char name[26];
} dataset_student;

dataset_student *dataset_make(uint64_t n);
// A permutation of 0..<n, and `count` numbers below n, the same for the same seed.
uint32_t *dataset_permutation(uint64_t n, uint64_t seed);
uint32_t *dataset_indices(uint64_t n, uint64_t count, uint64_t seed);
uint64_t dataset_gets(uint64_t n);

double dataset_now(void);
// VmRSS or VmHWM of this process in KiB; `dataset_reset_peak` makes the peak the present size.
long dataset_memory(const char *key);
void dataset_reset_peak(void);
// Bytes that a file takes on its disk.
long long dataset_file_bytes(const char *path);

void dataset_result(const char *operation, double value, const char *unit);
void dataset_check(const char *operation, long long value);
// Whether an operation was asked for; `filter` is a comma-separated list of parts of names, empty for all.
int dataset_wants(const char *filter, const char *operation);

static inline int dataset_passes(int32_t classid, int sex, double score) {
    return (classid < 50 && !sex) || score > 0.99;
}

// Runs a body once untimed, then three times (once if it is slow), and reports the median in ns per `per`.
#define DATASET_MEASURE(operation, per, ...)                                        \
    do {                                                                            \
        if (!dataset_wants(filter, operation)) break;                               \
        double times_[3];                                                           \
        int count_ = 3;                                                             \
        for (int round_ = -1; round_ < count_; round_++) {                          \
            double start_ = dataset_now();                                          \
            { __VA_ARGS__; }                                                        \
            double taken_ = dataset_now() - start_;                                 \
            if (round_ >= 0) times_[round_] = taken_;                               \
            else if (taken_ > 1.5) count_ = 1;                                      \
        }                                                                           \
        dataset_result(operation, dataset_median(times_, count_) * 1e9 / (double)(per), "ns"); \
    } while (0)

double dataset_median(double *values, int count);
#endif
