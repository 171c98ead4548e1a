#define _GNU_SOURCE
#include "worker/jail/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker/jail/init_protocol.h"

int kill_children_once(void) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
  FILE* file = fopen(path, "re");
  if (file == NULL) return 0;
  int count = 0;
  int pid = 0;
  while (fscanf(file, "%d", &pid) == 1 && pid > 0) {
    kill(pid, SIGKILL);
    ++count;
  }
  fclose(file);
  return count;
}

/* Kills all processes below this one. Grandchildren become children of the guard only when their
 * parents die, so it takes several passes. */
static void kill_everything(void) {
  while (kill_children_once() > 0) waitpid(-1, NULL, 0);
}

/* Reaps dead children. Returns true while there is a child. */
static int reap(void) {
  pid_t pid = 0;
  do {
    pid = waitpid(-1, NULL, WNOHANG);
  } while (pid > 0 || (pid < 0 && errno == EINTR));
  return pid == 0;
}

/* Waits until everything below has ended, or pragma's end of the report socket is closed. */
static void watch(int signals) {
  struct pollfd waiters[2] = {{.fd = PRAGMA_INIT_REPORT_FD, .events = 0},
                              {.fd = signals, .events = POLLIN}};
  while (reap()) {
    if (poll(waiters, 2, -1) < 0) continue;
    if (waiters[0].revents != 0) kill_everything();
    struct signalfd_siginfo info; /* only empties the descriptor: reap() asks the kernel */
    if (read(signals, &info, sizeof(info)) < 0 && errno != EAGAIN) kill_everything();
  }
}

/* Removes a control group. It stays busy for a moment after its last process was reaped. */
static void remove_group(const char* folder) {
  for (int round = 0; round < 200 && rmdir(folder) != 0 && errno == EBUSY; ++round) {
    const struct timespec moment = {.tv_nsec = 1000000};
    nanosleep(&moment, NULL);
  }
}

static void run(char* const* words) {
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; ++fd) dup2(null, fd);
    execv(words[0], words);
    _exit(127);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

/* Removes a folder that the program could write: rm follows no link and masters any depth. The
 * program may have closed a folder to its own user. */
static void clear_folder(char* folder) {
  char* const clear[] = {"/bin/rm", "-rf", "--", folder, NULL};
  char* const open_up[] = {"/bin/chmod", "-R", "u+rwX", "--", folder, NULL};
  run(clear);
  if (access(folder, F_OK) != 0) return;
  run(open_up);
  run(clear);
}

static void clean_up(char** words) {
  for (;; words += 2) {
    if (strcmp(words[0], "--remove") == 0) {
      remove_group(words[1]);
    } else if (strcmp(words[0], "--clear") == 0) {
      clear_folder(words[1]);
    } else {
      return;
    }
  }
}

static char** command_in(char** words) {
  while (words[0] != NULL &&
         (strcmp(words[0], "--remove") == 0 || strcmp(words[0], "--clear") == 0)) {
    words += 2;
  }
  return words;
}

int guard(char** words) {
  char** command = command_in(words);
  const pid_t self = getpid();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0 || signals >= PRAGMA_INIT_FIRST_FD) return 2;
  /* The guard outlives pragma for as long as the clean-up takes. watch() sees the end of pragma. */
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 || prctl(PR_SET_PDEATHSIG, 0) != 0) return 2;
  const pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) {
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(127);
    execv(command[0], command);
    perror(command[0]);
    _exit(127);
  }
  syscall(SYS_close_range, (unsigned)PRAGMA_INIT_FIRST_FD, ~0U, 0); /* these belong to the
                                                                       program, not to the guard */
  watch(signals);
  clean_up(words);
  return 0;
}
