#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "bench/loop.h"
#include "bench/suite.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SuiteTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text = "") const {
    const fs::path path = folder_.path() / name;
    ASSERT_TRUE(MakeDirectories(path.parent_path()));
    ASSERT_TRUE(WriteFileAtomic(path, text));
  }
  [[nodiscard]] std::vector<std::string> Names(Selection selection) const {
    const Result<std::vector<SuiteTask>> tasks = SelectTasks(selection);
    std::vector<std::string> names;
    if (!tasks) return {tasks.error().message};
    for (const SuiteTask& task : *tasks) names.push_back(task.group + "/" + task.name);
    return names;
  }
  TempDir folder_ = TempDir::Create().value();
};

TEST(TaskNumbers, RangesAndNumbers) {
  EXPECT_EQ(ParseTaskNumbers("1-3,12").value(), (std::set<int>{1, 2, 3, 12}));
  for (const char* wrong : {"", "0", "a", "3-1", "1-", "-2", "1,,2", "1-999999999"}) {
    EXPECT_FALSE(ParseTaskNumbers(wrong)) << wrong;
  }
}

TEST_F(SuiteTest, ACheckoutByLevelAndNumberInNumericOrder) {
  for (const char* name : {"10_J.py", "2_B.py", "1_A.py"})
    Write(std::string("KernelBench/level1/") + name);
  Write("KernelBench/level2/1_X.py");
  Write("KernelBench/level1/README.md");
  EXPECT_THAT(Names({.path = folder_.path(), .level = 1}),
              ElementsAre("level1/1_A", "level1/2_B", "level1/10_J"));
  EXPECT_THAT(Names({.path = folder_.path() / "KernelBench", .level = 1, .tasks = {2, 10}}),
              ElementsAre("level1/2_B", "level1/10_J"));
  EXPECT_THAT(Names({.path = folder_.path()}),
              ElementsAre("level1/1_A", "level1/2_B", "level1/10_J", "level2/1_X"));
  EXPECT_THAT(Names({.path = folder_.path(), .level = 3}).front(), HasSubstr("no level 3"));
}

TEST_F(SuiteTest, AFolderOfTasksIsNumberedInItsOrder) {
  for (const char* name : {"b/two.py", "a/one.py", "a/__init__.py"}) Write(name);
  EXPECT_THAT(Names({.path = folder_.path()}), ElementsAre("a/one", "b/two"));
  EXPECT_THAT(Names({.path = folder_.path(), .tasks = {2}}), ElementsAre("b/two"));
  EXPECT_THAT(Names({.path = folder_.path(), .tasks = {9}}).front(),
              HasSubstr("no task is selected"));
  EXPECT_THAT(Names({.path = folder_.path(), .level = 1}).front(), HasSubstr("has no levels"));
}

TEST_F(SuiteTest, AListFileIsRelativeToItself) {
  Write("tasks/one.py");
  Write("list.txt", "# my tasks\n\ntasks/one.py  # the first\n");
  EXPECT_THAT(Names({.path = folder_.path() / "list.txt"}), ElementsAre("tasks/one"));
  Write("list.txt", "tasks/gone.py\n");
  EXPECT_THAT(Names({.path = folder_.path() / "list.txt"}).front(),
              HasSubstr("missing file: tasks/gone.py"));
  EXPECT_THAT(Names({.path = folder_.path() / "nowhere"}).front(), HasSubstr("no such file"));
}

TEST(BenchLoop, ATaskErrorIsARowAndOtherTroubleEndsIt) {
  const std::vector<SuiteTask> tasks{{.name = "bad"}, {.name = "good"}};
  const auto run = [](const BenchCell& cell) -> Result<BenchRow> {
    if (cell.task.name == "bad") return Fail(ErrorKind::kTask, "no Model");
    return BenchRow{.cell = cell, .run = "r"};
  };
  const BenchResult result = RunBench(tasks, {"a", "b"}, run).value();
  ASSERT_EQ(result.rows.size(), 4U);
  EXPECT_EQ(result.rows[0].problem, "no Model");
  EXPECT_EQ(result.rows[3].run, "r");
  EXPECT_EQ(result.rows[3].cell.strategy, "b");
  const auto trouble = [](const BenchCell&) -> Result<BenchRow> { return Fail("disk full"); };
  EXPECT_EQ(RunBench(tasks, {"a"}, trouble).error().message, "disk full");
}

TEST(BenchLoop, CtrlCKeepsTheRowsThatAreDone) {
  const std::vector<SuiteTask> tasks{{.name = "one"}, {.name = "two"}};
  const auto run = [](const BenchCell& cell) -> Result<BenchRow> {
    if (cell.task.name == "two") return Fail(ErrorKind::kInterrupted, "stopped");
    return BenchRow{.cell = cell};
  };
  const BenchResult result = RunBench(tasks, {"a"}, run).value();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rows.size(), 1U);
}

}  // namespace
}  // namespace pragma
