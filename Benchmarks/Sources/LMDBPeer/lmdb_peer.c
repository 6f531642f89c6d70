#include "lmdb_peer.h"
#include "dataset.h"
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CK(x)                                                                            \
    do {                                                                                 \
        int rc_ = (x);                                                                   \
        if (rc_) {                                                                       \
            fprintf(stderr, "%s:%d %s: %s\n", __FILE__, __LINE__, #x, mdb_strerror(rc_)); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

typedef struct __attribute__((packed)) {
    double score, createtime;
    int32_t classid;
    uint8_t sex, name_length;
    char name[];
} row;

static MDB_env *env;
static MDB_dbi rows, names;
static uint64_t N;
static dataset_student *D;
static const char *dir;

static uint64_t big(int64_t v) { return __builtin_bswap64((uint64_t)v); }
static int64_t id_of(const MDB_val *key) {
    uint64_t v;
    memcpy(&v, key->mv_data, 8);
    return (int64_t)__builtin_bswap64(v);
}

static void wipe(void) {
    char path[512];
    snprintf(path, sizeof path, "%s/data.mdb", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/lock.mdb", dir);
    unlink(path);
    mkdir(dir, 0755);
}

static void open_env(unsigned flags) {
    CK(mdb_env_create(&env));
    CK(mdb_env_set_mapsize(env, 4ULL << 30));
    CK(mdb_env_set_maxdbs(env, 8));
    CK(mdb_env_open(env, dir, flags | MDB_NOTLS, 0644));
    MDB_txn *t;
    CK(mdb_txn_begin(env, NULL, 0, &t));
    CK(mdb_dbi_open(t, "row", MDB_CREATE, &rows));
    CK(mdb_dbi_open(t, "name", MDB_CREATE | MDB_DUPSORT | MDB_DUPFIXED, &names));
    CK(mdb_txn_commit(t));
}

static void put_row(MDB_cursor *c, const dataset_student *s, unsigned flags) {
    uint64_t k = big(s->stuid);
    MDB_val key = {8, &k}, v = {sizeof(row) + s->name_length, NULL};
    CK(mdb_cursor_put(c, &key, &v, flags | MDB_RESERVE));
    row *r = v.mv_data;
    r->score = s->score;
    r->createtime = s->createtime;
    r->classid = s->classid;
    r->sex = s->sex;
    r->name_length = s->name_length;
    memcpy(r->name, s->name, s->name_length);
}

static void put_name(MDB_cursor *c, const dataset_student *s) {
    uint64_t k = big(s->stuid);
    MDB_val key = {s->name_length, (void *)s->name}, v = {8, &k};
    CK(mdb_cursor_put(c, &key, &v, 0));
}

static double load(unsigned flags, const uint32_t *order) {
    wipe();
    open_env(flags);
    double start = dataset_now();
    MDB_txn *t;
    MDB_cursor *cr, *cn;
    CK(mdb_txn_begin(env, NULL, 0, &t));
    CK(mdb_cursor_open(t, rows, &cr));
    CK(mdb_cursor_open(t, names, &cn));
    for (uint64_t i = 0; i < N; i++) {
        const dataset_student *s = &D[order ? order[i] : i];
        put_row(cr, s, order ? 0 : MDB_APPEND);
        put_name(cn, s);
    }
    mdb_cursor_close(cr);
    mdb_cursor_close(cn);
    CK(mdb_txn_commit(t));
    return (dataset_now() - start) * 1e9 / (double)N;
}

static void materialize(dataset_student *o, int64_t id, const row *r) {
    o->stuid = id;
    o->score = r->score;
    o->createtime = r->createtime;
    o->classid = r->classid;
    o->sex = r->sex;
    o->name_length = r->name_length;
    memcpy(o->name, r->name, r->name_length);
    o->name[r->name_length] = 0;
}

// A heap of the highest scores, the lowest of them on top.
typedef struct { double score; int64_t id; const row *r; } high;
static void sift(high *h, int n, int i) {
    for (;;) {
        int m = i, l = 2 * i + 1;
        if (l < n && h[l].score < h[m].score) m = l;
        if (l + 1 < n && h[l + 1].score < h[m].score) m = l + 1;
        if (m == i) return;
        high t = h[i];
        h[i] = h[m];
        h[m] = t;
        i = m;
    }
}
static int compare_high(const void *a, const void *b) {
    double x = ((const high *)a)->score, y = ((const high *)b)->score;
    return (x < y) - (x > y);
}

static int has_an(const char *p, int n) {
    for (int i = 0; i + 1 < n; i++) {
        if ((p[i] | 32) == 'a' && (p[i + 1] | 32) == 'n') return 1;
    }
    return 0;
}

static void loads(const char *filter, const uint32_t *order) {
    char file[512];
    snprintf(file, sizeof file, "%s/data.mdb", dir);
    if (dataset_wants(filter, "insert_rand_nosync") || dataset_wants(filter, "rss_load_MB")
        || dataset_wants(filter, "filesize_rand_MB")) {
        sync();
        long before = dataset_memory("VmRSS");
        dataset_reset_peak();
        double taken = load(MDB_NOSYNC, order);
        if (dataset_wants(filter, "insert_rand_nosync")) dataset_result("insert_rand_nosync", taken, "ns");
        if (dataset_wants(filter, "rss_load_MB"))
            dataset_result("rss_load_MB", (double)(dataset_memory("VmHWM") - before) / 1024.0, "MB");
        if (dataset_wants(filter, "filesize_rand_MB"))
            dataset_result("filesize_rand_MB", (double)dataset_file_bytes(file) / 1e6, "MB");
        mdb_env_close(env);
    }
    if (dataset_wants(filter, "insert_rand_sync")) {
        sync();
        dataset_result("insert_rand_sync", load(0, order), "ns");
        mdb_env_close(env);
    }
    if (dataset_wants(filter, "insert_asc_sync")) {
        sync();
        dataset_result("insert_asc_sync", load(0, NULL), "ns");
        mdb_env_close(env);
    }
    sync();
    double taken = load(MDB_NOSYNC, NULL);
    if (dataset_wants(filter, "insert_asc_nosync")) dataset_result("insert_asc_nosync", taken, "ns");
    if (dataset_wants(filter, "filesize_asc_MB"))
        dataset_result("filesize_asc_MB", (double)dataset_file_bytes(file) / 1e6, "MB");
    mdb_env_close(env);
    sync();
}

static void gets(const char *filter, const uint32_t *gi) {
    uint64_t G = dataset_gets(N);
    MDB_txn *t;
    MDB_val k, v;
    long long sum = 0;
    CK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    DATASET_MEASURE("get_1txn", G, {
        sum = 0;
        dataset_student s;
        for (uint64_t i = 0; i < G; i++) {
            uint64_t b = big(D[gi[i]].stuid);
            k.mv_size = 8;
            k.mv_data = &b;
            CK(mdb_get(t, rows, &k, &v));
            materialize(&s, D[gi[i]].stuid, v.mv_data);
            sum += s.classid + s.name_length;
        }
    });
    if (dataset_wants(filter, "get_1txn")) dataset_check("get", sum);
    mdb_txn_reset(t);
    DATASET_MEASURE("get_owntxn", G, {
        sum = 0;
        dataset_student s;
        for (uint64_t i = 0; i < G; i++) {
            uint64_t b = big(D[gi[i]].stuid);
            k.mv_size = 8;
            k.mv_data = &b;
            CK(mdb_txn_renew(t));
            CK(mdb_get(t, rows, &k, &v));
            materialize(&s, D[gi[i]].stuid, v.mv_data);
            sum += s.classid + s.name_length;
            mdb_txn_reset(t);
        }
    });
    mdb_txn_abort(t);
}

typedef struct { const uint32_t *gi; uint64_t count; long long sum; } half;
static void *get_half(void *argument) {
    half *h = argument;
    MDB_txn *t;
    MDB_val k, v;
    dataset_student s;
    h->sum = 0;
    CK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    mdb_txn_reset(t);
    for (uint64_t i = 0; i < h->count; i++) {
        uint64_t b = big(D[h->gi[i]].stuid);
        k.mv_size = 8;
        k.mv_data = &b;
        CK(mdb_txn_renew(t));
        CK(mdb_get(t, rows, &k, &v));
        materialize(&s, D[h->gi[i]].stuid, v.mv_data);
        h->sum += s.classid + s.name_length;
        mdb_txn_reset(t);
    }
    mdb_txn_abort(t);
    return NULL;
}

static void parallel_gets(const char *filter, const uint32_t *gi) {
    uint64_t G = dataset_gets(N);
    long long sum = 0;
    DATASET_MEASURE("get_2threads", G, {
        half parts[2] = {{gi, G / 2, 0}, {gi + G / 2, G - G / 2, 0}};
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, get_half, &parts[i]);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        sum = parts[0].sum + parts[1].sum;
    });
    if (dataset_wants(filter, "get_2threads")) dataset_check("get", sum);
}

static void queries(const char *filter, const uint32_t *ni) {
    MDB_txn *t;
    MDB_cursor *cr, *cn;
    MDB_val k, v;
    long long sum = 0;
    CK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    CK(mdb_cursor_open(t, rows, &cr));
    CK(mdb_cursor_open(t, names, &cn));
#define CHECKED(operation, per, ...)                                     \
    DATASET_MEASURE(operation, per, __VA_ARGS__);                        \
    if (dataset_wants(filter, operation)) dataset_check(operation, sum)
#define EACH_ROW for (int rc = mdb_cursor_get(cr, &k, &v, MDB_FIRST); !rc; rc = mdb_cursor_get(cr, &k, &v, MDB_NEXT))

    CHECKED("by_name", dataset_lookups, {
        sum = 0;
        dataset_student out[64];
        for (int i = 0; i < dataset_lookups; i++) {
            const dataset_student *q = &D[ni[i]];
            int n = 0;
            k.mv_size = q->name_length;
            k.mv_data = (void *)q->name;
            int rc = mdb_cursor_get(cn, &k, &v, MDB_SET_KEY);
            while (!rc && n < 64) {
                MDB_val k2 = {8, v.mv_data}, v2;
                int64_t id = id_of(&v);
                CK(mdb_get(t, rows, &k2, &v2));
                materialize(&out[n++], id, v2.mv_data);
                rc = mdb_cursor_get(cn, &k, &v, MDB_NEXT_DUP);
            }
            for (int j = 0; j < n; j++) sum += 1000 + out[j].classid;
        }
    });
    CHECKED("scan_mat", N, {
        MDB_stat st;
        CK(mdb_stat(t, rows, &st));
        dataset_student *o = malloc(sizeof *o * st.ms_entries);
        uint64_t n = 0;
        EACH_ROW materialize(&o[n++], id_of(&k), v.mv_data);
        sum = 0;
        for (uint64_t i = 0; i < n; i++) sum += o[i].classid + o[i].name_length;
        free(o);
    });
    CHECKED("scan_fold", N, {
        sum = 0;
        EACH_ROW sum += ((const row *)v.mv_data)->classid;
    });
    CHECKED("filter_count", N, {
        sum = 0;
        EACH_ROW {
            const row *r = v.mv_data;
            sum += dataset_passes(r->classid, r->sex, r->score);
        }
    });
    CHECKED("filter_mat", N, {
        size_t room = 256;
        size_t n = 0;
        dataset_student *o = malloc(room * sizeof *o);
        EACH_ROW {
            const row *r = v.mv_data;
            if (!dataset_passes(r->classid, r->sex, r->score)) continue;
            if (n == room) o = realloc(o, (room *= 2) * sizeof *o);
            materialize(&o[n++], id_of(&k), r);
        }
        sum = 0;
        for (size_t i = 0; i < n; i++) sum += o[i].classid + o[i].name_length;
        free(o);
    });
    CHECKED("like_count", N, {
        sum = 0;
        EACH_ROW {
            const row *r = v.mv_data;
            sum += has_an(r->name, r->name_length);
        }
    });
    CHECKED("sort_id_desc", 100, {
        for (int rep = 0; rep < 100; rep++) {
            sum = 0;
            dataset_student o[20];
            int n = 0;
            int skip = 1000;
            for (int rc = mdb_cursor_get(cr, &k, &v, MDB_LAST); !rc && n < 20; rc = mdb_cursor_get(cr, &k, &v, MDB_PREV)) {
                if (skip) {
                    skip--;
                    continue;
                }
                materialize(&o[n++], id_of(&k), v.mv_data);
            }
            for (int i = 0; i < n; i++) sum = sum * 31 + o[i].stuid % 1000003;
        }
    });
    CHECKED("sort_name_id", 100, {
        for (int rep = 0; rep < 100; rep++) {
            sum = 0;
            dataset_student o[20];
            int n = 0;
            size_t skip = 1000;
            for (int rc = mdb_cursor_get(cn, &k, &v, MDB_FIRST); !rc && n < 20;
                 rc = mdb_cursor_get(cn, &k, &v, MDB_NEXT_NODUP)) {
                if (skip) {
                    size_t same;
                    CK(mdb_cursor_count(cn, &same));
                    if (skip >= same) {
                        skip -= same;
                        continue;
                    }
                }
                for (int r2 = mdb_cursor_get(cn, &k, &v, MDB_LAST_DUP); !r2 && n < 20;
                     r2 = mdb_cursor_get(cn, &k, &v, MDB_PREV_DUP)) {
                    if (skip) {
                        skip--;
                        continue;
                    }
                    MDB_val k2 = {8, v.mv_data}, v2;
                    CK(mdb_get(t, rows, &k2, &v2));
                    materialize(&o[n++], id_of(&v), v2.mv_data);
                }
            }
            for (int i = 0; i < n; i++) sum = sum * 31 + o[i].stuid % 1000003;
        }
    });
    CHECKED("sort_score_top20", N, {
        high h[20];
        int n = 0;
        EACH_ROW {
            const row *r = v.mv_data;
            if (n < 20) {
                h[n++] = (high){r->score, id_of(&k), r};
                if (n == 20)
                    for (int i = 9; i >= 0; i--) sift(h, 20, i);
            } else if (r->score > h[0].score) {
                h[0] = (high){r->score, id_of(&k), r};
                sift(h, 20, 0);
            }
        }
        qsort(h, (size_t)n, sizeof *h, compare_high);
        sum = 0;
        dataset_student o[20];
        for (int i = 0; i < n; i++) {
            materialize(&o[i], h[i].id, h[i].r);
            sum = sum * 31 + o[i].stuid % 1000003;
        }
    });
    CHECKED("count_all", 100, {
        for (int rep = 0; rep < 100; rep++) {
            MDB_stat st;
            CK(mdb_stat(t, rows, &st));
            sum = (long long)st.ms_entries;
        }
    });
    CHECKED("count_name", dataset_lookups, {
        sum = 0;
        for (int i = 0; i < dataset_lookups; i++) {
            const dataset_student *q = &D[ni[i]];
            k.mv_size = q->name_length;
            k.mv_data = (void *)q->name;
            if (mdb_cursor_get(cn, &k, &v, MDB_SET)) continue;
            size_t same;
            CK(mdb_cursor_count(cn, &same));
            sum += (long long)same;
        }
    });
    mdb_cursor_close(cr);
    mdb_cursor_close(cn);
    mdb_txn_abort(t);
}

static void changes(const char *filter, const uint32_t *order) {
    MDB_txn *t;
    MDB_cursor *cr, *cn;
    MDB_val k, v;
    if (dataset_wants(filter, "update10k")) {
        double start = dataset_now();
        CK(mdb_txn_begin(env, NULL, 0, &t));
        CK(mdb_cursor_open(t, rows, &cr));
        for (int i = 0; i < dataset_updates; i++) {
            uint64_t b = big(D[order[i]].stuid);
            k.mv_size = 8;
            k.mv_data = &b;
            CK(mdb_cursor_get(cr, &k, &v, MDB_SET_KEY));
            union { row r; char bytes[64]; } u;
            size_t size = v.mv_size;
            memcpy(&u, v.mv_data, size);
            u.r.score *= 0.5;
            MDB_val changed = {size, &u};
            CK(mdb_cursor_put(cr, &k, &changed, MDB_CURRENT));
        }
        mdb_cursor_close(cr);
        CK(mdb_txn_commit(t));
        dataset_result("update10k", (dataset_now() - start) * 1e9 / dataset_updates, "ns");
    }
    if (dataset_wants(filter, "delete10k")) {
        double start = dataset_now();
        CK(mdb_txn_begin(env, NULL, 0, &t));
        CK(mdb_cursor_open(t, rows, &cr));
        CK(mdb_cursor_open(t, names, &cn));
        for (int i = 0; i < dataset_deletes; i++) {
            uint64_t b = big(D[order[N - 1 - (uint64_t)i]].stuid);
            k.mv_size = 8;
            k.mv_data = &b;
            CK(mdb_cursor_get(cr, &k, &v, MDB_SET_KEY));
            const row *r = v.mv_data;
            char name[32];
            int length = r->name_length;
            memcpy(name, r->name, (size_t)length);
            CK(mdb_cursor_del(cr, 0));
            MDB_val nk = {(size_t)length, name}, nd = {8, &b};
            CK(mdb_cursor_get(cn, &nk, &nd, MDB_GET_BOTH));
            CK(mdb_cursor_del(cn, 0));
        }
        mdb_cursor_close(cr);
        mdb_cursor_close(cn);
        CK(mdb_txn_commit(t));
        dataset_result("delete10k", (dataset_now() - start) * 1e9 / dataset_deletes, "ns");
    }
    CK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    CK(mdb_cursor_open(t, rows, &cr));
    double sum = 0;
    EACH_ROW sum += ((const row *)v.mv_data)->score;
    if (dataset_wants(filter, "update10k") && dataset_wants(filter, "delete10k"))
        dataset_check("score_after_changes", (long long)(sum + 0.5));
    mdb_cursor_close(cr);
    mdb_txn_abort(t);
}

static void insert_one(const dataset_student *s) {
    MDB_txn *t;
    MDB_cursor *cr, *cn;
    CK(mdb_txn_begin(env, NULL, 0, &t));
    CK(mdb_cursor_open(t, rows, &cr));
    CK(mdb_cursor_open(t, names, &cn));
    put_row(cr, s, MDB_NOOVERWRITE);
    put_name(cn, s);
    CK(mdb_txn_commit(t));
}

static void *insert_some(void *argument) {
    const dataset_student *s = argument;
    for (int i = 0; i < dataset_group_each; i++) insert_one(&s[i]);
    return NULL;
}

static void small_commits(const char *filter) {
    const dataset_student *next = &D[N];
    if (dataset_wants(filter, "small_nosync")) {
        double start = dataset_now();
        for (int i = 0; i < dataset_small; i++) insert_one(next++);
        dataset_result("small_nosync", (dataset_now() - start) * 1e9 / dataset_small, "ns");
    } else {
        next += dataset_small;
    }
    mdb_env_close(env);
    sync();
    open_env(0);
    CK(mdb_env_sync(env, 1));
    if (dataset_wants(filter, "small_durable")) {
        double start = dataset_now();
        for (int i = 0; i < dataset_durable; i++) insert_one(next++);
        dataset_result("small_durable", (dataset_now() - start) * 1e9 / dataset_durable, "ns");
    } else {
        next += dataset_durable;
    }
    if (dataset_wants(filter, "group8_durable")) {
        double start = dataset_now();
        pthread_t threads[dataset_group];
        for (int i = 0; i < dataset_group; i++)
            pthread_create(&threads[i], NULL, insert_some, (void *)(next + i * dataset_group_each));
        for (int i = 0; i < dataset_group; i++) pthread_join(threads[i], NULL);
        dataset_result(
            "group8_durable", (dataset_now() - start) * 1e9 / (dataset_group * dataset_group_each), "ns");
    }
    MDB_stat st;
    MDB_txn *t;
    CK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    CK(mdb_stat(t, rows, &st));
    dataset_check("final_count", (long long)st.ms_entries);
    mdb_txn_abort(t);
    mdb_env_close(env);
}

// Students under an object id of their own, with two secondary indexes.
static void exists_or(const char *filter, const uint32_t *ni) {
    if (!dataset_wants(filter, "exists_or")) return;
    wipe();
    open_env(MDB_NOSYNC);
    MDB_dbi ids;
    MDB_txn *t;
    CK(mdb_txn_begin(env, NULL, 0, &t));
    CK(mdb_dbi_open(t, "stuid", MDB_CREATE, &ids));
    for (uint64_t i = 0; i < N; i++) {
        uint64_t object = big((int64_t)i + 1), stuid = big(D[i].stuid);
        MDB_val o = {8, &object}, s = {8, &stuid}, name = {D[i].name_length, D[i].name};
        row *r = calloc(1, sizeof *r + 32);
        MDB_val v = {sizeof *r + D[i].name_length, r};
        r->classid = D[i].classid;
        r->name_length = D[i].name_length;
        memcpy(r->name, D[i].name, D[i].name_length);
        CK(mdb_put(t, rows, &o, &v, MDB_APPEND));
        CK(mdb_put(t, ids, &s, &o, 0));
        CK(mdb_put(t, names, &name, &o, 0));
        free(r);
    }
    CK(mdb_txn_commit(t));
    CK(mdb_txn_begin(env, NULL, MDB_RDONLY, &t));
    long long sum = 0;
    DATASET_MEASURE("exists_or", dataset_lookups, {
        sum = 0;
        for (int i = 0; i < dataset_lookups; i++) {
            // A third by number, a third by name alone, a third not at all.
            const dataset_student *q = &D[ni[i]];
            uint64_t stuid = big(i % 3 == 0 ? q->stuid : q->stuid + 1);
            MDB_val k = {8, &stuid}, v;
            if (!mdb_get(t, ids, &k, &v)) {
                sum++;
                continue;
            }
            MDB_val name = {i % 3 == 2 ? 7 : q->name_length, i % 3 == 2 ? (void *)"nobody!" : (void *)q->name};
            if (!mdb_get(t, names, &name, &v)) sum++;
        }
    });
    dataset_check("exists_or", sum);
    mdb_txn_abort(t);
    mdb_env_close(env);
}

void lmdb_peer_run(uint64_t n, const char *directory, const char *filter) {
    N = n;
    dir = directory;
    D = dataset_make(N);
    uint32_t *order = dataset_permutation(N, 7), *changed = dataset_permutation(N, 17);
    uint32_t *gi = dataset_indices(N, dataset_gets(N), 11), *ni = dataset_indices(N, dataset_lookups, 13);
    loads(filter, order);
    open_env(MDB_NOSYNC);
    gets(filter, gi);
    parallel_gets(filter, gi);
    queries(filter, ni);
    changes(filter, changed);
    small_commits(filter);
    exists_or(filter, ni);
    wipe();
}
