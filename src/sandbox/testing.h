// For tests: one misbehaving program (kMischief), jails to run it in, and what ran there.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "sandbox/jail.h"

namespace pragma {

inline constexpr const char* kMischief = R"(
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <unistd.h>
extern char** environ;
static void* spin(void* p) { for (volatile long i = 0;; ++i) if (!p) return 0; return p; }
static int is(const char* a, const char* b) { return strcmp(a, b) == 0; }
static int forks(void) {
  int n = 0;
  while (n < 2000) {
    pid_t p = fork();
    if (p < 0) break;
    if (p == 0) { pause(); _exit(0); }
    ++n;
  }
  printf("forked %d %s\n", n, errno == EAGAIN ? "then EAGAIN" : "");
  return 0;
}
static int connect_out(void) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(53)};
  inet_pton(AF_INET, "192.0.2.1", &a.sin_addr);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  printf("connect %s\n", connect(s, (struct sockaddr*)&a, sizeof a) ? strerror(errno) : "worked");
  return 0;
}
static int fds(void) {
  for (int i = 0; i < 1024; ++i) if (fcntl(i, F_GETFD) != -1) printf("fd%d ", i);
  puts("");
  return 0;
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  setvbuf(stdout, 0, _IONBF, 0);
  if (is(what, "segv")) *(volatile int*)0 = 1;
  if (is(what, "abort")) abort();
  if (is(what, "fpe")) raise(SIGFPE);
  if (is(what, "sys")) raise(SIGSYS);
  if (is(what, "exit")) return atoi(argv[2]);
  if (is(what, "loop")) spin(argv);
  if (is(what, "fork")) return forks();
  if (is(what, "net")) return connect_out();
  if (is(what, "fds")) return fds();
  if (is(what, "hog")) {
    for (int i = 0;; ++i) {
      char* p = malloc(16 << 20);
      if (!p) { printf("refused after %d MiB\n", i * 16); return 4; }
      memset(p, 1, 16 << 20);
    }
  }
  if (is(what, "write")) {
    int fd = open(argv[2], O_CREAT | O_WRONLY, 0600);
    printf("%s: %s\n", argv[2], fd < 0 ? strerror(errno) : "written");
    return fd < 0;
  }
  if (is(what, "big")) {
    int fd = open(argv[2], O_CREAT | O_WRONLY, 0600);
    static char block[1 << 20];
    for (int i = 0; i < 1000; ++i) if (write(fd, block, sizeof block) < 0) { perror("write"); return 5; }
  }
  if (is(what, "read")) {
    char b[100]; int fd = open(argv[2], O_RDONLY); ssize_t n = fd < 0 ? -1 : read(fd, b, sizeof b);
    if (n < 0) { printf("%s: %s\n", argv[2], strerror(errno)); return 1; }
    fwrite(b, 1, (size_t)n, stdout);
  }
  if (is(what, "env")) for (char** e = environ; *e; ++e) puts(*e);
  if (is(what, "id")) printf("pid %d ppid %d uid0 %d\n", getpid(), getppid(), getuid() == 0);
  if (is(what, "core")) { struct rlimit r; getrlimit(RLIMIT_CORE, &r); printf("core %ld\n", (long)r.rlim_max); }
  if (is(what, "noise")) for (;;) puts("noise noise noise noise");
  if (is(what, "orphan")) {
    if (fork() == 0) { setsid(); if (fork() == 0) { for (;;) pause(); } _exit(0); }
    wait(0); puts("left an orphan"); return 0;
  }
  if (is(what, "child") || is(what, "stray")) {
    if (fork() == 0) { if (is(what, "stray") && fork() != 0) _exit(0); for (;;) pause(); }
    if (is(what, "stray")) wait(0);
    if (write(3, "r", 1) != 1) return 9;
    for (;;) pause();
  }
  if (is(what, "access")) puts(access(argv[2], R_OK | W_OK | X_OK) ? strerror(errno) : "permitted");
  if (is(what, "signal")) { printf("signal %s\n", kill(atoi(argv[2]), 0) ? strerror(errno) : "arrives"); return 0; }
  if (is(what, "connect")) {
    struct sockaddr_un a = {.sun_family = AF_UNIX}; strcpy(a.sun_path, argv[2]);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    printf("connect %s\n", connect(s, (struct sockaddr*)&a, sizeof a) ? strerror(errno) : "worked");
    return 0;
  }
  if (is(what, "closed")) {
    mkdir(argv[2], 0700);
    if (chdir(argv[2]) || mkdir("x", 0700) || chmod("x", 0) || chmod(".", 0)) return 9;
    return 0;
  }
  if (is(what, "killall")) { kill(-1, SIGKILL); kill(1, SIGKILL); kill(1, SIGTERM); puts("still here"); return 0; }
  if (is(what, "threads")) {
    pthread_t t; for (int i = 0; i < 4; ++i) pthread_create(&t, 0, spin, argv);
    if (write(3, "r", 1) != 1) return 9;
    spin(argv);
  }
  return 0;
}
)";

// Builds the program once and returns its path. It is linked statically, so no library has to be
// bound for it.
inline const std::string& MischiefPath() {
  static TempDir* folder = new TempDir(TempDir::Create().value());
  static const std::string path = [] {
    const std::string source = folder->path() / "mischief.c";
    const std::string binary = folder->path() / "mischief";
    EXPECT_TRUE(WriteFileAtomic(source, kMischief));
    const auto built = RunProcess(
        {.argv = {"gcc", "-static", "-pthread", "-O1", "-o", binary, source}, .inherit_env = true},
        {});
    EXPECT_TRUE(built && built->status.ok()) << built->err;
    return binary;
  }();
  return path;
}

inline std::string NameOf(SandboxMode mode) {
  if (mode == SandboxMode::kFull) return "jailed";
  return mode == SandboxMode::kReduced ? "reduced" : "unsafe";
}

inline SandboxMode ModeNamed(const std::string& name) {
  if (name == "jailed") return SandboxMode::kFull;
  return name == "reduced" ? SandboxMode::kReduced : SandboxMode::kUnsafeNone;
}

inline const Jail& TheJail(SandboxMode mode = SandboxMode::kFull) {
  static const auto full = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kFull);
  static const auto reduced = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kReduced);
  static const auto unsafe = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kUnsafeNone);
  const auto& some = mode == SandboxMode::kReduced ? reduced : unsafe;
  const auto& jail = mode == SandboxMode::kFull ? full : some;
  if (!jail) {
    ADD_FAILURE() << jail.error().message;
    std::abort();
  }
  return *jail;
}

inline JailSpec Spec(std::vector<std::string> arguments) {
  JailSpec spec;
  spec.argv = {"/mischief"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.binds = {{MischiefPath(), "/mischief", false}};
  return spec;
}

inline Jail::RunOutcome RunIn(const JailSpec& spec, Seconds wall = Seconds{60},
                              SandboxMode mode = SandboxMode::kFull) {
  auto run = TheJail(mode).Run(spec, RunLimits{.wall = wall});
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : Jail::RunOutcome{};
}

inline std::string ModeName(const testing::TestParamInfo<SandboxMode>& name) {
  return NameOf(name.param);
}

}  // namespace pragma
