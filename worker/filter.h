/* The two seccomp filters of the worker. Both apply to every thread and cannot be undone. */
#ifndef PRAGMA_WORKER_FILTER_H_
#define PRAGMA_WORKER_FILTER_H_

/* Before dlopen: what the dynamic loader needs, and what a running kernel needs. 0 on success. */
int pragma_filter_load(void);
/* After dlopen: threads of this process, memory without PROT_EXEC, waiting. Nothing else. */
int pragma_filter_run(void);

#endif
