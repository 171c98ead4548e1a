/* pragma-confine: installs the seccomp filter of a Python candidate, then becomes the program.
 *
 *   pragma-confine LATE_FD PROGRAM [ARGUMENT]...
 *
 * PyTorch needs far more system calls than a C++ kernel, and load-time C++ extensions need
 * compilers. This filter therefore lists what is forbidden, while the worker's own filter
 * (filter.h) lists what is allowed. It is installed before the interpreter starts, no candidate
 * can remove it, and every child inherits it.
 *
 * LATE_FD, unless it is 0, becomes a descriptor with a second filter in the kernel's own format
 * (struct sock_filter): no new processes and programs. The program installs it once it no longer
 * needs a compiler (python/pragma_candidate/late_filter.py). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The calls are listed by name, because an older libseccomp or another processor may lack some. */
static const char* const kForbidden[] = {
    /* other processes' memory and descriptors */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    /* the kernel's large interfaces */
    "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "userfaultfd", "keyctl", "add_key", "request_key", "fanotify_init", "lookup_dcookie",
    "open_by_handle_at", "name_to_handle_at",
    /* namespaces and mounts */
    "mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    /* the machine */
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
    "swapon", "swapoff", "acct", "quotactl", "syslog", "settimeofday", "clock_settime",
    "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "iopl", "ioperm", "nfsservctl"};

static const unsigned kNamespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                       CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

static int forbid(scmp_filter_ctx context, const char* name) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return 0;
  const int result = seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, number, 0);
  return result == -EFAULT || result == -EDOM ? 0 : result; /* the call does not exist on this
                                                               processor */
}

static int install(void) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  if (context == NULL) return -1;
  int bad = 0;
  for (size_t i = 0; i < sizeof(kForbidden) / sizeof(kForbidden[0]); ++i) {
    bad |= forbid(context, kForbidden[i]);
  }
  /* The flags of clone3 are in memory, which a filter cannot read. glibc falls back to clone. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  for (size_t i = 0; i < sizeof(kNamespaces) / sizeof(kNamespaces[0]); ++i) {
    bad |= seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, kNamespaces[i], kNamespaces[i]));
  }
  const int sockets[] = {SCMP_SYS(socket), SCMP_SYS(socketpair)};
  for (size_t i = 0; i < 2; ++i) {
    bad |= seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, sockets[i], 1,
                            SCMP_A0(SCMP_CMP_NE, AF_UNIX));
  }
  bad |= bad == 0 ? seccomp_load(context) : 0;
  seccomp_release(context);
  return bad;
}

static int leave_late_filter(int fd) {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  const int file = memfd_create("pragma-late-filter", MFD_CLOEXEC);
  if (context == NULL || file < 0) return -1;
  int bad = seccomp_rule_add(context, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
                             SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  const char* const names[] = {"fork", "vfork", "execve", "execveat"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) bad |= forbid(context, names[i]);
  bad |= seccomp_export_bpf(context, file);
  seccomp_release(context);
  if (bad != 0) return -1;
  if (file == fd) return fcntl(fd, F_SETFD, 0);
  if (dup2(file, fd) < 0) return -1;
  return close(file);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int late = atoi(argv[1]);
  if (late > 0 && leave_late_filter(late) != 0) {
    fprintf(stderr, "pragma-confine: cannot make the second seccomp filter\n");
    return 126;
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || install() != 0) {
    fprintf(stderr, "pragma-confine: cannot install the seccomp filter\n");
    return 126;
  }
  execv(argv[2], argv + 2);
  perror("pragma-confine: exec");
  return 127;
}
