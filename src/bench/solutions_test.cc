#include "bench/solutions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "bench/suite.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SolutionsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name) const {
    const fs::path path = folder_.path() / name;
    ASSERT_TRUE(MakeDirectories(path.parent_path()));
    ASSERT_TRUE(WriteFileAtomic(path, ""));
  }
  // Returns "set/task/sample" for each solution, or the error.
  [[nodiscard]] std::vector<std::string> Found() const {
    const Result<GivenSolutions> given = FindSolutions(folder_.path(), tasks_);
    if (!given) return {given.error().message};
    std::vector<std::string> names;
    for (const GivenSolution& each : given->found)
      names.push_back(each.set + "/" + each.task.name + "/" + std::to_string(each.sample));
    return names;
  }
  TempDir folder_ = TempDir::Create().value();
  std::vector<SuiteTask> tasks_{{.path = "1", .name = "1_Add", .group = "level1", .number = 1},
                                {.path = "2", .name = "2_Mul", .group = "level1", .number = 2},
                                {.path = "3", .name = "2_Pow", .group = "level2", .number = 2}};
};

TEST_F(SolutionsTest, KernelBenchsRunFolders) {
  Write("runs/first/level_1_problem_2_sample_1_kernel.py");
  Write("runs/first/level_1_problem_2_sample_0_kernel.py");
  Write("runs/first/eval_results.json");
  Write("runs/second/level_2_problem_2_sample_0_kernel.py");
  EXPECT_THAT(Found(), ElementsAre("first/2_Mul/0", "first/2_Mul/1", "second/2_Pow/0"));
  const GivenSolutions given = FindSolutions(folder_.path(), tasks_).value();
  EXPECT_THAT(given.sets, ElementsAre("first", "second"));
}

TEST_F(SolutionsTest, NamesNumbersExportsAndFolders) {
  Write("a/1_Add.cpp");
  Write("a/2_Mul_new.py");
  Write("b/1_something.py");
  Write("c/2_Pow/kernel.cpp");
  Write("c/2_Pow/2_Pow_new.py");
  EXPECT_THAT(Found(), ElementsAre("a/1_Add/0", "a/2_Mul/0", "b/1_Add/0", "c/2_Pow/0"));
}

TEST_F(SolutionsTest, WhatFitsNoTaskOrSeveralIsLeftOutAndTold) {
  Write("x/1_Add.py");
  Write("x/2_ambiguous.py");
  Write("x/9_other.cpp");
  Write("x/level_1_problem_9_sample_0_kernel.py");
  Write("x/level_1_problem_x_sample_0_kernel.py");
  const GivenSolutions given = FindSolutions(folder_.path(), tasks_).value();
  EXPECT_EQ(given.found.size(), 1U);
  EXPECT_EQ(given.unmatched.size(), 4U);
}

TEST_F(SolutionsTest, NothingAndTwoOfOneSampleAreErrors) {
  EXPECT_THAT(Found().front(), HasSubstr("fits a selected task"));
  Write("x/1_Add.py");
  Write("x/1_Add.cpp");
  EXPECT_THAT(Found().front(), HasSubstr("both sample 0 of 1_Add"));
}

}  // namespace
}  // namespace pragma
