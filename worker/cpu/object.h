/* Where the candidate's object lies in this process. */
#ifndef PRAGMA_WORKER_OBJECT_H_
#define PRAGMA_WORKER_OBJECT_H_

#include <stdint.h>

struct object_range {
  uintptr_t begin;
  uintptr_t end; /* of its last segment */
};

/* `handle`: of dlopen. An empty range when the loader does not say. */
struct object_range object_range(void* handle);
/* Its writable segments can only be read from now on: the audit found that they hold nothing of the
 * author's. 0, or -1. */
int object_seal(void* handle);
/* What it can write: from its first writable segment to the end of the last, and its thread-local
 * data of the calling thread. Empty: none. */
struct object_range object_data(void* handle);
struct object_range object_thread_data(void* handle);

#endif
