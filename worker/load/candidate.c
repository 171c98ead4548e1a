#define _GNU_SOURCE
#include "worker/load/candidate.h"

#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/load/deferred_tag.h"

void candidate_construct(void* handle) {
  typedef void (*initializer)(int, char**, char**);
  const struct link_map* map = NULL;
  initializer init = NULL;
  const initializer* array = NULL;
  size_t count = 0;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t address = map->l_addr + entry->d_un.d_ptr;
    switch (entry->d_tag - PRAGMA_DEFERRED_TAG) {
      case DT_INIT: init = (initializer)address; break;
      case DT_INIT_ARRAY: array = (const initializer*)address; break;
      case DT_INIT_ARRAYSZ: count = entry->d_un.d_val / sizeof(initializer); break;
      default: break;
    }
  }
  char name[] = "kernel";
  char* arguments[] = {name, NULL};
  if (init != NULL) init(1, arguments, environ);
  for (size_t i = 0; array != NULL && i < count; ++i) array[i](1, arguments, environ);
}

void candidate_say(struct pragma_control* control, const char* text) {
  strncpy(control->message, text, sizeof(control->message) - 1);
}

static void futex(uint32_t* word, int operation, uint32_t value) {
  syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

void candidate_serve(struct pragma_control* control, int (*serve)(void* state), void* state) {
  uint32_t served = 0;
  for (;;) {
    uint32_t ticket = __atomic_load_n(&control->doorbell, __ATOMIC_ACQUIRE);
    if (ticket == served) {
      futex(&control->doorbell, FUTEX_WAIT, served);
      continue;
    }
    if (control->command == PRAGMA_EXIT) _exit(0);
    control->result = (uint32_t)serve(state);
    served = ticket;
    __atomic_store_n(&control->done, ticket, __ATOMIC_RELEASE);
    futex(&control->done, FUTEX_WAKE, 1);
  }
}
