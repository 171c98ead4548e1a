#define _GNU_SOURCE
#include "worker/jail/reduced.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Landlock's interface is spelled out here, because the headers of a build machine are often older
 * than the kernel on which pragma runs. */
enum {
  kExecute = 1 << 0,
  kWriteFile = 1 << 1,
  kReadFile = 1 << 2,
  kReadFolder = 1 << 3,
  kAllOfVersion1 = (1 << 13) - 1,
  kRefer = 1 << 13,     /* version 2: move a file to another folder */
  kTruncate = 1 << 14,  /* version 3 */
  kIoctl = 1 << 15,     /* version 5: on devices */
  kTcp = 3,             /* version 4: bind and connect */
  kOtherSubjects = 3,   /* version 6: signals and abstract sockets of processes outside */
  kCreateRuleset = 444, /* numbers of the calls, the same on all processors */
  kAddRule = 445,
  kRestrictSelf = 446,
  kPathBeneath = 1
};

struct ruleset {
  __u64 files;
  __u64 network;
  __u64 scoped;
};

struct path_beneath {
  __u64 allowed;
  __s32 parent;
} __attribute__((packed));

static __u64 known_rights(int version) {
  __u64 rights = kAllOfVersion1;
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kIoctl;
  return rights;
}

static __u64 rights_for(const struct stat* info, int writable, __u64 known) {
  const __u64 on_files = kExecute | kWriteFile | kReadFile | kTruncate | kIoctl;
  __u64 rights = writable ? known : kExecute | kReadFile | kReadFolder;
  if (S_ISCHR(info->st_mode) || S_ISBLK(info->st_mode)) rights = known;
  return S_ISDIR(info->st_mode) ? rights : rights & on_files & known;
}

static int allow_path(int ruleset, const struct allowed_path* allowed, __u64 known) {
  struct stat info;
  struct path_beneath rule = {.parent = open(allowed->path, O_PATH | O_CLOEXEC)};
  if (rule.parent < 0) return 0;
  if (fstat(rule.parent, &info) != 0) return 0;
  rule.allowed = rights_for(&info, allowed->writable, known);
  const long added = syscall(kAddRule, ruleset, kPathBeneath, &rule, 0);
  close(rule.parent);
  return added == 0;
}

int restrict_files(int version, const struct allowed_path* paths, int count) {
  const struct ruleset rules = {.files = known_rights(version),
                                .network = version >= 4 ? kTcp : 0,
                                .scoped = version >= 6 ? kOtherSubjects : 0};
  const int ruleset = (int)syscall(kCreateRuleset, &rules, sizeof(rules), 0);
  if (ruleset < 0) return 0;
  for (int i = 0; i < count; ++i) {
    if (!allow_path(ruleset, &paths[i], rules.files)) return 0;
  }
  if (syscall(kRestrictSelf, ruleset, 0) != 0) return 0;
  return close(ruleset) == 0;
}

/* Calls by name, because an older libseccomp or another processor may lack some. */
static const char* const kRefused[] = {
    /* other processes' memory and descriptors */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp",
    /* what processes of one machine share without files */
    "shmget", "msgget", "semget", "mq_open", "keyctl", "add_key", "request_key", "connect",
    /* the kernel's large interfaces */
    "bpf", "io_uring_setup", "userfaultfd", "fanotify_init", "open_by_handle_at",
    /* namespaces and mounts */
    "mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"};

static const unsigned kNamespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                       CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};

/* A call that this processor does not have needs no rule. */
static int refuse(scmp_filter_ctx context, const char* name) {
  const int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR) return 0;
  const int result = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), number, 0);
  return result == -EFAULT || result == -EDOM ? 0 : result;
}

int restrict_calls(void) {
  const scmp_datum_t word = 0xffffffffU; /* the bits of an int */
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  if (context == NULL) return 0;
  int bad = 0;
  for (size_t i = 0; i < sizeof(kRefused) / sizeof(kRefused[0]); ++i) {
    bad |= refuse(context, kRefused[i]);
  }
  /* The flags of clone3 are in memory, which a filter cannot read. glibc falls back to clone. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  for (size_t i = 0; i < sizeof(kNamespaces) / sizeof(kNamespaces[0]); ++i) {
    bad |= seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                            SCMP_A0(SCMP_CMP_MASKED_EQ, kNamespaces[i], kNamespaces[i]));
  }
  bad |= seccomp_rule_add(context, SCMP_ACT_ERRNO(ENETUNREACH), SCMP_SYS(socket), 1,
                          SCMP_A0(SCMP_CMP_NE, AF_UNIX));
  /* kill(-1) reaches every process of the user. */
  bad |= seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 1,
                          SCMP_A0(SCMP_CMP_MASKED_EQ, word, word));
  bad |= bad == 0 ? seccomp_load(context) : 0;
  seccomp_release(context);
  return bad == 0;
}
