#include "dataset.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static uint64_t next(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

static const char *const syllables[32] = {
    "an", "ber", "cor", "da", "el", "fi", "gar", "hu", "is", "jo", "ka", "lin", "mar", "no", "or", "pe",
    "qui", "ra", "sen", "ta", "ul", "vi", "wen", "xi", "yo", "zan", "che", "dro", "gu", "lo", "mi", "tan"};

// Four in five names are Latin, "Given Family" of 12 to 20 bytes; the others are 4 to 6 Han characters.
static int make_name(uint64_t index, char *out) {
    uint64_t state = index * 0xD1342543DE82EF95ULL + 12345;
    uint64_t r = next(&state);
    int length = 0;
    if (r % 5 == 0) {
        int count = 4 + (int)((r >> 8) % 3);
        for (int i = 0; i < count; i++) {
            unsigned c = 0x4E00 + (unsigned)(next(&state) % 5000);
            out[length++] = (char)(0xE0 | (c >> 12));
            out[length++] = (char)(0x80 | ((c >> 6) & 63));
            out[length++] = (char)(0x80 | (c & 63));
        }
        return length;
    }
    int target = 12 + (int)((r >> 8) % 7), first = 4 + (int)((r >> 16) % 4), space = 0, start = 1;
    while (length < target) {
        const char *part = syllables[next(&state) & 31];
        int size = (int)strlen(part);
        if (length + size > 20) break;
        memcpy(out + length, part, (size_t)size);
        if (start) {
            out[length] = (char)(out[length] - 32);
            start = 0;
        }
        length += size;
        if (!space && length >= first) {
            out[length++] = ' ';
            space = 1;
            start = 1;
        }
    }
    return length;
}

dataset_student *dataset_make(uint64_t n) {
    dataset_student *all = malloc(sizeof *all * (n + dataset_extra));
    for (uint64_t i = 0; i < n + dataset_extra; i++) {
        uint64_t state = i * 0x2545F4914F6CDD1DULL + 42;
        dataset_student *one = &all[i];
        memset(one, 0, sizeof *one);
        one->stuid = 2024000000LL + (int64_t)i * 3;
        one->name_length = (uint8_t)make_name(next(&state) % (n / 3), one->name);
        one->sex = next(&state) & 1;
        one->classid = (int32_t)(next(&state) % 500);
        one->score = (double)(next(&state) >> 11) * 0x1.0p-53;
        one->createtime = 1.7e9 + (double)i * 0.5 + (double)(next(&state) % 1000) / 1000.0;
    }
    return all;
}

uint32_t *dataset_permutation(uint64_t n, uint64_t seed) {
    uint32_t *p = malloc(sizeof *p * n);
    for (uint64_t i = 0; i < n; i++) p[i] = (uint32_t)i;
    for (uint64_t i = n - 1; i > 0; i--) {
        uint64_t j = next(&seed) % (i + 1);
        uint32_t t = p[i];
        p[i] = p[j];
        p[j] = t;
    }
    return p;
}

uint32_t *dataset_indices(uint64_t n, uint64_t count, uint64_t seed) {
    uint32_t *p = malloc(sizeof *p * count);
    for (uint64_t i = 0; i < count; i++) p[i] = (uint32_t)(next(&seed) % n);
    return p;
}

uint64_t dataset_gets(uint64_t n) { return n < 100000 ? 100000 : 200000; }

double dataset_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

long dataset_memory(const char *key) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long value = -1;
    size_t length = strlen(key);
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, key, length) && line[length] == ':') {
            value = atol(line + length + 1);
            break;
        }
    }
    if (file) fclose(file);
    return value;
}

void dataset_reset_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

long long dataset_file_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) ? 0 : (long long)info.st_blocks * 512;
}

void dataset_result(const char *operation, double value, const char *unit) {
    printf("RESULT\t%s\t%.9g\t%s\n", operation, value, unit);
    fflush(stdout);
}

void dataset_check(const char *operation, long long value) {
    printf("CHECK\t%s\t%lld\n", operation, value);
    fflush(stdout);
}

int dataset_wants(const char *filter, const char *operation) {
    if (!filter || !*filter) return 1;
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", filter);
    char *rest = NULL;
    for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        if (strstr(operation, part)) return 1;
    }
    return 0;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double dataset_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}
