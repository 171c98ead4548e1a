#define _GNU_SOURCE
#include "worker/cpu/openmp.h"

#include <dlfcn.h>

static void nothing(void* data) { (void)data; }

/* Returns an OpenMP library that is already loaded because the candidate needs it. */
static void* loaded_runtime(void) {
  void* handle = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  return handle != NULL ? handle : dlopen("libomp.so.5", RTLD_NOW | RTLD_NOLOAD);
}

static struct openmp_settings read_settings(const struct openmp* openmp) {
  struct openmp_settings settings = {0, 0, 0, 0, 0};
  if (openmp->max_threads != NULL) settings.threads = openmp->max_threads();
  if (openmp->dynamic != NULL) settings.dynamic = openmp->dynamic();
  if (openmp->max_active_levels != NULL) settings.max_active_levels = openmp->max_active_levels();
  if (openmp->schedule != NULL) openmp->schedule(&settings.schedule_kind, &settings.schedule_chunk);
  return settings;
}

void openmp_find(struct openmp* openmp) {
  void* handle = loaded_runtime();
  if (handle == NULL) return;
  *(void**)&openmp->parallel = dlsym(handle, "GOMP_parallel");
  *(void**)&openmp->thread_number = dlsym(handle, "omp_get_thread_num");
  *(void**)&openmp->max_threads = dlsym(handle, "omp_get_max_threads");
  *(void**)&openmp->dynamic = dlsym(handle, "omp_get_dynamic");
  *(void**)&openmp->max_active_levels = dlsym(handle, "omp_get_max_active_levels");
  *(void**)&openmp->schedule = dlsym(handle, "omp_get_schedule");
  openmp_everywhere(openmp, nothing, NULL);
  openmp->settings = read_settings(openmp);
}

int openmp_unchanged(const struct openmp* openmp) {
  const struct openmp_settings now = read_settings(openmp);
  const struct openmp_settings* then = &openmp->settings;
  return now.threads == then->threads && now.dynamic == then->dynamic &&
         now.max_active_levels == then->max_active_levels &&
         now.schedule_kind == then->schedule_kind && now.schedule_chunk == then->schedule_chunk;
}

unsigned openmp_thread_number(const struct openmp* openmp) {
  return openmp->thread_number != NULL ? (unsigned)openmp->thread_number() : 0;
}

void openmp_everywhere(const struct openmp* openmp, void (*body)(void* data), void* data) {
  if (openmp->parallel != NULL) openmp->parallel(body, data, 0, 0);
}
