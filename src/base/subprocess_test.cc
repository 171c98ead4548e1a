#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/text.h"

namespace pragma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr RunLimits kLimits{.wall = Seconds{60}};

ProcessSpec Shell(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)}, .env = {{"PATH", "/usr/bin:/bin"}}};
}

bool Exists(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

// Waits until `pid` no longer exists. Returns false after ten seconds.
bool Vanishes(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    if (!Exists(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(RunProcessTest, CapturesBothOutputsAndTheExitCode) {
  const RunResult result = RunProcess(Shell("echo out; echo err >&2; exit 3"), kLimits).value();
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.status.signalled);
  EXPECT_EQ(result.status.code, 3);
  EXPECT_FALSE(result.status.ok());
  EXPECT_FALSE(result.timed_out);
}

TEST(RunProcessTest, FeedsInputLargerThanAPipe) {
  ProcessSpec spec = Shell("wc -c");
  spec.stdin_text = std::string(1 << 20, 'x');
  EXPECT_EQ(Trim(RunProcess(spec, kLimits).value().out), "1048576");
}

TEST(RunProcessTest, AProgramThatReadsNothingDoesNotEndUs) {
  ProcessSpec spec = Shell("exec <&-; echo done");
  spec.stdin_text = std::string(1 << 20, 'x');
  EXPECT_EQ(RunProcess(spec, kLimits).value().out, "done\n");
}

TEST(RunProcessTest, WithoutInputStdinIsEmpty) {
  EXPECT_EQ(Trim(RunProcess(Shell("wc -c"), kLimits).value().out), "0");
}

TEST(RunProcessTest, OutputOverTheLimitIsDroppedAndTheProgramRunsOn) {
  const RunLimits limits{.wall = Seconds{60}, .max_output_bytes = 1000};
  const RunResult result =
      RunProcess(Shell("head -c 300000 /dev/zero; echo end >&2"), limits).value();
  EXPECT_EQ(result.out.size(), 1000U);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.err, "end\n");
  EXPECT_TRUE(result.status.ok());
}

TEST(RunProcessTest, TheLimitKillsTheWholeGroup) {
  const RunLimits limits{.wall = Seconds{0.3}};
  const RunResult result = RunProcess(Shell("sleep 1000 & echo $!; sleep 1000"), limits).value();
  EXPECT_TRUE(result.timed_out);
  EXPECT_TRUE(result.status.signalled);
  EXPECT_EQ(result.status.code, SIGKILL);
  EXPECT_TRUE(Vanishes(std::stoi(result.out)));
}

TEST(RunProcessTest, ASignalIsToldApartFromAnExit) {
  const RunResult result = RunProcess(Shell("kill -SEGV $$"), kLimits).value();
  EXPECT_TRUE(result.status.signalled);
  EXPECT_EQ(result.status.code, SIGSEGV);
}

TEST(RunProcessTest, AMissingProgramIsAnErrorThatNamesIt) {
  const auto result = RunProcess({.argv = {"/no/such/program"}}, kLimits);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("/no/such/program"), HasSubstr("No such file or directory")));
  EXPECT_FALSE(RunProcess({}, kLimits));
  ProcessSpec nowhere = Shell("true");
  nowhere.cwd = "/no/such/folder";
  EXPECT_FALSE(RunProcess(nowhere, kLimits));
}

TEST(RunProcessTest, TheEnvironmentIsWhatTheSpecSays) {
  ::setenv("PRAGMA_TEST_SECRET", "s3cret", 1);
  ProcessSpec spec{.argv = {"/usr/bin/env"}, .env = {{"A", "1"}, {"B", "x=y"}}};
  EXPECT_THAT(SplitLines(RunProcess(spec, kLimits).value().out), ElementsAre("A=1", "B=x=y"));
  spec.inherit_env = true;
  spec.env = {{"PRAGMA_TEST_SECRET", "changed"}};
  EXPECT_THAT(SplitLines(RunProcess(spec, kLimits).value().out),
              ::testing::Contains("PRAGMA_TEST_SECRET=changed"));
  ::unsetenv("PRAGMA_TEST_SECRET");
}

TEST(RunProcessTest, TheWorkingFolderIsWhatTheSpecSays) {
  ProcessSpec spec = Shell("pwd");
  spec.cwd = "/usr";
  EXPECT_EQ(RunProcess(spec, kLimits).value().out, "/usr\n");
}

TEST(ProcessTest, OnlyTheNamedDescriptorsReachTheChild) {
  // Opened without close-on-exec, as a careless library would do.
  const UniqueFd leaked(::open("/etc/passwd", O_RDONLY));
  const UniqueFd passed(::open("/etc/hostname", O_RDONLY | O_CLOEXEC));
  ProcessSpec spec = Shell("ls /proc/self/fd; readlink /proc/self/fd/7");
  spec.fds = {{passed.get(), 7}};
  const RunResult result = RunProcess(spec, kLimits).value();
  // Descriptor 3 is the folder that ls itself opens.
  EXPECT_THAT(SplitLines(result.out), ElementsAre("0", "1", "2", "3", "7", "/etc/hostname"));
}

TEST(ProcessTest, DescriptorsMaySwapNumbers) {
  const UniqueFd a(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  const UniqueFd b(::open("/etc/hostname", O_RDONLY | O_CLOEXEC));
  const std::string names[] = {std::to_string(a.get()), std::to_string(b.get())};
  ProcessSpec spec =
      Shell("readlink /proc/self/fd/" + names[0] + "; readlink /proc/self/fd/" + names[1]);
  spec.fds = {{a.get(), b.get()}, {b.get(), a.get()}};
  const RunResult result = RunProcess(spec, kLimits).value();
  EXPECT_THAT(SplitLines(result.out), ElementsAre("/etc/hostname", "/etc/passwd"));
}

TEST(ProcessTest, LeadsItsOwnGroupAndStartsWithDefaultSignals) {
  const RunResult result =
      RunProcess(Shell("read -r line </proc/self/stat; set -- $line; echo $1 $5;"
                       "grep -E 'SigIgn|SigBlk' /proc/self/status"),
                 kLimits)
          .value();
  const auto lines = SplitLines(result.out);
  const auto ids = Split(lines.at(0), ' ');
  EXPECT_EQ(ids.at(0), ids.at(1));
  EXPECT_NE(ids.at(1), std::to_string(::getpgrp()));
  // The C library reserves signals 32 and 33, so their state is not checked.
  constexpr std::uint64_t kReserved = 3ULL << 31U;
  for (const std::size_t line : {std::size_t{1}, std::size_t{2}}) {
    const std::string mask = Split(lines.at(line), '\t').at(1);
    EXPECT_EQ(std::stoull(mask, nullptr, 16) & ~kReserved, 0U) << lines.at(line);
  }
}

TEST(ProcessTest, WaitForReturnsNothingWhileTheChildLives) {
  Process process = Process::Spawn(Shell("sleep 1000")).value();
  EXPECT_FALSE(process.WaitFor(Seconds{0}));
  EXPECT_TRUE(process.alive());
  process.Signal(SIGTERM);
  const auto status = process.WaitFor(Seconds{30});
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->signalled);
  EXPECT_EQ(status->code, SIGTERM);
  EXPECT_FALSE(process.alive());
  EXPECT_TRUE(process.WaitFor(Seconds{0})) << "the status stays available";
}

TEST(ProcessTest, PidfdIsReadableOnceTheChildIsDead) {
  const Process process = Process::Spawn(Shell("exit 0")).value();
  pollfd waiter{.fd = process.pidfd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waiter, 1, 30000), 1);
}

TEST(ProcessTest, DestructionKillsEvenAStoppedChild) {
  pid_t pid = -1;
  {
    const Process process = Process::Spawn(Shell("sleep 1000")).value();
    pid = process.pid();
    process.Signal(SIGSTOP);
  }
  EXPECT_FALSE(Exists(pid));
}

TEST(ProcessTest, MovingLeavesOneOwner) {
  Process first = Process::Spawn(Shell("sleep 1000")).value();
  const pid_t old = first.pid();
  Process second = std::move(first);
  EXPECT_TRUE(second.alive());
  second = Process::Spawn(Shell("sleep 1000")).value();
  EXPECT_FALSE(Exists(old)) << "assignment ends the child that was held before";
}

// A child outlives the thread that asked for it, because the death signal follows the spawner's
// thread.
TEST(ProcessTest, LivesOnWhenTheCallingThreadEnds) {
  std::optional<Process> process;
  std::thread([&] { process = Process::Spawn(Shell("sleep 1000")).value(); }).join();
  EXPECT_FALSE(process->WaitFor(Seconds{0.2}));
}

TEST(ProcessTest, DiesWithUs) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  // The victim is a separate program, because a fork of this one has no spawner thread.
  const UniqueFd read(ends[0]);
  UniqueFd write(ends[1]);
  ProcessSpec spec{.argv = {"/proc/self/exe", "--gtest_filter=ProcessTest.DISABLED_Victim",
                            "--gtest_also_run_disabled_tests"},
                   .inherit_env = true,
                   .fds = {{write.get(), 9}}};
  spec.env["GTEST_OUTPUT"] = "";
  Process victim = Process::Spawn(spec).value();
  write.Reset();
  pid_t grandchild = -1;
  ASSERT_EQ(::read(read.get(), &grandchild, sizeof(grandchild)),
            static_cast<ssize_t>(sizeof(grandchild)));
  ASSERT_TRUE(Exists(grandchild));
  ::kill(victim.pid(), SIGKILL);  // kills only the victim, not its process group
  EXPECT_TRUE(victim.WaitFor(Seconds{30}));
  EXPECT_TRUE(Vanishes(grandchild));
}

// The test above runs this one in a separate process and kills it.
TEST(ProcessTest, DISABLED_Victim) {
  const Process child = Process::Spawn(Shell("sleep 1000")).value();
  const pid_t pid = child.pid();
  if (::write(9, &pid, sizeof(pid)) != sizeof(pid)) std::abort();
  ::pause();
}

}  // namespace
}  // namespace pragma
