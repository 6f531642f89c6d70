#include "sqlite_peer.h"
#include "dataset.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sqlite3 *db;
static uint64_t N;
static dataset_student *D;
static char path[512];

#define CK(x)                                                                                     \
    do {                                                                                          \
        int rc_ = (x);                                                                            \
        if (rc_ != SQLITE_OK && rc_ != SQLITE_DONE && rc_ != SQLITE_ROW) {                        \
            fprintf(stderr, "%s:%d %s: %d\n", __FILE__, __LINE__, #x, rc_);                       \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)
#define INSERT "INSERT INTO student(stuid,name,sex,classid,score,createtime) VALUES(?,?,?,?,?,?)"
#define COLUMNS "stuid,name,sex,classid,score,createtime"

static void run_on(sqlite3 *db, const char *sql) {
    char *message = NULL;
    if (!sqlite3_exec(db, sql, NULL, NULL, &message)) return;
    fprintf(stderr, "%s: %s\n", sql, message);
    exit(1);
}
static void run(const char *sql) { run_on(db, sql); }

static void wipe(void) {
    char other[600];
    unlink(path);
    snprintf(other, sizeof other, "%s-wal", path);
    unlink(other);
    snprintf(other, sizeof other, "%s-shm", path);
    unlink(other);
}

static sqlite3 *connection(const char *synchronous) {
    sqlite3 *made;
    CK(sqlite3_open_v2(path, &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    sqlite3_busy_timeout(made, 60000);
    run_on(made, "PRAGMA journal_mode=WAL");
    run_on(made, "PRAGMA cache_size=-262144");
    run_on(made, "PRAGMA mmap_size=2147418112");
    run_on(made, "PRAGMA temp_store=MEMORY");
    run_on(made, "PRAGMA secure_delete=OFF");
    char text[64];
    snprintf(text, sizeof text, "PRAGMA synchronous=%s", synchronous);
    run_on(made, text);
    return made;
}

static sqlite3_stmt *prepare_on(sqlite3 *db, const char *sql) {
    sqlite3_stmt *s;
    CK(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL));
    return s;
}
static sqlite3_stmt *prepare(const char *sql) { return prepare_on(db, sql); }

static void close_db(void) {
    CK(sqlite3_close(db));
    db = NULL;
}

static void insert(sqlite3_stmt *s, const dataset_student *d) {
    sqlite3_bind_int64(s, 1, d->stuid);
    sqlite3_bind_text(s, 2, d->name, d->name_length, SQLITE_STATIC);
    sqlite3_bind_int(s, 3, d->sex);
    sqlite3_bind_int(s, 4, d->classid);
    sqlite3_bind_double(s, 5, d->score);
    sqlite3_bind_double(s, 6, d->createtime);
    CK(sqlite3_step(s));
    sqlite3_reset(s);
}

static double load(const char *synchronous, const uint32_t *order) {
    wipe();
    db = connection(synchronous);
    run("CREATE TABLE student(stuid INTEGER PRIMARY KEY, name TEXT NOT NULL, sex INTEGER NOT NULL, "
        "classid INTEGER NOT NULL, score REAL NOT NULL, createtime REAL NOT NULL)");
    run("CREATE INDEX student_name ON student(name)");
    double start = dataset_now();
    run("BEGIN IMMEDIATE");
    sqlite3_stmt *s = prepare(INSERT);
    for (uint64_t i = 0; i < N; i++) insert(s, &D[order ? order[i] : i]);
    sqlite3_finalize(s);
    run("COMMIT");
    return (dataset_now() - start) * 1e9 / (double)N;
}

static void materialize(dataset_student *o, sqlite3_stmt *s) {
    o->stuid = sqlite3_column_int64(s, 0);
    const char *text = (const char *)sqlite3_column_text(s, 1);
    int length = sqlite3_column_bytes(s, 1);
    memcpy(o->name, text, (size_t)length);
    o->name[length] = 0;
    o->name_length = (uint8_t)length;
    o->sex = (uint8_t)sqlite3_column_int(s, 2);
    o->classid = sqlite3_column_int(s, 3);
    o->score = sqlite3_column_double(s, 4);
    o->createtime = sqlite3_column_double(s, 5);
}

static long long one(sqlite3_stmt *s) {
    CK(sqlite3_step(s));
    long long value = sqlite3_column_int64(s, 0);
    sqlite3_reset(s);
    return value;
}

static void loads(const char *filter, const uint32_t *order) {
    if (dataset_wants(filter, "insert_rand_nosync") || dataset_wants(filter, "rss_load_MB")
        || dataset_wants(filter, "filesize_rand_MB")) {
        sync();
        long before = dataset_memory("VmRSS");
        dataset_reset_peak();
        double taken = load("OFF", order);
        if (dataset_wants(filter, "insert_rand_nosync")) dataset_result("insert_rand_nosync", taken, "ns");
        if (dataset_wants(filter, "rss_load_MB"))
            dataset_result("rss_load_MB", (double)(dataset_memory("VmHWM") - before) / 1024.0, "MB");
        run("PRAGMA wal_checkpoint(TRUNCATE)");
        if (dataset_wants(filter, "filesize_rand_MB"))
            dataset_result("filesize_rand_MB", (double)dataset_file_bytes(path) / 1e6, "MB");
        close_db();
    }
    if (dataset_wants(filter, "insert_rand_sync")) {
        sync();
        dataset_result("insert_rand_sync", load("FULL", order), "ns");
        close_db();
    }
    if (dataset_wants(filter, "insert_asc_sync")) {
        sync();
        dataset_result("insert_asc_sync", load("FULL", NULL), "ns");
        close_db();
    }
    sync();
    double taken = load("OFF", NULL);
    if (dataset_wants(filter, "insert_asc_nosync")) dataset_result("insert_asc_nosync", taken, "ns");
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    if (dataset_wants(filter, "filesize_asc_MB"))
        dataset_result("filesize_asc_MB", (double)dataset_file_bytes(path) / 1e6, "MB");
    close_db();
    sync();
}

static long long get_each(sqlite3_stmt *s, const uint32_t *gi, uint64_t count) {
    long long sum = 0;
    dataset_student o;
    for (uint64_t i = 0; i < count; i++) {
        sqlite3_bind_int64(s, 1, D[gi[i]].stuid);
        CK(sqlite3_step(s));
        materialize(&o, s);
        sqlite3_reset(s);
        sum += o.classid + o.name_length;
    }
    return sum;
}

typedef struct { sqlite3 *db; const uint32_t *gi; uint64_t count; long long sum; } half;
static void *get_half(void *argument) {
    half *h = argument;
    sqlite3_stmt *s = prepare_on(h->db, "SELECT " COLUMNS " FROM student WHERE stuid=?");
    h->sum = get_each(s, h->gi, h->count);
    sqlite3_finalize(s);
    return NULL;
}

static void gets(const char *filter, const uint32_t *gi) {
    uint64_t G = dataset_gets(N);
    long long sum = 0;
    sqlite3_stmt *s = prepare("SELECT " COLUMNS " FROM student WHERE stuid=?");
    run("BEGIN");
    DATASET_MEASURE("get_1txn", G, { sum = get_each(s, gi, G); });
    if (dataset_wants(filter, "get_1txn")) dataset_check("get", sum);
    run("COMMIT");
    DATASET_MEASURE("get_owntxn", G, { sum = get_each(s, gi, G); });
    sqlite3_finalize(s);
    if (!dataset_wants(filter, "get_2threads")) return;
    sqlite3 *connections[2] = {connection("OFF"), connection("OFF")};
    DATASET_MEASURE("get_2threads", G, {
        half parts[2] = {{connections[0], gi, G / 2, 0}, {connections[1], gi + G / 2, G - G / 2, 0}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, get_half, &parts[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        sum = parts[0].sum + parts[1].sum;
    });
    dataset_check("get", sum);
    for (int i = 0; i < 2; i++) CK(sqlite3_close(connections[i]));
}

static void queries(const char *filter, const uint32_t *ni) {
    long long sum = 0;
    sqlite3_stmt *s;
#define CHECKED(operation, per, ...)                                     \
    DATASET_MEASURE(operation, per, __VA_ARGS__);                        \
    if (dataset_wants(filter, operation)) dataset_check(operation, sum); \
    sqlite3_finalize(s)
#define MATERIALIZED(operation)                                              \
    CHECKED(operation, N, {                                                  \
        size_t room = 256, n = 0;                                            \
        dataset_student *o = malloc(room * sizeof *o);                       \
        while (sqlite3_step(s) == SQLITE_ROW) {                              \
            if (n == room) o = realloc(o, (room *= 2) * sizeof *o);          \
            materialize(&o[n++], s);                                         \
        }                                                                    \
        sqlite3_reset(s);                                                    \
        sum = 0;                                                             \
        for (size_t i = 0; i < n; i++) sum += o[i].classid + o[i].name_length; \
        free(o);                                                             \
    })
#define PAGE(operation, per, repetitions)                                    \
    CHECKED(operation, per, {                                                \
        for (int rep = 0; rep < repetitions; rep++) {                        \
            sum = 0;                                                         \
            dataset_student o[20];                                           \
            int n = 0;                                                       \
            while (sqlite3_step(s) == SQLITE_ROW) materialize(&o[n++], s);   \
            sqlite3_reset(s);                                                \
            for (int i = 0; i < n; i++) sum = sum * 31 + o[i].stuid % 1000003; \
        }                                                                    \
    })

    run("BEGIN");
    s = prepare("SELECT " COLUMNS " FROM student WHERE name=?");
    CHECKED("by_name", dataset_lookups, {
        sum = 0;
        dataset_student out[64];
        for (int i = 0; i < dataset_lookups; i++) {
            const dataset_student *q = &D[ni[i]];
            int n = 0;
            sqlite3_bind_text(s, 1, q->name, q->name_length, SQLITE_STATIC);
            while (sqlite3_step(s) == SQLITE_ROW && n < 64) materialize(&out[n++], s);
            sqlite3_reset(s);
            for (int j = 0; j < n; j++) sum += 1000 + out[j].classid;
        }
    });
    s = prepare("SELECT " COLUMNS " FROM student");
    MATERIALIZED("scan_mat");
    s = prepare("SELECT sum(classid) FROM student");
    CHECKED("scan_fold", N, { sum = one(s); });
    s = prepare("SELECT count(*) FROM student WHERE (classid < ?1 AND NOT sex) OR score > ?2");
    sqlite3_bind_int(s, 1, 50);
    sqlite3_bind_double(s, 2, 0.99);
    CHECKED("filter_count", N, { sum = one(s); });
    s = prepare("SELECT " COLUMNS " FROM student WHERE (classid < ?1 AND NOT sex) OR score > ?2");
    sqlite3_bind_int(s, 1, 50);
    sqlite3_bind_double(s, 2, 0.99);
    MATERIALIZED("filter_mat");
    s = prepare("SELECT count(*) FROM student WHERE name LIKE ?1");
    sqlite3_bind_text(s, 1, "%an%", -1, SQLITE_STATIC);
    CHECKED("like_count", N, { sum = one(s); });
    s = prepare("SELECT " COLUMNS " FROM student ORDER BY stuid DESC, name ASC LIMIT 20 OFFSET 1000");
    PAGE("sort_id_desc", 100, 100);
    s = prepare("SELECT " COLUMNS " FROM student ORDER BY name ASC, stuid DESC LIMIT 20 OFFSET 1000");
    PAGE("sort_name_id", 100, 100);
    s = prepare("SELECT " COLUMNS " FROM student ORDER BY score DESC LIMIT 20");
    PAGE("sort_score_top20", N, 1);
    s = prepare("SELECT count(*) FROM student");
    CHECKED("count_all", 1, { sum = one(s); });
    s = prepare("SELECT count(*) FROM student WHERE name=?");
    CHECKED("count_name", dataset_lookups, {
        sum = 0;
        for (int i = 0; i < dataset_lookups; i++) {
            const dataset_student *q = &D[ni[i]];
            sqlite3_bind_text(s, 1, q->name, q->name_length, SQLITE_STATIC);
            sum += one(s);
        }
    });
    run("COMMIT");
}

static void change(const char *filter, const char *operation, const char *sql, const uint32_t *order, int isLast) {
    if (!dataset_wants(filter, operation)) return;
    sqlite3_stmt *s = prepare(sql);
    double start = dataset_now();
    run("BEGIN IMMEDIATE");
    for (int i = 0; i < dataset_updates; i++) {
        sqlite3_bind_int64(s, 1, D[order[isLast ? N - 1 - (uint64_t)i : (uint64_t)i]].stuid);
        CK(sqlite3_step(s));
        sqlite3_reset(s);
    }
    run("COMMIT");
    dataset_result(operation, (dataset_now() - start) * 1e9 / dataset_updates, "ns");
    sqlite3_finalize(s);
}

static void changes(const char *filter, const uint32_t *order) {
    change(filter, "update10k", "UPDATE student SET score=score*0.5 WHERE stuid=?", order, 0);
    change(filter, "delete10k", "DELETE FROM student WHERE stuid=?", order, 1);
    sqlite3_stmt *s = prepare("SELECT sum(score)+0.5 FROM student");
    if (dataset_wants(filter, "update10k") && dataset_wants(filter, "delete10k"))
        dataset_check("score_after_changes", one(s));
    sqlite3_finalize(s);
}

static void *insert_some(void *argument) {
    const dataset_student *rows = argument;
    sqlite3 *own = connection("FULL");
    sqlite3_stmt *s = prepare_on(own, INSERT);
    for (int i = 0; i < dataset_group_each; i++) {
        run_on(own, "BEGIN IMMEDIATE");
        insert(s, &rows[i]);
        run_on(own, "COMMIT");
    }
    sqlite3_finalize(s);
    CK(sqlite3_close(own));
    return NULL;
}

static void reopen(const char *synchronous) {
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    close_db();
    sync();
    db = connection(synchronous);
}

static void commits(const char *filter, const char *operation, const dataset_student *rows, int count) {
    if (!dataset_wants(filter, operation)) return;
    sqlite3_stmt *s = prepare(INSERT);
    double start = dataset_now();
    for (int i = 0; i < count; i++) insert(s, &rows[i]);
    dataset_result(operation, (dataset_now() - start) * 1e9 / count, "ns");
    sqlite3_finalize(s);
}

static void small_commits(const char *filter) {
    const dataset_student *next = &D[N];
    reopen("OFF");
    commits(filter, "small_nosync", next, dataset_small);
    next += dataset_small;
    reopen("FULL");
    commits(filter, "small_durable", next, dataset_durable);
    next += dataset_durable;
    if (dataset_wants(filter, "group8_durable")) {
        double start = dataset_now();
        pthread_t threads[dataset_group];
        for (int i = 0; i < dataset_group; i++)
            pthread_create(&threads[i], NULL, insert_some, (void *)(next + i * dataset_group_each));
        for (int i = 0; i < dataset_group; i++) pthread_join(threads[i], NULL);
        dataset_result(
            "group8_durable", (dataset_now() - start) * 1e9 / (dataset_group * dataset_group_each), "ns");
    }
    sqlite3_stmt *s = prepare("SELECT count(*) FROM student");
    dataset_check("final_count", one(s));
    sqlite3_finalize(s);
    close_db();
}

static void exists_or(const char *filter, const uint32_t *ni) {
    if (!dataset_wants(filter, "exists_or")) return;
    wipe();
    db = connection("OFF");
    run("CREATE TABLE person(id INTEGER PRIMARY KEY, stuid INTEGER NOT NULL, name TEXT NOT NULL, classid INTEGER)");
    run("CREATE UNIQUE INDEX person_stuid ON person(stuid)");
    run("CREATE INDEX person_name ON person(name)");
    run("BEGIN IMMEDIATE");
    sqlite3_stmt *s = prepare("INSERT INTO person(id,stuid,name,classid) VALUES(?,?,?,?)");
    for (uint64_t i = 0; i < N; i++) {
        sqlite3_bind_int64(s, 1, (int64_t)i + 1);
        sqlite3_bind_int64(s, 2, D[i].stuid);
        sqlite3_bind_text(s, 3, D[i].name, D[i].name_length, SQLITE_STATIC);
        sqlite3_bind_int(s, 4, D[i].classid);
        CK(sqlite3_step(s));
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    run("COMMIT");
    run("BEGIN");
    s = prepare("SELECT EXISTS(SELECT 1 FROM person WHERE stuid=? OR name=?)");
    long long sum = 0;
    DATASET_MEASURE("exists_or", dataset_lookups, {
        sum = 0;
        for (int i = 0; i < dataset_lookups; i++) {
            const dataset_student *q = &D[ni[i]];
            sqlite3_bind_int64(s, 1, i % 3 == 0 ? q->stuid : q->stuid + 1);
            if (i % 3 == 2) sqlite3_bind_text(s, 2, "nobody!", 7, SQLITE_STATIC);
            else sqlite3_bind_text(s, 2, q->name, q->name_length, SQLITE_STATIC);
            sum += one(s);
        }
    });
    dataset_check("exists_or", sum);
    sqlite3_finalize(s);
    run("COMMIT");
    close_db();
}

void sqlite_peer_run(uint64_t n, const char *directory, const char *filter) {
    N = n;
    mkdir(directory, 0755);
    snprintf(path, sizeof path, "%s/students.sqlite", directory);
    D = dataset_make(N);
    uint32_t *order = dataset_permutation(N, 7), *changed = dataset_permutation(N, 17);
    uint32_t *gi = dataset_indices(N, dataset_gets(N), 11), *ni = dataset_indices(N, dataset_lookups, 13);
    loads(filter, order);
    db = connection("OFF");
    gets(filter, gi);
    queries(filter, ni);
    changes(filter, changed);
    small_commits(filter);
    exists_or(filter, ni);
    wipe();
}
