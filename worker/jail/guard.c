#define _GNU_SOURCE
#include "worker/jail/guard.h"

#include <errno.h>
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

/* Removes the control groups. A group stays busy for a moment after its last process was reaped. */
static void remove_groups(char** words) {
  for (; strcmp(words[0], "--remove") == 0; words += 2) {
    for (int round = 0; round < 200 && rmdir(words[1]) != 0 && errno == EBUSY; ++round) {
      const struct timespec moment = {.tv_nsec = 1000000};
      nanosleep(&moment, NULL);
    }
  }
}

int guard(char** words) {
  char** command = words;
  while (command[0] != NULL && strcmp(command[0], "--remove") == 0) command += 2;
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
  remove_groups(words);
  return 0;
}
