#define _GNU_SOURCE
#include "worker/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What any running kernel may do: compute, wait, allocate, start and end threads of its own. */
static const int kRunning[] = {SCMP_SYS(futex),
                               SCMP_SYS(munmap),
                               SCMP_SYS(madvise),
                               SCMP_SYS(mremap),
                               SCMP_SYS(brk),
                               SCMP_SYS(exit),
                               SCMP_SYS(exit_group),
                               SCMP_SYS(rt_sigreturn),
                               SCMP_SYS(rt_sigprocmask),
                               SCMP_SYS(rt_sigaction),
                               SCMP_SYS(sigaltstack),
                               SCMP_SYS(clock_gettime),
                               SCMP_SYS(gettimeofday),
                               SCMP_SYS(clock_nanosleep),
                               SCMP_SYS(nanosleep),
                               SCMP_SYS(sched_yield),
                               SCMP_SYS(sched_getaffinity),
                               SCMP_SYS(sched_setaffinity), /* OMP_PROC_BIND */
                               SCMP_SYS(set_robust_list),
                               SCMP_SYS(rseq),
                               SCMP_SYS(gettid),
                               SCMP_SYS(getpid),
                               SCMP_SYS(getrandom),
                               SCMP_SYS(getcpu),
                               SCMP_SYS(restart_syscall),
                               SCMP_SYS(membarrier)};

/* What the dynamic loader does besides. */
static const int kLoading[] = {SCMP_SYS(read),       SCMP_SYS(pread64),   SCMP_SYS(fstat),
                               SCMP_SYS(newfstatat), SCMP_SYS(lseek),     SCMP_SYS(close),
                               SCMP_SYS(mmap),       SCMP_SYS(mprotect),  SCMP_SYS(seccomp),
                               SCMP_SYS(prctl),      SCMP_SYS(readlink),  SCMP_SYS(readlinkat),
                               SCMP_SYS(access),     SCMP_SYS(faccessat), SCMP_SYS(set_tid_address),
                               SCMP_SYS(prlimit64)};

static int allow(scmp_filter_ctx context, const int* calls, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int result = seccomp_rule_add(context, SCMP_ACT_ALLOW, calls[i], 0);
    /* EFAULT: a call this architecture does not have. */
    if (result != 0 && result != -EFAULT) return result;
  }
  return 0;
}

static int common_rules(scmp_filter_ctx context) {
  const pid_t self = getpid();
  int bad = allow(context, kRunning, sizeof(kRunning) / sizeof(kRunning[0]));
  /* glibc tries clone3 first, whose flags a filter cannot see; ENOSYS makes it fall back to clone.
   */
  bad |= seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  /* Threads, never processes, and none that waits for another beyond the reach of SIGSTOP (VFORK).
   * The flags are clone's first argument here and on AArch64. */
  bad |= seccomp_rule_add(
      context, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM | CLONE_VFORK, CLONE_THREAD | CLONE_VM));
  /* Signals to itself, so that abort() is seen as abort and not as a violation. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                          SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)self));
  /* The log pipe only. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_LE, 2));
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(writev), 1, SCMP_A0(SCMP_CMP_LE, 2));
  return bad;
}

/* Names a thread: libomp does so. Anything else prctl can do stays forbidden. */
static int allow_thread_names(scmp_filter_ctx context) {
  return seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                          SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
}

static int install(scmp_filter_ctx context, int bad) {
  bad |= seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1);
  bad |= bad == 0 ? seccomp_load(context) : 0;
  seccomp_release(context);
  return bad;
}

int pragma_filter_load(void) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (context == NULL) return -1;
  int bad = common_rules(context);
  bad |= allow(context, kLoading, sizeof(kLoading) / sizeof(kLoading[0]));
  /* Reading only. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                          SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDONLY));
  return install(context, bad);
}

int pragma_filter_run(void) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (context == NULL) return -1;
  int bad = common_rules(context);
  bad |= allow_thread_names(context);
  /* No new code: memory may be mapped and protected, but never executable, and never from a file.
   */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                          SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                          SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  return install(context, bad);
}
