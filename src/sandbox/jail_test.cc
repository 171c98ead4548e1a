// Tests real jails (bubblewrap) around a real misbehaving program.
#include "sandbox/jail.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/local_socket.h"
#include "sandbox/command.h"
#include "sandbox/testing.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

class EveryMode : public testing::TestWithParam<SandboxMode> {};
INSTANTIATE_TEST_SUITE_P(Jail, EveryMode,
                         testing::Values(SandboxMode::kFull, SandboxMode::kReduced,
                                         SandboxMode::kUnsafeNone),
                         ModeName);

struct Ending {
  std::vector<std::string> arguments;
  Outcome::Kind kind;
  int code;
  std::string says;
};

TEST_P(EveryMode, CauseOfDeathIsAValue) {
  using Kind = Outcome::Kind;
  const std::vector<Ending> endings = {
      {{"exit", "0"}, Kind::kExited, 0, "exit code 0"},
      {{"exit", "3"}, Kind::kExited, 3, "exit code 3"},
      {{"segv"}, Kind::kSignalled, SIGSEGV, "SIGSEGV (invalid memory access)"},
      {{"abort"}, Kind::kSignalled, SIGABRT, "SIGABRT (abort"},
      {{"fpe"}, Kind::kSignalled, SIGFPE, "SIGFPE"},
      {{"sys"}, Kind::kSignalled, SIGSYS, "forbidden system call (SIGSYS)"}};
  for (const Ending& ending : endings) {
    const auto run = RunIn(Spec(ending.arguments), Seconds{60}, GetParam());
    EXPECT_EQ(run.outcome.kind, ending.kind) << ending.says;
    EXPECT_EQ(run.outcome.code, ending.code);
    EXPECT_THAT(run.outcome.Describe(), HasSubstr(ending.says));
    EXPECT_FALSE(run.timed_out);
  }
}

TEST_P(EveryMode, EndlessLoopIsKilledAtTheLimitAndItsTimeIsKnown) {
  const auto run = RunIn(Spec({"loop"}), Seconds{0.3}, GetParam());
  EXPECT_TRUE(run.timed_out);
  EXPECT_EQ(run.outcome.kind, Outcome::Kind::kKilled);
  EXPECT_GT(run.outcome.usage.ru_utime.tv_usec + run.outcome.usage.ru_utime.tv_sec, 0);
  EXPECT_EQ(run.outcome.Describe(), "stopped by pragma");
}

TEST_P(EveryMode, ProcessorLimitNamesItself) {
  JailSpec spec = Spec({"loop"});
  spec.limits.cpu = Seconds{1};
  const auto run = RunIn(spec, Seconds{60}, GetParam());
  EXPECT_EQ(run.outcome.code, SIGXCPU);
  EXPECT_THAT(run.outcome.Describe(), HasSubstr("processor time"));
}

TEST_P(EveryMode, AddressSpaceIsLimited) {
  JailSpec spec = Spec({"hog"});
  spec.limits.address_space_bytes = std::size_t{256} << 20U;
  const auto run = RunIn(spec, Seconds{60}, GetParam());
  EXPECT_EQ(run.outcome.code, 4);
  EXPECT_THAT(run.out, HasSubstr("refused after"));
}

TEST_P(EveryMode, EnvironmentIsOnlyWhatIsGiven) {
  ASSERT_EQ(::setenv("PRAGMA_TEST_SECRET", "key", 1), 0);
  JailSpec spec = Spec({"env"});
  spec.env = {{"LANG", "C"}};
  EXPECT_EQ(RunIn(spec, Seconds{60}, GetParam()).out, "LANG=C\n");
}

TEST_P(EveryMode, NoDescriptorLeaksIn) {
  const UniqueFd leak(::open("/etc/hostname", O_RDONLY));  // deliberately without O_CLOEXEC
  JailSpec spec = Spec({"fds"});
  spec.fds = {{leak.get(), 7}};
  EXPECT_EQ(RunIn(spec, Seconds{60}, GetParam()).out, "fd0 fd1 fd2 fd7 \n");
}

TEST_P(EveryMode, OrphansEndWithTheProgram) {
  const auto run = RunIn(Spec({"orphan"}), Seconds{60}, GetParam());
  EXPECT_FALSE(run.timed_out);  // the orphan held stdout open until its death, which was seen
  EXPECT_EQ(run.out, "left an orphan\n");
}

TEST_P(EveryMode, EndlessOutputIsCutNotKept) {
  auto run =
      TheJail(GetParam()).Run(Spec({"noise"}), {.wall = Seconds{0.3}, .max_output_bytes = 1000});
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->truncated);
  EXPECT_EQ(run->out.size(), 1000U);
}

TEST_P(EveryMode, NoCoreIsWritten) {
  EXPECT_EQ(RunIn(Spec({"core"}), Seconds{60}, GetParam()).out, "core 0\n");
}

TEST_P(EveryMode, AProgramThatCannotBeStartedIsAnErrorWithTheReason) {
  JailSpec spec = Spec({});
  spec.argv = {"/nowhere"};
  const auto run = TheJail(GetParam()).Start(spec);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("cannot start /nowhere"));
  EXPECT_THAT(run.error().message, HasSubstr("No such file or directory"));
  spec = Spec({"exit", "0"});
  spec.cwd = "/no/such/folder";
  const auto lost = TheJail(GetParam()).Start(spec);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("folder"));
}

TEST(Jail, AMissingBindIsNamed) {
  JailSpec spec = Spec({"exit", "0"});
  spec.binds.push_back({"/no/such/source", "/source", false});
  const auto run = TheJail().Start(spec);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("/no/such/source"));
}

TEST(Jail, ProcessesAreLimited) {
  JailSpec spec = Spec({"fork"});
  spec.limits.processes = 10;
  EXPECT_EQ(RunIn(spec).out, "forked 9 then EAGAIN\n");
}

TEST(Jail, TwoJailsDoNotShareTheProcessLimit) {
  JailSpec many = Spec({"threads"});
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe2(ready.data(), O_CLOEXEC), 0);
  const UniqueFd ends[] = {UniqueFd(ready[0]), UniqueFd(ready[1])};
  many.fds = {{ready[1], 3}};
  many.limits.processes = 5;
  const auto first = TheJail().Start(many);
  ASSERT_TRUE(first) << first.error().message;
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  JailSpec spec = Spec({"fork"});
  spec.limits.processes = 5;
  EXPECT_EQ(RunIn(spec).out, "forked 4 then EAGAIN\n");
}

TEST(Jail, NothingOutsideIsVisible) {
  EXPECT_THAT(RunIn(Spec({"read", "/etc/passwd"})).out, HasSubstr("No such file"));
  EXPECT_THAT(RunIn(Spec({"read", "/dev/zero"})).out, HasSubstr("No such file"));
  EXPECT_THAT(RunIn(Spec({"read", "/proc/self/status"})).out, HasSubstr("No such file"));
  EXPECT_EQ(RunIn(Spec({"read", "/dev/null"})).outcome.code, 0);
}

TEST(Jail, NothingOutsideCanBeWritten) {
  const TempDir folder = TempDir::Create().value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "file", "ours"));
  JailSpec spec = Spec({"write", "/read-only/file"});
  spec.binds.push_back({folder.path(), "/read-only", false});
  EXPECT_THAT(RunIn(spec).out, HasSubstr("Read-only file system"));
  EXPECT_THAT(RunIn(Spec({"write", "/new"})).out, HasSubstr("Read-only file system"));
  EXPECT_THAT(RunIn(Spec({"write", "/dev/new"})).out, HasSubstr("Read-only file system"));
  EXPECT_EQ(ReadFile(folder.path() / "file").value(), "ours");
}

TEST(Jail, WritableBindAndTmpfsAreWritable) {
  const TempDir folder = TempDir::Create().value();  // mode 0700, owned by the user of this test
  JailSpec spec = Spec({"write", "/out/result"});
  spec.binds.push_back({folder.path(), "/out", true});
  EXPECT_THAT(RunIn(spec).out, HasSubstr("written"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "result"));
  spec = Spec({"write", "/tmp/x"});
  spec.tmpfs = {"/tmp"};
  EXPECT_THAT(RunIn(spec).out, HasSubstr("written"));
}

TEST(Jail, FilesAndTmpfsAreLimited) {
  JailSpec spec = Spec({"big", "/tmp/x"});
  spec.tmpfs = {"/tmp"};
  spec.limits.file_bytes = 3U << 20U;
  EXPECT_EQ(RunIn(spec).outcome.code, SIGXFSZ);
  spec.limits.file_bytes = std::size_t{2} << 30U;
  spec.limits.tmpfs_bytes = 3U << 20U;
  EXPECT_THAT(RunIn(spec).err, HasSubstr("No space left"));
}

TEST(Jail, ThereIsNoNetwork) {
  EXPECT_THAT(RunIn(Spec({"net"})).out, HasSubstr("Network is unreachable"));
}

TEST(Jail, OurInitIsProcessOneAndTheProgramIsNotRoot) {
  EXPECT_EQ(RunIn(Spec({"id"})).out, "pid 2 ppid 1 uid0 0\n");
}

TEST(Jail, TheProgramCannotKillInit) {
  const auto run = RunIn(Spec({"killall"}));
  EXPECT_EQ(run.out, "still here\n");
  EXPECT_EQ(run.outcome.kind, Outcome::Kind::kExited);
}

TEST(Jail, AFreshProcShowsOnlyTheJail) {
  JailSpec spec = Spec({"read", "/proc/2/comm"});
  spec.proc = true;
  EXPECT_EQ(RunIn(spec).out, "mischief\n");
}

// --- the reduced jail ---

Jail::RunOutcome RunReduced(const JailSpec& spec) {
  return RunIn(spec, Seconds{60}, SandboxMode::kReduced);
}

bool KernelHasLandlock() { return TheJail(SandboxMode::kReduced).guards_files(); }

TEST(ReducedJail, InsidePathsBecomeOutsideOnesWhereverTheyStand) {
  JailSpec spec;
  spec.argv = {"/tools/run", "--out=/build/a", "/build/a:/tools", "/builders"};
  spec.env = {{"PATH", "/tools:/bin:/build"}};
  spec.binds = {{"/one", "/build", true}, {"/two", "/tools", false}, {"/three", "/build/a", true}};
  spec.cwd = "/build";
  const std::vector<std::string> words =
      PlainCommand(spec, {.init = "/init", .kind = JailKind::kReduced, .landlock = 1});
  const std::vector<std::string> end(words.end() - 5, words.end());
  EXPECT_THAT(end,
              testing::ElementsAre("--", "/two/run", "--out=/three", "/three:/two", "/builders"));
  EXPECT_THAT(words, testing::Contains("PATH=/two:/bin:/one"));
  EXPECT_THAT(words, testing::IsSupersetOf({"--write", "/one", "/three", "--read", "/two"}));
}

TEST(ReducedJail, OpensOnlyWhatIsBound) {
  if (!KernelHasLandlock()) GTEST_SKIP() << "no Landlock";
  const TempDir folder = TempDir::Create().value();
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "file", "ours"));
  EXPECT_THAT(RunReduced(Spec({"read", "/etc/passwd"})).out, HasSubstr("Permission denied"));
  EXPECT_THAT(RunReduced(Spec({"read", "/proc/self/status"})).out, HasSubstr("Permission denied"));
  EXPECT_EQ(RunReduced(Spec({"read", "/dev/null"})).outcome.code, 0);
  JailSpec spec = Spec({"read", "/ours/file"});
  spec.binds.push_back({folder.path(), "/ours", false});
  EXPECT_EQ(RunReduced(spec).out, "ours");
  spec.argv = {"/mischief", "write", "/ours/file"};
  EXPECT_THAT(RunReduced(spec).out, HasSubstr("Permission denied"));
  spec.binds.back().writable = true;
  EXPECT_THAT(RunReduced(spec).out, HasSubstr("written"));
}

TEST(ReducedJail, ScratchTakesThePlaceOfATmpfsAndIsRemoved) {
  const TempDir folder = TempDir::Create().value();
  JailSpec spec = Spec({"write", "/tmp/file"});
  ASSERT_EQ(::setenv("TMPDIR", folder.path().c_str(), 1), 0);
  spec.tmpfs = {"/tmp"};
  EXPECT_THAT(RunReduced(spec).out, HasSubstr("written"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  // The folder above belongs to pragma alone.
  spec.argv = {"/mischief", "access", "/tmp"};
  EXPECT_EQ(RunReduced(spec).out, "permitted\n");
  spec.argv = {"/mischief", "closed", "/tmp/folder"};
  EXPECT_EQ(RunReduced(spec).outcome.code, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  ::unsetenv("TMPDIR");
}

TEST(ReducedJail, ReachesNoNetworkAndNoServiceOfThisMachine) {
  EXPECT_THAT(RunReduced(Spec({"net"})).out, Not(HasSubstr("worked")));
  const TempDir folder = TempDir::Create().value();
  JailSpec spec = Spec({"connect", "/ours/socket"});
  spec.binds.push_back({folder.path(), "/ours", true});
  const auto listener = LocalListener::Create(folder.path() / "socket");
  ASSERT_TRUE(listener) << listener.error().message;
  EXPECT_EQ(RunReduced(spec).out, "connect Operation not permitted\n");
}

TEST(ReducedJail, SignalsReachNoOtherProcess) {
  const std::string self = std::to_string(::getpid());
  EXPECT_EQ(RunReduced(Spec({"signal", self})).out, "signal Operation not permitted\n");
  EXPECT_EQ(RunReduced(Spec({"signal", "-1"})).out, "signal Operation not permitted\n");
}

TEST(ReducedJail, AMissingBindIsAnError) {
  if (!KernelHasLandlock()) GTEST_SKIP() << "no Landlock";
  JailSpec spec = Spec({"exit", "0"});
  spec.binds.push_back({"/no/such/source", "/source", false});
  const auto run = TheJail(SandboxMode::kReduced).Start(spec);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("is one of them missing?"));
}

TEST(ReducedJail, EvidenceSaysSo) {
  const Jail& jail = TheJail(SandboxMode::kReduced);
  EXPECT_THAT(jail.protections(), Not(testing::Contains("namespaces")));
  EXPECT_THAT(jail.Trust(), testing::StartsWith("reduced (no namespaces"));
  EXPECT_THAT(jail.Trust("weaker (python)"), testing::EndsWith("), weaker (python)"));
  EXPECT_EQ(TheJail().Trust(), "isolated");
  EXPECT_EQ(TheJail().Trust("weaker (python)"), "weaker (python)");
}

// --- creation ---

TEST(JailCreate, SaysWhichPackageIsMissing) {
  const std::string path = std::getenv("PATH");
  ASSERT_EQ(::setenv("PATH", "/nowhere", 1), 0);
  const auto jail = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kFull);
  ASSERT_EQ(::setenv("PATH", path.c_str(), 1), 0);
  ASSERT_FALSE(jail);
  EXPECT_EQ(jail.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(jail.error().message, HasSubstr("install the package bubblewrap"));
}

TEST(JailCreate, SaysWhyBwrapDoesNotWork) {
  const TempDir folder = TempDir::Create().value();
  ASSERT_TRUE(WriteFileAtomic(
      folder.path() / "bwrap",
      "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"));
  std::filesystem::permissions(folder.path() / "bwrap", std::filesystem::perms::all);
  const std::string path = std::getenv("PATH");
  ASSERT_EQ(::setenv("PATH", folder.path().c_str(), 1), 0);
  const auto jail = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kFull);
  ASSERT_EQ(::setenv("PATH", path.c_str(), 1), 0);
  ASSERT_FALSE(jail);
  EXPECT_THAT(jail.error().message, HasSubstr("No permissions to create new namespace"));
  EXPECT_THAT(jail.error().message, HasSubstr("user.max_user_namespaces"));
  EXPECT_THAT(jail.error().message, Not(HasSubstr("\n")));
}

TEST(JailCreate, ReducedWhereNoFullOneCanBeMade) {
  const std::string path = std::getenv("PATH");
  ASSERT_EQ(::setenv("PATH", "/nowhere", 1), 0);
  const auto jail = Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kBest);
  ASSERT_EQ(::setenv("PATH", path.c_str(), 1), 0);
  ASSERT_TRUE(jail) << jail.error().message;
  EXPECT_EQ(jail->kind(), JailKind::kReduced);
  EXPECT_THAT(jail->why_reduced(), HasSubstr("bubblewrap (program bwrap) is not installed"));
  EXPECT_EQ(Jail::Create(PRAGMA_BINARY_DIR, SandboxMode::kBest)->kind(), JailKind::kFull);
}

TEST(JailCreate, SaysThatInitIsMissing) {
  const auto jail = Jail::Create("/nowhere", SandboxMode::kFull);
  ASSERT_FALSE(jail);
  EXPECT_THAT(jail.error().message, HasSubstr("/nowhere/pragma-init"));
}

TEST(JailCreate, EvidenceNamesTheProtections) {
  EXPECT_THAT(TheJail().protections(), testing::Contains("namespaces"));
  EXPECT_TRUE(TheJail(SandboxMode::kUnsafeNone).protections().empty());
  EXPECT_TRUE(TheJail(SandboxMode::kUnsafeNone).unsafe());
}

}  // namespace
}  // namespace pragma
