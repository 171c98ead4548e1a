/* malloc for the whole worker, in front of glibc's. While a call is scrambled, blocks get random
 * bytes when they are allocated and when they are freed, so that no data is kept in freed
 * memory. calloc and realloc stay glibc's, because the first returns zeros and the second keeps
 * the contents. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "worker/cpu/scramble.h"

extern void* __libc_malloc(size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void* memory);

uint32_t scramble_heap_seed;

/* Sets glibc's own limit on the number of arenas. glibc would otherwise look it up in /sys once
 * nine threads have called malloc, when no file can be opened any more. */
void heap_begin(void) {
  enum { kArenasForEachProcessor = 8 };
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  mallopt(M_ARENA_MAX, kArenasForEachProcessor * (processors > 0 ? (int)processors : 1));
}

static void* filled(void* memory) {
  const uint32_t seed = scramble_heap_seed;
  if (seed != 0 && memory != NULL) {
    scramble_fill(memory, malloc_usable_size(memory), seed ^ (uintptr_t)memory);
  }
  return memory;
}

void* malloc(size_t bytes) { return filled(__libc_malloc(bytes)); }

void free(void* memory) {
  filled(memory);
  __libc_free(memory);
}

void* memalign(size_t alignment, size_t bytes) { return filled(__libc_memalign(alignment, bytes)); }

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  void* block = memalign(alignment, bytes);
  if (block == NULL) return ENOMEM;
  *memory = block;
  return 0;
}
