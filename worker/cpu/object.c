#define _GNU_SOURCE
#include "worker/cpu/object.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

struct search {
  uintptr_t base;
  int seal;
  int failed;
  struct object_range range;
  struct object_range data; /* writable segments, without the part that the loader made read-only */
  uintptr_t relro_end;
  size_t thread_bytes;
};

static void extend(struct object_range* range, uintptr_t begin, uintptr_t end) {
  if (range->end == 0 || begin < range->begin) range->begin = begin;
  if (end > range->end) range->end = end;
}

static void seal_segment(struct search* search, uintptr_t begin, uintptr_t end) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  if (mprotect((void*)begin, end - begin, PROT_READ) != 0) search->failed = 1;
}

static int visit(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  if (info->dlpi_addr != search->base) return 0;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
    const uintptr_t end = begin + segment->p_memsz;
    if (segment->p_type == PT_GNU_RELRO) search->relro_end = end;
    if (segment->p_type == PT_TLS) search->thread_bytes = segment->p_memsz;
    if (segment->p_type != PT_LOAD) continue;
    extend(&search->range, begin, end);
    if ((segment->p_flags & PF_W) == 0) continue;
    extend(&search->data, begin, end);
    if (search->seal) seal_segment(search, begin, end);
  }
  return 1;
}

static struct search look(void* handle, int seal) {
  const struct link_map* map = NULL;
  struct search search = {.seal = seal, .failed = 1};
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return search;
  search.base = map->l_addr;
  search.failed = 0;
  if (dl_iterate_phdr(visit, &search) != 1) search.failed = 1;
  return search;
}

struct object_range object_range(void* handle) { return look(handle, 0).range; }

int object_seal(void* handle) { return look(handle, 1).failed ? -1 : 0; }

struct object_range object_data(void* handle) {
  const struct search found = look(handle, 0);
  struct object_range data = found.data;
  /* The loader makes the pages in front of this address read-only. */
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t open = found.relro_end / page * page;
  if (data.begin < open) data.begin = open;
  if (data.end < data.begin) data.end = data.begin;
  return data;
}

size_t object_thread_bytes(void* handle) { return look(handle, 0).thread_bytes; }

/* The loader's function that compiled code calls. It allocates the data if the thread has none
 * yet, which RTLD_DI_TLS_DATA does not. */
struct thread_variable {
  size_t module;
  size_t offset;
};
extern void* __tls_get_addr(struct thread_variable* variable);

uintptr_t object_thread_data(void* handle) {
  struct thread_variable first = {0, 0};
  if (dlinfo(handle, RTLD_DI_TLS_MODID, &first.module) != 0 || first.module == 0) return 0;
  return (uintptr_t)__tls_get_addr(&first);
}
