#ifndef QUARRY_LMDB_PEER_H
#define QUARRY_LMDB_PEER_H
#include <stdint.h>
// Raw LMDB from C, the floor: big-endian ids, a packed row, a DUPFIXED index of names.
void lmdb_peer_run(uint64_t n, const char *directory, const char *filter);
#endif
