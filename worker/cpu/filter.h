/* The two seccomp filters of the worker. Both apply to every thread and cannot be undone. */
#ifndef PRAGMA_WORKER_FILTER_H_
#define PRAGMA_WORKER_FILTER_H_

#include <stdint.h>

/* Before dlopen: what the dynamic loader needs, and what a running kernel needs. 0 on success. */
int pragma_filter_load(void);
/* After dlopen: no system call from code between the two addresses, the candidate's own: what it
 * needs of the system it calls in the C library, by name. x86-64 only; elsewhere nothing. */
int pragma_filter_object(uintptr_t begin, uintptr_t end);
enum pragma_runtime { PRAGMA_RUNTIME_ANY, PRAGMA_RUNTIME_LLVM };
/* Then: threads of this process, memory without PROT_EXEC, waiting for each other. Nothing else: no
 * clock, no sleep, no signal handler. Threads that start later may be bound to processors; with
 * LLVM's runtime they do that themselves. */
int pragma_filter_run(enum pragma_runtime runtime);

#endif
