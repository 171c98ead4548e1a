// Tests of Candidate, Task, the names of Evaluation, the sums of Trial and the SearchTree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/task.h"
#include "core/trial.h"
#include "core/trial_summary.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Trial MakeTrial(int node, int parent, Status status = Status::kPassed, bool best = false) {
  Trial trial{
      .node = node, .parent = parent, .candidate = CppCandidate("// " + std::to_string(node))};
  trial.evaluation.status = status;
  trial.best = best;
  return trial;
}

SearchTree SmallTree() {
  SearchTree tree;
  tree.Insert(MakeTrial(1, 0, Status::kPassed, true));
  tree.Insert(MakeTrial(2, 1, Status::kWrongValues));
  tree.Insert(MakeTrial(3, 2, Status::kPassed, true));
  tree.Insert(MakeTrial(4, 1));
  return tree;
}

TEST(CandidateTest, FlagsAndCompilerComeFromTheFirstLines) {
  const Candidate candidate =
      CppCandidate("// pragma-flags:  -O2   -mavx2 \n// pragma-compiler: clang++\nint x;\n");
  EXPECT_THAT(candidate.flags, ElementsAre("-O2", "-mavx2"));
  EXPECT_EQ(candidate.compiler, "clang++");
  EXPECT_EQ(candidate.source(), candidate.files.at("kernel.cpp"));
}

TEST(CandidateTest, WithoutMarksTheDefaultsHold) {
  const Candidate candidate = CppCandidate("int x;\n");
  EXPECT_EQ(candidate.flags, DefaultCppFlags());
  EXPECT_EQ(candidate.compiler, "g++");
}

TEST(CandidateTest, AMarkFarDownIsText) {
  const Candidate candidate = CppCandidate(std::string(12, '\n') + "// pragma-flags: -O0\n");
  EXPECT_EQ(candidate.flags, DefaultCppFlags());
}

TEST(CandidateTest, AnEmptyFlagsLineMeansNoFlags) {
  EXPECT_THAT(CppCandidate("// pragma-flags:\n").flags, IsEmpty());
}

TEST(CandidateTest, TheIdChangesWithEverythingInIt) {
  const Candidate base = CppCandidate("int x;");
  std::vector<Candidate> others(5, base);
  others[0].files["kernel.cpp"] = "int y;";
  others[1].flags.emplace_back("-g");
  others[2].compiler = "clang++";
  others[3].tunables["TILE"] = 4;
  others[4].language = Language::kPython;
  for (const Candidate& other : others) EXPECT_NE(other.id(), base.id());
  EXPECT_EQ(CppCandidate("int x;").id(), base.id());
  EXPECT_EQ(base.id().size(), 16U);
}

TEST(CandidateTest, AVariantHasTheSameSourceAndMoreChoices) {
  const Candidate base = CppCandidate("int x;");
  Candidate variant = base;
  EXPECT_TRUE(IsVariantOf(variant, base));
  variant.tunables["TILE"] = 4;
  variant.flags.emplace_back("-O2");
  EXPECT_TRUE(IsVariantOf(variant, base));
  EXPECT_FALSE(IsVariantOf(base, variant));
  Candidate other_value = variant;
  other_value.tunables["TILE"] = 8;
  EXPECT_FALSE(IsVariantOf(other_value, variant));
  Candidate other_flags = variant;
  other_flags.flags.front() = "-O1";
  EXPECT_FALSE(IsVariantOf(other_flags, base));
  Candidate other_source = variant;
  other_source.files["kernel.cpp"] = "int y;";
  EXPECT_FALSE(IsVariantOf(other_source, base));
}

TEST(CandidateTest, MovingTextBetweenFieldsChangesTheId) {
  Candidate one = CppCandidate("");
  Candidate two = one;
  one.flags = {"-O2 -g"};
  two.flags = {"-O2", "-g"};
  EXPECT_NE(one.id(), two.id());
}

TEST(CandidateTest, NoFilesIsAnEmptySource) { EXPECT_EQ(Candidate{}.source(), ""); }

TEST(StatusTest, NamesGoBothWays) {
  for (int i = 0; i <= static_cast<int>(Status::kTaskError); ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_EQ(StatusFromName(StatusName(status)), status);
  }
  EXPECT_EQ(StatusName(Status::kPassed), "passed");
  EXPECT_EQ(StatusName(Status::kTaskError), "task_error");
  EXPECT_FALSE(StatusFromName("Passed"));
}

TEST(DTypeTest, NamesSizesAndCppNamesAgree) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(DTypeName(dtype)), dtype);
  }
  EXPECT_EQ(DTypeSize(DType::kBFloat16), 2U);
  EXPECT_EQ(DTypeCppName(DType::kInt64), "std::int64_t");
  EXPECT_TRUE(IsFloating(DType::kFloat16));
  EXPECT_FALSE(IsFloating(DType::kInt8));
  EXPECT_FALSE(DTypeFromName("complex64"));
}

TEST(TensorSpecTest, AScalarHasOneElementAndAnEmptyTensorNone) {
  EXPECT_EQ((TensorSpec{.dtype = DType::kFloat64, .shape = {}}.bytes()), 8U);
  EXPECT_EQ((TensorSpec{.shape = {3, 0, 5}}.bytes()), 0U);
  EXPECT_EQ((TensorSpec{.dtype = DType::kBool, .shape = {3, 5}}.bytes()), 15U);
}

TEST(TaskTest, OneSetHoldsArgumentsAndOutputs) {
  const Task task{.arguments = {{.shape = {2, 3}}, {.shape = {4}}}, .outputs = {{.shape = {5}}}};
  EXPECT_EQ(task.set_bytes(), 4U * (6 + 4 + 5));
}

TEST(SpentTest, AddsUp) {
  Spent spent{.seconds = 1, .tokens_in = 2, .tokens_out = 3, .usd = 0.5};
  spent += spent;
  EXPECT_EQ(spent.tokens(), 10);
  EXPECT_DOUBLE_EQ(spent.seconds, 2);
  EXPECT_DOUBLE_EQ(spent.usd, 1);
}

TEST(SearchTreeTest, KnowsChildrenPathsAndTheBest) {
  const SearchTree tree = SmallTree();
  EXPECT_EQ(tree.best()->node, 3);
  EXPECT_EQ(tree.last()->node, 4);
  EXPECT_EQ(tree.next_node(), 5);
  EXPECT_THAT(tree.children(1), ElementsAre(2, 4));
  EXPECT_THAT(tree.children(0), ElementsAre(1));
  EXPECT_THAT(tree.children(4), IsEmpty());
  EXPECT_THAT(tree.PathTo(3), ElementsAre(1, 2, 3));
  EXPECT_THAT(tree.PathTo(0), IsEmpty());
}

TEST(SearchTreeTest, UpToANodeIsTheTreeAsItWasThen) {
  const SearchTree tree = SmallTree();
  EXPECT_EQ(tree.UpTo(4).Signature(), tree.Signature());
  EXPECT_EQ(tree.UpTo(9).Signature(), tree.Signature());
  EXPECT_EQ(tree.UpTo(2).next_node(), 3);
  EXPECT_NE(tree.UpTo(2).best(), tree.best());
  EXPECT_TRUE(tree.UpTo(0).empty());
  EXPECT_TRUE(tree.UpTo(-1).empty());
}

TEST(TrialSummaryTest, TheBestIsTheOneThatWasMarkedLast) {
  const std::vector<TrialSummary> trials = Summarize(SmallTree().trials());
  EXPECT_EQ(BestOf(trials)->node, 3);
  EXPECT_EQ(BestOf({}), nullptr);
}

TEST(SearchTreeTest, AnEmptyTreeHasNoBest) {
  const SearchTree tree;
  EXPECT_EQ(tree.best(), nullptr);
  EXPECT_EQ(tree.last(), nullptr);
  EXPECT_EQ(tree.next_node(), 1);
}

TEST(SearchTreeTest, TheSignatureIsOfShapeCandidateStatusAndBestOnly) {
  const SearchTree tree = SmallTree();
  const std::string signature = tree.Signature();
  EXPECT_EQ(SmallTree().Signature(), signature);
  SearchTree slower;
  for (Trial trial : tree.trials()) {
    trial.spent.seconds = 100;
    trial.evaluation.reason = "other words";
    slower.Insert(std::move(trial));
  }
  EXPECT_EQ(slower.Signature(), signature);
}

TEST(SearchTreeTest, TheSignatureChangesWithWhatItIsOf) {
  const SearchTree tree = SmallTree();
  for (int change = 0; change < 5; ++change) {
    SearchTree other;
    for (Trial trial : tree.trials()) {
      if (trial.node == 4 && change == 0) trial.parent = 3;
      if (trial.node == 4 && change == 1) trial.evaluation.status = Status::kTimeout;
      if (trial.node == 4 && change == 2) trial.best = true;
      if (trial.node == 4 && change == 3) trial.candidate.reset();
      if (trial.node == 4 && change == 4) trial.role = Role::kRepair;
      other.Insert(std::move(trial));
    }
    EXPECT_NE(other.Signature(), tree.Signature()) << change;
  }
}

TEST(EvaluationTest, WhatSanitizersDidCanBeUndone) {
  Evaluation evaluation{.status = Status::kPassed};
  evaluation.checks = {{"values", CheckVerdict::kPass, ""},
                       {"address_sanitizer", CheckVerdict::kPass, ""}};
  EXPECT_FALSE(RejectedBySanitizer(evaluation));
  evaluation.checks.push_back({"thread_sanitizer", CheckVerdict::kFail, "a race"});
  evaluation.status = Status::kNondeterministic;
  evaluation.reason = "a race";
  EXPECT_TRUE(RejectedBySanitizer(evaluation));
  const Evaluation before = BeforeSanitizers(evaluation);
  EXPECT_TRUE(before.passed());
  EXPECT_EQ(before.reason, "");
  EXPECT_EQ(before.checks.size(), 1U);
}

}  // namespace
}  // namespace pragma
