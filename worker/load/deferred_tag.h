#ifndef PRAGMA_WORKER_DEFERRED_TAG_H_
#define PRAGMA_WORKER_DEFERRED_TAG_H_

/* The builder adds this to the tags DT_INIT, DT_INIT_ARRAY and DT_INIT_ARRAYSZ of a candidate, so
 * that the loader calls nothing of it; the worker does, once its last filter is installed. In the
 * range of tags for an operating system's use, where glibc knows none. */
#define PRAGMA_DEFERRED_TAG 0x60000100

#endif
