/* The OpenMP runtime that a candidate was linked with, if any: GCC's or LLVM's, through the
 * functions that both export. */
#ifndef PRAGMA_WORKER_OPENMP_H_
#define PRAGMA_WORKER_OPENMP_H_

#include <stddef.h>

/* What omp_set_... can change for the rest of the process. */
struct openmp_settings {
  int threads;
  int dynamic;
  int max_active_levels;
  int schedule_kind;
  int schedule_chunk;
};

struct openmp {
  void (*parallel)(void (*body)(void* data), void* data, unsigned threads, unsigned flags);
  int (*max_threads)(void);
  int (*dynamic)(void);
  int (*max_active_levels)(void);
  void (*schedule)(int* kind, int* chunk);
  struct openmp_settings settings; /* as they were before candidate code ran */
};

/* After dlopen of the candidate. Without a runtime all functions are null. Starts its threads,
 * which bind themselves to processors now and need not later. */
void openmp_find(struct openmp* openmp);
/* Whether the settings are as they were. */
int openmp_unchanged(const struct openmp* openmp);
/* body(data) in every thread of the pool. */
void openmp_everywhere(const struct openmp* openmp, void (*body)(void* data), void* data);

#endif
