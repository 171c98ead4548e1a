// Tests freezing and thawing, and what is left when a process is killed by kill -9.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "sandbox/command.h"
#include "sandbox/jail.h"
#include "sandbox/testing.h"

namespace pragma {
namespace {

// Waits for a condition that must become true. The deadline only bounds a failing test.
template <class Condition>
bool Eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class FreezeEveryMode : public testing::TestWithParam<SandboxMode> {};
INSTANTIATE_TEST_SUITE_P(Freeze, FreezeEveryMode,
                         testing::Values(SandboxMode::kFull, SandboxMode::kReduced,
                                         SandboxMode::kUnsafeNone),
                         ModeName);

// Starts a program that writes a byte to descriptor 3 once it is ready.
std::optional<JailedProcess> StartReady(const std::string& what, SandboxMode mode) {
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) return std::nullopt;
  const UniqueFd read_end(ready[0]);
  UniqueFd write_end(ready[1]);
  JailSpec spec = Spec({what});
  spec.fds = {{write_end.get(), 3}};
  auto process = TheJail(mode).Start(spec);
  write_end.Reset();
  char byte = 0;
  if (!process || ::read(read_end.get(), &byte, 1) != 1) return std::nullopt;
  return std::move(*process);
}

std::optional<JailedProcess> StartSpinner(SandboxMode mode) { return StartReady("threads", mode); }

TEST_P(FreezeEveryMode, AProgramWithThreadsRunsAlone) {
  const auto process = StartReady("threads", GetParam());
  ASSERT_TRUE(process);
  EXPECT_TRUE(RunsAlone(process->host_pid()));
}

TEST_P(FreezeEveryMode, AChildOrAnOrphanIsNoticed) {
  for (const char* what : {"child", "stray"}) {
    const auto process = StartReady(what, GetParam());
    ASSERT_TRUE(process) << what;
    EXPECT_FALSE(RunsAlone(process->host_pid())) << what;
  }
}

std::vector<char> ThreadStates(pid_t pid) {
  std::vector<char> states;
  std::error_code code;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", code)) {
    const std::string text = ReadFile(entry.path() / "stat").value_or("");
    const std::size_t end = text.rfind(") ");
    if (end != std::string::npos) states.push_back(text[end + 2]);
  }
  return states;
}

TEST_P(FreezeEveryMode, FreezeStopsEveryThreadAndThawLetsThemGo) {
  auto process = StartSpinner(GetParam());
  ASSERT_TRUE(process);
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(process->Freeze());
    EXPECT_EQ(ThreadStates(process->host_pid()), std::vector<char>(5, 'T'));
    ASSERT_TRUE(process->Thaw());
    EXPECT_TRUE(Eventually([&] {
      const auto states = ThreadStates(process->host_pid());
      return std::count(states.begin(), states.end(), 'T') == 0;
    }));
  }
  EXPECT_FALSE(process->WaitFor(Seconds{0}).value().has_value());
}

TEST_P(FreezeEveryMode, AFrozenProgramCanBeKilled) {
  auto process = StartSpinner(GetParam());
  ASSERT_TRUE(process && process->Freeze());
  const auto outcome = process->Kill();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kind, Outcome::Kind::kKilled);
  EXPECT_TRUE(process->Freeze());  // a dead program counts as frozen
  EXPECT_TRUE(process->Thaw());
}

TEST_P(FreezeEveryMode, AProgramKilledFromOutsideIsNotCalledOurs) {
  auto process = StartSpinner(GetParam());
  ASSERT_TRUE(process);
  ASSERT_EQ(::kill(process->host_pid(), SIGKILL), 0);
  const auto outcome = process->WaitFor(Seconds{30});
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->kind, Outcome::Kind::kSignalled);
  EXPECT_EQ((*outcome)->code, SIGKILL);
  pollfd waiter{.fd = process->pidfd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&waiter, 1, 10000), 1);
}

// Returns whether the process is dead. A zombie counts as dead, because its reaper may be a process
// that never reaps.
bool IsGone(pid_t pid) {
  const std::vector<char> states = ThreadStates(pid);
  return std::count(states.begin(), states.end(), 'Z') ==
         static_cast<std::ptrdiff_t>(states.size());
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  const std::string name = std::to_string(pid);
  std::vector<pid_t> children;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + name + "/task")) {
    for (const std::string& word : Split(ReadFile(task.path() / "children").value_or(""), ' ')) {
      if (!word.empty()) children.push_back(static_cast<pid_t>(std::stol(word)));
    }
  }
  return children;
}

void Collect(pid_t pid, std::vector<pid_t>& all) {
  for (const pid_t child : ChildrenOf(pid)) {
    all.push_back(child);
    Collect(child, all);
  }
}

// Runs in a separate forked process: starts a jail with a frozen program and waits to be killed.
[[noreturn]] void HoldFrozenJail(int ready, SandboxMode mode) {
  auto process = StartSpinner(mode);
  if (!process || !process->Freeze()) ::_exit(1);
  if (::write(ready, "r", 1) != 1) ::_exit(1);
  while (true) ::pause();
}

TEST_P(FreezeEveryMode, NothingIsLeftAfterKillNine) {
  const ProcessSpec self{.argv = {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                                  "--gtest_filter=Holder.DISABLED_HoldsAFrozenJail"}};
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
  const UniqueFd read_end(ready[0]);
  UniqueFd write_end(ready[1]);
  ProcessSpec spec = self;
  spec.inherit_env = true;
  spec.env = {{"PRAGMA_TEST_HOLDER", NameOf(GetParam())}};
  spec.fds = {{write_end.get(), 9}};
  auto holder = Process::Spawn(spec);
  ASSERT_TRUE(holder) << holder.error().message;
  write_end.Reset();
  char byte = 0;
  ASSERT_EQ(::read(read_end.get(), &byte, 1), 1);
  std::vector<pid_t> all;
  Collect(holder->pid(), all);
  ASSERT_GE(all.size(),
            GetParam() == SandboxMode::kFull ? 4U : 3U);  // guard, bwrap, init, program
  ASSERT_EQ(::kill(holder->pid(), SIGKILL), 0);
  for (const pid_t pid : all) EXPECT_TRUE(Eventually([&] { return IsGone(pid); })) << pid;
}

// Returns the number of processes whose command line holds `mark`.
std::size_t CountMarked(const std::string& mark) {
  std::size_t count = 0;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", code)) {
    const std::string line = ReadFile(entry.path() / "cmdline").value_or("");
    if (line.find(mark) != std::string::npos) ++count;
  }
  return count;
}

// The moment of the kill varies over the start of a jail, when bwrap alone would leave its child
// behind.
TEST_P(FreezeEveryMode, NothingIsLeftWhenKilledDuringTheStart) {
  const TempDir folder = TempDir::Create().value();  // the folder's name marks the processes of the
                                                     // jail
  for (int round = 0; round < 40; ++round) {
    ProcessSpec spec{.argv = {"/proc/self/exe", "--gtest_also_run_disabled_tests",
                              "--gtest_filter=Holder.DISABLED_StartsJailsForEver"},
                     .inherit_env = true};
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
    const UniqueFd read_end(ready[0]);
    UniqueFd write_end(ready[1]);
    spec.env = {{"PRAGMA_TEST_HOLDER", NameOf(GetParam())}, {"PRAGMA_TEST_MARK", folder.path()}};
    spec.fds = {{write_end.get(), 9}};
    auto holder = Process::Spawn(spec);
    ASSERT_TRUE(holder) << holder.error().message;
    write_end.Reset();
    char byte = 0;
    ASSERT_EQ(::read(read_end.get(), &byte, 1), 1);
    std::this_thread::sleep_for(std::chrono::microseconds(round * 250));
    ASSERT_EQ(::kill(holder->pid(), SIGKILL), 0);
    ASSERT_TRUE(Eventually([&] { return CountMarked(folder.path()) == 0; })) << "round " << round;
  }
}

TEST(Holder, DISABLED_StartsJailsForEver) {
  const char* mode = std::getenv("PRAGMA_TEST_HOLDER");
  const char* mark = std::getenv("PRAGMA_TEST_MARK");
  ASSERT_TRUE(mode != nullptr && mark != nullptr) << "only a test starts this";
  const Jail& jail = TheJail(ModeNamed(mode));
  const JailSpec spec{.argv = {kInitInside, "--true"}, .env = {{"MARK", mark}}};
  ASSERT_EQ(::write(9, "r", 1), 1);
  while (true) {
    const auto process = jail.Start(spec);
    ASSERT_TRUE(process) << process.error().message;
  }
}

TEST(Holder, DISABLED_HoldsAFrozenJail) {
  const char* mode = std::getenv("PRAGMA_TEST_HOLDER");
  ASSERT_NE(mode, nullptr) << "only NothingIsLeftAfterKillNine starts this";
  HoldFrozenJail(9, ModeNamed(mode));
}

}  // namespace
}  // namespace pragma
