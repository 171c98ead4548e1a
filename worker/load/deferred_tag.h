#ifndef PRAGMA_WORKER_DEFERRED_TAG_H_
#define PRAGMA_WORKER_DEFERRED_TAG_H_

/* The builder adds this number to the tags DT_INIT, DT_INIT_ARRAY and DT_INIT_ARRAYSZ of a
 * candidate, so that the loader calls none of its initializers. The worker calls them, once its
 * last filter is installed. The number is in the range of tags reserved for operating systems,
 * where glibc knows none. */
#define PRAGMA_DEFERRED_TAG 0x60000100

#endif
