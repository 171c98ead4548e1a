/* The OpenMP runtime that a candidate was linked with, if any. It is GCC's or LLVM's, used
 * through the functions that both export. */
#ifndef PRAGMA_WORKER_OPENMP_H_
#define PRAGMA_WORKER_OPENMP_H_

#include <stddef.h>

/* Settings that omp_set_... can change for the rest of the process. */
struct openmp_settings {
  int threads;
  int dynamic;
  int max_active_levels;
  int schedule_kind;
  int schedule_chunk;
};

struct openmp {
  void (*parallel)(void (*body)(void* data), void* data, unsigned threads, unsigned flags);
  int (*thread_number)(void);
  int (*max_threads)(void);
  int (*dynamic)(void);
  int (*max_active_levels)(void);
  void (*schedule)(int* kind, int* chunk);
  struct openmp_settings settings; /* settings before candidate code ran */
};

/* Finds the runtime, after dlopen of the candidate. Without a runtime all functions are null.
 * Starts the runtime's threads, so that they bind themselves to processors now and need not do
 * so later. */
void openmp_find(struct openmp* openmp);
/* Returns whether the settings are the same as before candidate code ran. */
int openmp_unchanged(const struct openmp* openmp);
/* Returns the calling thread's number within the pool. 0: the first, or there is no runtime. */
unsigned openmp_thread_number(const struct openmp* openmp);
/* Calls body(data) in every thread of the pool. */
void openmp_everywhere(const struct openmp* openmp, void (*body)(void* data), void* data);

#endif
