/* The seccomp filters of the worker. They apply to every thread and cannot be undone. */
#ifndef PRAGMA_WORKER_FILTER_H_
#define PRAGMA_WORKER_FILTER_H_

#include <stdint.h>

/* Installs the filter for dlopen: it allows what the dynamic loader and a running kernel need.
 * Returns 0 on success. */
int pragma_filter_load(void);
/* Installs a filter after dlopen: forbids system calls from code between the two addresses,
 * which is the candidate's own. The candidate must call the C library, by name, for what it
 * needs of the system. x86-64 only. On other processors it does nothing. */
int pragma_filter_object(uintptr_t begin, uintptr_t end);
enum pragma_runtime { PRAGMA_RUNTIME_ANY, PRAGMA_RUNTIME_LLVM };
/* Installs the last filter: it allows threads of this process, memory without PROT_EXEC, and
 * waiting between threads. Everything else is forbidden: clocks, sleeping, signal handlers.
 * Threads that start later may be bound to processors. With LLVM's runtime they bind themselves. */
int pragma_filter_run(enum pragma_runtime runtime);

#endif
