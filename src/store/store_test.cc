#include "store/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/stop_reason.h"
#include "core/trial.h"

// A missing value may end a test, so optionals are read unchecked.
// NOLINTBEGIN(bugprone-unchecked-optional-access)
namespace pragma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() : dir_(TempDir::Create().value()) {}
  [[nodiscard]] std::filesystem::path home() const { return dir_.path() / ".pragma"; }
  [[nodiscard]] std::filesystem::path file() const { return home() / "pragma.db"; }
  [[nodiscard]] Store Open() const {
    auto store = Store::Open(home());
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }

 private:
  TempDir dir_;
};

RunRecord ExampleRun(const std::string& id) {
  return {.id = id,
          .task_name = "softmax",
          .task_json = R"({"name":"softmax"})",
          .task_path = "softmax.py",
          .strategy = "n-pragma",
          .settings_json = "{}",
          .state = "running",
          .created_ms = 1'000'000'000'000};
}

Trial ExampleTrial(int node, const std::string& source) {
  Trial trial;
  trial.node = node;
  trial.parent = node - 1;
  trial.candidate = CppCandidate(source);
  trial.evaluation.status = Status::kPassed;
  trial.best = true;
  return trial;
}

// Runs `sql` on the raw file and returns the first column of the first row, as text.
std::string Raw(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* handle = nullptr;
  EXPECT_EQ(::sqlite3_open(file.c_str(), &handle), SQLITE_OK);
  std::string result;
  const auto keep_first = [](void* out, int, char** values, char**) {
    auto& text = *static_cast<std::string*>(out);
    if (text.empty() && values[0] != nullptr) text = values[0];
    return 0;
  };
  char* error = nullptr;
  EXPECT_EQ(::sqlite3_exec(handle, sql.c_str(), keep_first, &result, &error), SQLITE_OK) << error;
  ::sqlite3_close(handle);
  return result;
}

// Starts a child process that runs `body` and exits. Its exit code is 0 if `body` returned true.
pid_t Fork(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body() ? 0 : 1);
  return pid;
}

int WaitFor(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

TEST_F(StoreTest, KeepsRunsAcrossOpens) {
  {
    Store store = Open();
    ASSERT_TRUE(store.CreateRun(ExampleRun("r-1")));
  }
  Store store = Open();
  const auto run = store.FindRun("r-1");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->task_json, R"({"name":"softmax"})");
  EXPECT_EQ(run->strategy, "n-pragma");
  EXPECT_EQ(run->state, "running");
  EXPECT_EQ(run->created_ms, 1'000'000'000'000);
  ASSERT_TRUE(store.FinishRun("r-1", StopReason::kStall, "{\"x\":1}"));
  EXPECT_EQ(store.FindRun("r-1")->state, "finished");
  EXPECT_EQ(store.FindRun("r-1")->stopped, StopReason::kStall);
  EXPECT_EQ(store.FindRun("r-1")->final_json, "{\"x\":1}");
  ASSERT_TRUE(store.ReopenRun("r-1"));
  EXPECT_EQ(store.FindRun("r-1")->state, "running");
}

TEST_F(StoreTest, HomeIsPrivateAndIgnoredByGit) {
  const Store store = Open();
  struct stat status{};
  ASSERT_EQ(::stat(home().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  EXPECT_EQ(ReadFile(home() / ".gitignore").value(), "*\n");
  EXPECT_EQ(Raw(file(), "PRAGMA user_version"), "3");
  EXPECT_EQ(Raw(file(), "PRAGMA journal_mode"), "wal");
}

TEST_F(StoreTest, RefusesASecondRunOfTheSameId) {
  Store store = Open();
  ASSERT_TRUE(store.CreateRun(ExampleRun("r-1")));
  const auto again = store.CreateRun(ExampleRun("r-1"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(store.CreateRun(ExampleRun("r-2")));  // the failure left no transaction open
}

TEST_F(StoreTest, FindsRunsByUniquePrefixAndLast) {
  Store store = Open();
  EXPECT_THAT(store.FindRun("last").error().message, HasSubstr("no runs yet"));
  for (const char* id : {"r-20260101-aaaa", "r-20260102-bbbb", "r-20260102-bcbc"}) {
    ASSERT_TRUE(store.CreateRun(ExampleRun(id)));
  }
  EXPECT_EQ(store.FindRun("last")->id, "r-20260102-bcbc");
  EXPECT_EQ(store.FindRun("r-20260101")->id, "r-20260101-aaaa");
  EXPECT_EQ(store.FindRun("r-20260102-bb")->id, "r-20260102-bbbb");
  EXPECT_EQ(store.ListRuns(2)->front().id, "r-20260102-bcbc");
  EXPECT_EQ(store.ListRuns(2)->size(), 2U);
}

TEST_F(StoreTest, SaysWhyNoRunIsFound) {
  Store store = Open();
  for (const char* id : {"r-20260101-aaaa", "r-20260101-bbbb"}) {
    ASSERT_TRUE(store.CreateRun(ExampleRun(id)));
  }
  const auto ambiguous = store.FindRun("r-2026");
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(ambiguous.error().message, AllOf(HasSubstr("2 runs"), HasSubstr("r-20260101-aaaa")));
  EXPECT_THAT(store.FindRun("r-20260101-bbbc").error().message,
              HasSubstr("did you mean r-20260101-bbbb"));
  EXPECT_THAT(store.FindRun("x").error().message, HasSubstr("the newest is r-20260101-bbbb"));
  EXPECT_FALSE(store.FindRun("")) << "an empty id is not a prefix";
  EXPECT_FALSE(store.FindRun("r-%")) << "wildcards are plain text";
}

TEST_F(StoreTest, CallsComeBackInOrderOfWriting) {
  Store store = Open();
  ASSERT_TRUE(store.CreateRun(ExampleRun("r-1")));
  ASSERT_TRUE(store.AppendCall({"r-1", 1, "conductor", 0, "m", "[1]", "{\"a\":1}"}));
  ASSERT_TRUE(store.AppendCall({"r-1", 1, "coder", 0, "m", "[2]", "{}"}));
  ASSERT_TRUE(store.AppendCall({"r-1", 1, "coder", 1, "m", "[3]", "{}"}));
  std::vector<std::string> prompts;
  const std::vector<CallRecord> calls = store.Calls("r-1").value();
  for (const CallRecord& call : calls) prompts.push_back(call.prompt_json);
  EXPECT_THAT(prompts, ElementsAre("[1]", "[2]", "[3]"));
  EXPECT_EQ(store.FindCall("r-1", 1, "conductor", 0).value()->completion_json, "{\"a\":1}");
  EXPECT_FALSE(store.FindCall("r-1", 2, "conductor", 0).value().has_value());
  EXPECT_FALSE(store.FindCall("r-9", 1, "conductor", 0).value().has_value());
  EXPECT_THAT(store.AppendCall({"r-1", 1, "coder", 1, "m", "", ""}).error().message,
              HasSubstr("already"));
  EXPECT_FALSE(store.AppendCall({"r-9", 1, "coder", 1, "m", "", ""}));
}

TEST_F(StoreTest, TrialsRoundTripAndSourcesAreStoredOnce) {
  Store store = Open();
  const std::string source = "// the same source\n" + std::string(1, '\0') + "x";
  for (const char* id : {"r-1", "r-2"}) {
    ASSERT_TRUE(store.CreateRun(ExampleRun(id)));
    ASSERT_TRUE(store.AppendTrial(id, ExampleTrial(1, source)));
  }
  Trial tuned = ExampleTrial(2, source);
  tuned.candidate->tunables["TILE"] = 8;
  ASSERT_TRUE(store.AppendTrial("r-1", tuned));
  Trial empty = ExampleTrial(3, "");
  empty.candidate.reset();
  ASSERT_TRUE(store.AppendTrial("r-1", empty));
  const auto trials = store.Trials("r-1");
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->size(), 3U);
  EXPECT_EQ(ToJson(trials->at(1)), ToJson(tuned));
  EXPECT_EQ(trials->at(0).candidate->source(), source);
  EXPECT_FALSE(trials->at(2).candidate.has_value());
  EXPECT_EQ(Raw(file(), "SELECT count(*) FROM candidate"), "2");
  EXPECT_EQ(Raw(file(), "SELECT count(*) FROM blob"), "2") << "one task and one source";
}

TEST_F(StoreTest, RefusesASecondTrialOfTheSameNode) {
  Store store = Open();
  ASSERT_TRUE(store.CreateRun(ExampleRun("r-1")));
  ASSERT_TRUE(store.AppendTrial("r-1", ExampleTrial(1, "a")));
  EXPECT_THAT(store.AppendTrial("r-1", ExampleTrial(1, "b")).error().message, HasSubstr("already"));
  EXPECT_EQ(store.Trials("r-1")->at(0).candidate->source(), "a");
  EXPECT_EQ(Raw(file(), "SELECT count(*) FROM candidate"), "1") << "rolled back as a whole";
}

TEST_F(StoreTest, FiguresAndArtefacts) {
  Store store = Open();
  EXPECT_FALSE(store.GetFigure("machine").value().has_value());
  ASSERT_TRUE(store.PutFigure("machine", "1"));
  ASSERT_TRUE(store.PutFigure("machine", "2"));
  EXPECT_EQ(store.GetFigure("machine").value(), "2");
  ASSERT_TRUE(store.PutFigure("machine/b%", "3"));
  ASSERT_TRUE(store.PutFigure("machine/a", "4"));
  EXPECT_THAT(store.FigureKeys("machine/").value(), ElementsAre("machine/a", "machine/b%"));
  EXPECT_THAT(store.FigureKeys("machine/b%").value(), ElementsAre("machine/b%"));
  EXPECT_THAT(store.FigureKeys("none").value(), IsEmpty());
  const std::string id = store.PutArtefact("text").value();
  EXPECT_EQ(store.PutArtefact("text").value(), id);
  EXPECT_EQ(store.GetArtefact(id).value(), "text");
  EXPECT_EQ(store.GetArtefact(store.PutArtefact("").value()).value(), "");
  EXPECT_FALSE(store.GetArtefact("0000"));
}

TEST_F(StoreTest, OneProcessWorksOnARun) {
  Store store = Open();
  ASSERT_TRUE(store.CreateRun(ExampleRun("r-1")));
  ASSERT_TRUE(store.CreateRun(ExampleRun("r-2")));
  {
    const auto lock = store.LockRun("r-1");
    ASSERT_TRUE(lock);
    EXPECT_THAT(store.LockRun("r-1").error().message, HasSubstr("another pragma process"));
    EXPECT_TRUE(*store.RunIsHeld("r-1"));
    EXPECT_FALSE(*store.RunIsHeld("r-2"));
    EXPECT_TRUE(store.LockRun("r-2"));
    const pid_t other = Fork([&] { return !Store::Open(home())->LockRun("r-1"); });
    EXPECT_EQ(WaitFor(other), 0);
  }
  EXPECT_FALSE(*store.RunIsHeld("r-1"));
  EXPECT_TRUE(store.LockRun("r-1"));
}

constexpr int kTrialsOfEach = 20;

// Each of several processes runs this at once, so all of them race to create the store.
bool WriteARun(const std::filesystem::path& home, const std::string& run) {
  auto store = Store::Open(home);
  if (!store || !store->CreateRun(ExampleRun(run))) return false;
  for (int node = 1; node <= kTrialsOfEach; ++node) {
    const std::string source = "source " + std::to_string(node);
    if (!store->AppendTrial(run, ExampleTrial(node, source))) return false;
    if (!store->PutFigure("shared", run)) return false;
  }
  return true;
}

TEST_F(StoreTest, ProcessesThatOpenAndWriteAtOnceLoseNothing) {
  const std::vector<std::string> runs{"r-1", "r-2", "r-3", "r-4"};
  std::vector<pid_t> children;
  children.reserve(runs.size());
  for (const std::string& run : runs) {
    children.push_back(Fork([&] { return WriteARun(home(), run); }));
  }
  for (const pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  const Store store = Open();
  for (const std::string& run : runs) {
    EXPECT_EQ(store.Trials(run)->size(), static_cast<std::size_t>(kTrialsOfEach));
  }
  EXPECT_EQ(Raw(file(), "SELECT count(*) FROM candidate"), std::to_string(kTrialsOfEach));
}

TEST_F(StoreTest, ThreadsMayShareOneStore) {
  Store store = Open();
  ASSERT_TRUE(store.CreateRun(ExampleRun("r-1")));
  const auto write = [&](const std::string& role) {
    for (int node = 1; node <= 25; ++node) {
      EXPECT_TRUE(store.AppendCall({"r-1", node, role, 0, "m", "[]", "{}"}));
    }
  };
  std::thread other(write, "conductor");
  write("coder");
  other.join();
  EXPECT_EQ(store.Calls("r-1")->size(), 50U);
  EXPECT_EQ(store.CountCalls("r-1").value(), 50U);
}

// Appends trials without end. Reports each one on a pipe after it was committed.
bool AppendAndTell(const std::filesystem::path& home, int first, int pipe) {
  auto store = Store::Open(home).value();
  for (int node = first;; ++node) {
    const Trial trial = ExampleTrial(node, std::string(20'000, 'x'));
    if (!store.AppendTrial("r-1", trial) || ::write(pipe, "x", 1) != 1) return false;
  }
}

// Kills such a child once it has reported `enough` trials. Returns how many it reported in all.
int KillWhileAppending(const std::filesystem::path& home, int first, int enough) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t child = Fork([&] { return AppendAndTell(home, first, pipe[1]); });
  ::close(pipe[1]);
  char byte = 0;
  int told = 0;
  while (told < enough && ::read(pipe[0], &byte, 1) == 1) ++told;
  ::kill(child, SIGKILL);
  WaitFor(child);
  while (::read(pipe[0], &byte, 1) == 1) ++told;
  ::close(pipe[0]);
  return told;
}

TEST_F(StoreTest, KillLosesAtMostWhatWasNotCommitted) {
  ASSERT_TRUE(Store(Open()).CreateRun(ExampleRun("r-1")));
  int kept = 0;
  for (int round = 1; round <= 8; ++round) {
    const int told = kept + KillWhileAppending(home(), kept + 1, round);
    const auto trials = Open().Trials("r-1");
    ASSERT_TRUE(trials) << trials.error().message;
    kept = static_cast<int>(trials->size());
    EXPECT_GE(kept, told);
    EXPECT_LE(kept, told + 1) << "the kill may fall between the commit and the telling";
    if (kept > 0) {
      EXPECT_EQ(trials->back().node, kept);
    }
  }
  EXPECT_EQ(Raw(file(), "PRAGMA integrity_check"), "ok");
}

TEST_F(StoreTest, RefusesANewerStore) {
  (void)Open();
  Raw(file(), "PRAGMA user_version = 4");
  const auto store = Store::Open(home());
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(store.error().message, AllOf(HasSubstr("newer pragma"), Not(HasSubstr("\n"))));
}

TEST_F(StoreTest, ADamagedFileIsOneClearLine) {
  std::filesystem::create_directories(home());
  ASSERT_TRUE(WriteFileAtomic(file(), std::string(8192, 'j')));
  const auto store = Store::Open(home());
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message,
              AllOf(HasSubstr("damaged"), HasSubstr("move it away"), Not(HasSubstr("\n"))));
  EXPECT_EQ(ReadFile(file())->size(), 8192U) << "and is left as it was";
}

TEST_F(StoreTest, DamageInsideIsFoundWhenItIsRead) {
  {
    Store store = Open();
    ASSERT_TRUE(store.CreateRun(ExampleRun("r-1")));
    ASSERT_TRUE(store.AppendTrial("r-1", ExampleTrial(1, "int x;")));
  }
  Raw(file(),
      "UPDATE blob SET bytes = CAST('int y;' AS BLOB) WHERE CAST(bytes AS TEXT) = 'int x;'");
  const auto trials = Open().Trials("r-1");
  ASSERT_FALSE(trials);
  EXPECT_THAT(trials.error().message, HasSubstr("damaged"));
}

TEST_F(StoreTest, AFileInPlaceOfTheFolderIsAnError) {
  ASSERT_TRUE(WriteFileAtomic(home(), "not a folder"));
  const auto store = Store::Open(home());
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr(home().string()));
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
