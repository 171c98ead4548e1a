/* The address ranges of the candidate's object in this process. */
#ifndef PRAGMA_WORKER_OBJECT_H_
#define PRAGMA_WORKER_OBJECT_H_

#include <stddef.h>
#include <stdint.h>

struct object_range {
  uintptr_t begin;
  uintptr_t end; /* end of its last segment */
};

/* Returns the range of the whole object. `handle` comes from dlopen. The range is empty when the
 * loader does not report it. */
struct object_range object_range(void* handle);
/* Makes its writable segments read-only, because the audit found that they hold none of the
 * author's data. Returns 0, or -1 on failure. */
int object_seal(void* handle);
/* Returns what the object can write: from its first writable segment to the end of the last. Empty:
 * there is none. */
struct object_range object_data(void* handle);
/* Return the size of its thread-local data, and where those of the calling thread lie. 0: there are
 * none. */
size_t object_thread_bytes(void* handle);
uintptr_t object_thread_data(void* handle);

#endif
