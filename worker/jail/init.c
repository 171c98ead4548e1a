/* pragma-init: process 1 of a jail. It starts one program under limits, reports the program's
 * process id and how it died to pragma, and ends everything else in the jail.
 *
 *   pragma-init [--uid N] [--cwd DIR] [--as N] [--cpu N] [--fsize N] [--nproc N] [--nofile N]
 *               [--stack N] [--env NAME=VALUE]... [--fd FROM:TO]...
 *               [--reduced VERSION [--read PATH]... [--write PATH]...] -- PROGRAM [ARGUMENT]...
 *   pragma-init --true                   ends at once; used to try a jail
 *   pragma-init --guard PROGRAM ...      starts the program and waits for its end (guard.h)
 *
 * It is static and self-contained, because it must run where nothing else is bound. Its messages
 * are in init_protocol.h.
 *
 * --reduced: there are no namespaces, so the program is restricted to the paths that are named, by
 * Landlock of this version (0: the kernel has none), and by a filter (reduced.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/jail/guard.h"
#include "worker/jail/init_protocol.h"
#include "worker/jail/reduced.h"

enum { kMaxFds = 64, kMaxEnv = 256, kMaxPaths = 256, kParkedFd = 200 };

struct options {
  unsigned long uid; /* 0: keep the current user */
  const char* cwd;
  unsigned long long as, cpu, fsize, nproc, nofile, stack; /* 0: no limit */
  int from[kMaxFds], to[kMaxFds];
  int fd_count;
  char* env[kMaxEnv + 1];
  int env_count;
  int reduced;
  int landlock; /* version; 0: none */
  struct allowed_path paths[kMaxPaths];
  int path_count;
  char** program;
};

static int usage(const char* what) {
  fprintf(stderr, "pragma-init: bad argument: %s\n", what);
  return 2;
}

static int parse_fd(struct options* options, const char* text) {
  char* end = NULL;
  const long from = strtol(text, &end, 10);
  if (options->fd_count == kMaxFds || *end != ':') return 0;
  options->from[options->fd_count] = (int)from;
  options->to[options->fd_count++] = (int)strtol(end + 1, NULL, 10);
  return 1;
}

static int parse_path(struct options* options, const char* path, int writable) {
  if (options->path_count == kMaxPaths) return 0;
  options->paths[options->path_count++] = (struct allowed_path){path, writable};
  return 1;
}

static int parse_number(struct options* options, const char* name, const char* text) {
  const struct {
    const char* name;
    unsigned long long* value;
  } numbers[] = {{"--as", &options->as},         {"--cpu", &options->cpu},
                 {"--fsize", &options->fsize},   {"--nproc", &options->nproc},
                 {"--nofile", &options->nofile}, {"--stack", &options->stack}};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
    if (strcmp(name, numbers[i].name) != 0) continue;
    *numbers[i].value = strtoull(text, NULL, 10);
    return 1;
  }
  return 0;
}

static int parse_one(struct options* options, const char* name, char* value) {
  if (strcmp(name, "--fd") == 0) return parse_fd(options, value);
  if (strcmp(name, "--cwd") == 0) {
    options->cwd = value;
    return 1;
  }
  if (strcmp(name, "--uid") == 0) {
    options->uid = strtoul(value, NULL, 10);
    return 1;
  }
  if (strcmp(name, "--reduced") == 0) {
    options->reduced = 1;
    options->landlock = atoi(value);
    return 1;
  }
  if (strcmp(name, "--read") == 0) return parse_path(options, value, 0);
  if (strcmp(name, "--write") == 0) return parse_path(options, value, 1);
  if (strcmp(name, "--env") == 0) {
    if (options->env_count == kMaxEnv) return 0;
    options->env[options->env_count++] = value;
    return 1;
  }
  return parse_number(options, name, value);
}

static int parse(struct options* options, int argc, char** argv) {
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
    if (i + 1 >= argc || !parse_one(options, argv[i], argv[i + 1])) return usage(argv[i]);
  }
  if (i + 1 >= argc) return usage("no program");
  options->program = argv + i + 1;
  return 0;
}

static void send_report(const struct pragma_init_report* report) {
  while (send(PRAGMA_INIT_REPORT_FD, report, sizeof(*report), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

/* --- in the child that becomes the program --- */

static _Noreturn void give_up(int pipe_fd, uint32_t stage) {
  const struct pragma_init_report report = {
      .kind = PRAGMA_INIT_FAILED, .stage = stage, .error = errno};
  while (write(pipe_fd, &report, sizeof(report)) < 0 && errno == EINTR) {
  }
  _exit(127);
}

/* Sends HELLO and waits until pragma holds a pidfd of this process. */
static void greet(void) {
  const struct pragma_init_report hello = {.kind = PRAGMA_INIT_HELLO};
  send_report(&hello);
  char go = 0;
  ssize_t n = 0;
  do {
    n = recv(PRAGMA_INIT_REPORT_FD, &go, 1, 0);
  } while (n < 0 && errno == EINTR);
  if (n != 1) _exit(127);
}

/* Gives the descriptors their numbers. 0, 1 and 2 are /dev/null unless mapped. All others except
 * the mapped ones close at exec. Sources are first moved to spare numbers, because one may have
 * the number of another one's target. */
static int place_descriptors(const struct options* options) {
  int parked[kMaxFds];
  for (int i = 0; i < options->fd_count; ++i) {
    parked[i] = fcntl(options->from[i], F_DUPFD_CLOEXEC, kParkedFd);
    if (parked[i] < 0) return 0;
  }
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return 0;
  for (int fd = 0; fd <= 2; ++fd) {
    if (dup2(null, fd) < 0) return 0;
  }
  if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return 0;
  for (int i = 0; i < options->fd_count; ++i) {
    if (dup2(parked[i], options->to[i]) < 0) return 0;
  }
  return 1;
}

/* Changes to a separate user, so that RLIMIT_NPROC counts (it never does for root) and root's
 * rights are gone. Only CAP_DAC_OVERRIDE is kept: the binds are the protection, and files that
 * are bound belong to root and may be private to it. */
static int become_user(const struct options* options) {
  if (options->uid == 0) return 1;
  const uid_t uid = (uid_t)options->uid;
  /* Compilers ask with access() whether they may write to their folder. Without this bit access()
   * ignores the right that is kept. In the full jail the folders above are open to all. */
  if (options->reduced) prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP);
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0) return 0;
  if (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0) return 0;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2] = {{0}, {0}};
  const uint32_t keep = 1U << CAP_DAC_OVERRIDE;
  data[0].effective = data[0].permitted = data[0].inheritable = keep;
  if (syscall(SYS_capset, &header, data) != 0) return 0;
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0) == 0;
}

/* Sets a limit. Never asks for more than the current limit. */
static int limit(int resource, unsigned long long soft, unsigned long long hard) {
  struct rlimit now;
  if (getrlimit((__rlimit_resource_t)resource, &now) != 0) return 0;
  if (hard < now.rlim_max) now.rlim_max = hard;
  now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
  return setrlimit((__rlimit_resource_t)resource, &now) == 0;
}

static int apply_limits(const struct options* options) {
  const struct {
    int resource;
    unsigned long long value;
  } limits[] = {{RLIMIT_AS, options->as},
                {RLIMIT_FSIZE, options->fsize},
                {RLIMIT_NPROC, options->nproc},
                {RLIMIT_STACK, options->stack},
                {RLIMIT_NOFILE, options->nofile}};
  for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); ++i) {
    if (limits[i].value != 0 && !limit(limits[i].resource, limits[i].value, limits[i].value)) {
      return 0;
    }
  }
  /* The second between the limits separates SIGXCPU, which names the cause, from SIGKILL. */
  if (options->cpu != 0 && !limit(RLIMIT_CPU, options->cpu, options->cpu + 1)) return 0;
  return limit(RLIMIT_CORE, 0, 0);
}

static void default_signals(void) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void restrict_program(const struct options* options, int pipe_fd) {
  if (!options->reduced) return;
  if (options->landlock > 0 &&
      !restrict_files(options->landlock, options->paths, options->path_count)) {
    give_up(pipe_fd, PRAGMA_STAGE_FILES);
  }
  if (!restrict_calls()) give_up(pipe_fd, PRAGMA_STAGE_CALLS);
}

static _Noreturn void become_program(const struct options* options, int pipe_fd, pid_t init) {
  greet();
  pipe_fd = fcntl(pipe_fd, F_DUPFD_CLOEXEC, kParkedFd);
  /* Only a session of its own has no terminal. In the full jail bwrap has made it. */
  if (options->reduced) {
    setsid();
  } else {
    setpgid(0, 0);
  }
  if (!place_descriptors(options)) give_up(pipe_fd, PRAGMA_STAGE_DESCRIPTORS);
  if (!become_user(options)) give_up(pipe_fd, PRAGMA_STAGE_USER);
  if (options->cwd != NULL && chdir(options->cwd) != 0) give_up(pipe_fd, PRAGMA_STAGE_FOLDER);
  /* The death signal is set after the change of user, which would clear it. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != init) _exit(127);
  default_signals();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !apply_limits(options)) {
    give_up(pipe_fd, PRAGMA_STAGE_LIMITS);
  }
  restrict_program(options, pipe_fd);
  execve(options->program[0], options->program, (char* const*)options->env);
  give_up(pipe_fd, PRAGMA_STAGE_EXEC);
}

/* --- in init --- */

static void ignore_signals(void) {
  const int numbers[] = {SIGINT,  SIGTERM, SIGQUIT, SIGHUP,  SIGTSTP,
                         SIGTTIN, SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) signal(numbers[i], SIG_IGN);
}

/* Reports the start. The pipe closes at a successful exec, and a child that fails writes a
 * report into it. */
static void report_start(int pipe_fd) {
  struct pragma_init_report report = {.kind = PRAGMA_INIT_RUNNING};
  struct pragma_init_report failed;
  ssize_t n = 0;
  do {
    n = read(pipe_fd, &failed, sizeof(failed));
  } while (n < 0 && errno == EINTR);
  if (n == (ssize_t)sizeof(failed)) report = failed;
  close(pipe_fd);
  send_report(&report);
}

/* Reaps every orphan. Returns once the program itself is dead. */
static void report_death(pid_t program) {
  struct pragma_init_report report = {.kind = PRAGMA_INIT_DIED};
  for (;;) {
    const pid_t pid = wait4(-1, &report.status, 0, &report.usage);
    if (pid == program) break;
    if (pid < 0 && errno != EINTR) return;
  }
  send_report(&report);
}

/* Kills the remaining processes. Without a pid namespace, orphans become children of init, which
 * is their subreaper, and are killed one by one. With a pid namespace the kernel kills them when
 * init ends. */
static void kill_leftovers(void) {
  for (int round = 0; round < 10000 && kill_children_once() > 0; ++round) waitpid(-1, NULL, 0);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--true") == 0) return 0;
  if (argc > 2 && strcmp(argv[1], "--guard") == 0) return guard(argv + 2);
  static struct options options;
  const int wrong = parse(&options, argc, argv);
  if (wrong != 0) return wrong;
  ignore_signals();
  syscall(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, NULL); /* drop access to the caller's
                                                                     keys */
  /* Where program and init have the same user, /proc must not give the program access to init's
   * memory. */
  prctl(PR_SET_DUMPABLE, 0);
  const pid_t self = getpid();
  if (self != 1) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  fcntl(PRAGMA_INIT_REPORT_FD, F_SETFD, FD_CLOEXEC);
  int started[2];
  if (pipe2(started, O_CLOEXEC) != 0) return 2;
  const pid_t program = fork();
  if (program < 0) {
    perror("pragma-init: fork");
    return 2;
  }
  if (program == 0) become_program(&options, started[1], self);
  close(started[1]);
  for (int i = 0; i < options.fd_count; ++i) close(options.from[i]);
  report_start(started[0]);
  report_death(program);
  if (self != 1) kill_leftovers();
  return 0;
}
