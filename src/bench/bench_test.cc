#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <latch>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "bench/loop.h"
#include "bench/row.h"
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

BenchCell CellOf(const std::string& task, const std::string& strategy = "a") {
  return {.task = {.name = task}, .strategy = strategy, .arm = strategy};
}

BenchRow RowWith(const BenchCell& cell, std::int64_t tokens = 0) {
  BenchRow row{.cell = cell, .run = "r"};
  row.spent.tokens_in = tokens;
  return row;
}

TEST(BenchLoop, CellsAreTasksThenStrategiesModelsRepeats) {
  const auto cells = CellsOf({{.name = "one"}, {.name = "two"}},
                             {.strategies = {"a", "b"}, .models = {"m", "n"}, .repeats = 2});
  ASSERT_EQ(cells.size(), 16U);
  EXPECT_EQ(cells[1].repeat, 2);
  EXPECT_EQ(cells[2].model, "n");
  EXPECT_EQ(cells[4].strategy, "b");
  EXPECT_EQ(cells[8].task.name, "two");
  EXPECT_EQ(CellsOf({{.name = "one"}}, {.strategies = {"a"}}).front().model, "");
}

TEST(BenchLoop, ATaskErrorIsARowAndOtherTroubleEndsIt) {
  const std::vector<BenchCell> cells{CellOf("bad"), CellOf("good")};
  const auto run = [](const BenchCell& cell, Spending) -> Result<std::optional<BenchRow>> {
    if (cell.task.name == "bad") return Fail(ErrorKind::kTask, "no Model");
    return RowWith(cell);
  };
  const BenchResult result = RunBench(cells, {}, run).value();
  ASSERT_EQ(result.rows.size(), 2U);
  EXPECT_EQ(result.rows[0].problem, "no Model");
  EXPECT_EQ(result.rows[1].run, "r");
  int begun = 0;
  const auto trouble = [&](const BenchCell&, Spending) -> Result<std::optional<BenchRow>> {
    ++begun;
    return Fail("disk full");
  };
  EXPECT_EQ(RunBench(cells, {}, trouble).error().message, "disk full");
  EXPECT_EQ(begun, 1);
}

TEST(BenchLoop, CtrlCKeepsTheRowsThatAreDone) {
  const auto run = [](const BenchCell& cell, Spending) -> Result<std::optional<BenchRow>> {
    if (cell.task.name == "two") return Fail(ErrorKind::kInterrupted, "stopped");
    return RowWith(cell);
  };
  const BenchResult result =
      RunBench({CellOf("one"), CellOf("two"), CellOf("three")}, {}, run).value();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.rows.size(), 1U);
}

// The first cell ends only after the second one's row was reported. So two cells must run at the
// same time, and the rows must still be in the order of the cells.
TEST(BenchLoop, JobsOverlapAndTheRowsKeepTheirOrder) {
  std::latch second_told(1);
  const auto run = [&](const BenchCell& cell, Spending) -> Result<std::optional<BenchRow>> {
    if (cell.task.name == "one") second_told.wait();
    return RowWith(cell);
  };
  std::vector<std::string> ended;
  const auto tell = [&](const BenchRow& row) {
    ended.push_back(row.cell.task.name);
    if (ended.back() == "two") second_told.count_down();
  };
  const BenchResult result =
      RunBench({CellOf("one"), CellOf("two")}, {.jobs = 2}, run, tell).value();
  EXPECT_THAT(ended, ElementsAre("two", "one"));
  EXPECT_EQ(result.rows[0].cell.task.name, "one");
  EXPECT_EQ(result.rows[1].cell.task.name, "two");
}

TEST(BenchLoop, OnceTheTotalIsSpentOnlyWhatIsThereIsTaken) {
  const auto run = [](const BenchCell& cell, Spending spending) -> Result<std::optional<BenchRow>> {
    if (spending == Spending::kOver && cell.task.name != "kept") return std::nullopt;
    return RowWith(cell, 60);
  };
  const BenchResult result =
      RunBench({CellOf("one"), CellOf("two"), CellOf("three"), CellOf("kept")},
               {.total = {.tokens = 100}}, run)
          .value();
  ASSERT_EQ(result.rows.size(), 3U);
  EXPECT_EQ(result.rows[2].cell.task.name, "kept");
  ASSERT_EQ(result.not_begun.size(), 1U);
  EXPECT_EQ(result.not_begun[0].task.name, "three");
}

TEST(TotalBudget, IsPartedEqually) {
  const TotalBudget share = TotalBudget{.tokens = 1000, .usd = 3, .seconds = 0}.Share(4);
  EXPECT_EQ(share.tokens, 250);
  EXPECT_DOUBLE_EQ(share.usd, 0.75);
  EXPECT_DOUBLE_EQ(share.seconds, 0);
  EXPECT_EQ(TotalBudget{.tokens = 2}.Share(5).tokens, 1);
  EXPECT_FALSE(TotalBudget{}.SpentBy({.tokens_in = 1'000'000}));
}

}  // namespace
}  // namespace pragma
