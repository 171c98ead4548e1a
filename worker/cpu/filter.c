#define _GNU_SOURCE
#include "worker/cpu/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls that any running kernel may make: compute, wait for its threads, allocate, start and end
 * them. */
static const int kRunning[] = {SCMP_SYS(futex),
                               SCMP_SYS(munmap),
                               SCMP_SYS(madvise),
                               SCMP_SYS(mremap),
                               SCMP_SYS(brk),
                               SCMP_SYS(exit),
                               SCMP_SYS(exit_group),
                               SCMP_SYS(rt_sigreturn),
                               SCMP_SYS(rt_sigprocmask),
                               SCMP_SYS(sched_yield),
                               SCMP_SYS(sched_getaffinity),
                               SCMP_SYS(set_robust_list),
                               SCMP_SYS(rseq),
                               SCMP_SYS(gettid),
                               SCMP_SYS(getpid),
                               SCMP_SYS(restart_syscall)};

/* Further calls that the dynamic loader makes. */
static const int kLoading[] = {
    SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek),
    SCMP_SYS(close), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(seccomp), SCMP_SYS(prctl),
    SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(set_tid_address), SCMP_SYS(prlimit64),
    /* for libraries' own initializers, and for threads that bind themselves */
    SCMP_SYS(rt_sigaction), SCMP_SYS(sigaltstack), SCMP_SYS(sched_setaffinity), SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime), SCMP_SYS(getcpu)};

static int allow(scmp_filter_ctx context, const int* calls, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int result = seccomp_rule_add(context, SCMP_ACT_ALLOW, calls[i], 0);
    /* EFAULT: this architecture does not have the call. */
    if (result != 0 && result != -EFAULT) return result;
  }
  return 0;
}

static int common_rules(scmp_filter_ctx context) {
  const pid_t self = getpid();
  int bad = allow(context, kRunning, sizeof(kRunning) / sizeof(kRunning[0]));
  /* glibc tries clone3 first, whose flags a filter cannot see. ENOSYS makes it fall back to
   * clone. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  /* Allows new threads, but no processes, and no thread that waits for another where SIGSTOP
   * does not reach it (VFORK). The flags are clone's first argument here and on AArch64. */
  bad |= seccomp_rule_add(
      context, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM | CLONE_VFORK, CLONE_THREAD | CLONE_VM));
  /* Allows signals to the process itself, so that abort() is reported as abort and not as a
   * violation. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                          SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)self));
  /* Allows writing to the log pipe only. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_LE, 2));
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(writev), 1, SCMP_A0(SCMP_CMP_LE, 2));
  return bad;
}

/* Allows naming a thread, which libomp does. All other uses of prctl stay forbidden. */
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
  /* Files may be opened only for reading. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                          SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDONLY));
  return install(context, bad);
}

/* Allows the binding of threads. If a thread could bind itself, a call could change the process
 * permanently. GCC's runtime binds threads that it has just created, by their number. LLVM's
 * threads bind themselves. */
static int allow_binding(scmp_filter_ctx context, enum pragma_runtime runtime) {
  if (runtime == PRAGMA_RUNTIME_LLVM) {
    return seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(sched_setaffinity), 0);
  }
  return seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(sched_setaffinity), 1,
                          SCMP_A0(SCMP_CMP_GT, (scmp_datum_t)getpid()));
}

#if defined(__x86_64__)
enum { kHigh = 32 };

/* Offset of seccomp_data.instruction_pointer, which the filter's machine loads as two words. */
static const uint32_t kPointerLow = offsetof(struct seccomp_data, instruction_pointer);

/* Both words of the pointer are compared, because an object may lie across a 4 GiB boundary, with
 * the C library's code on either side of it. */
int pragma_filter_object(uintptr_t begin, uintptr_t end) {
  if (end == 0) return -1;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kPointerLow + 4),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)(begin >> kHigh), 0, 9),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(end >> kHigh), 8, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(begin >> kHigh), 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kPointerLow),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)begin, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kPointerLow + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(end >> kHigh), 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kPointerLow),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)end, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}
#else
int pragma_filter_object(uintptr_t begin, uintptr_t end) {
  (void)begin;
  return end == 0 ? -1 : 0;
}
#endif

int pragma_filter_run(enum pragma_runtime runtime) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (context == NULL) return -1;
  int bad = common_rules(context);
  bad |= allow_binding(context, runtime);
  bad |= allow_thread_names(context);
  /* Allows no new code: memory may be mapped and protected, but never as executable, and never
   * from a file. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                          SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  bad |= seccomp_rule_add(context, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                          SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  return install(context, bad);
}
