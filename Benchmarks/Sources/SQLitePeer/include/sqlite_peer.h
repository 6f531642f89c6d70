#ifndef QUARRY_SQLITE_PEER_H
#define QUARRY_SQLITE_PEER_H
#include <stdint.h>
// SQLite by its C API: prepared statements, WAL, a typed table, an index on name.
void sqlite_peer_run(uint64_t n, const char *directory, const char *filter);
#endif
