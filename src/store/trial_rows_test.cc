// Tests how the store keeps trials: whole, and in the form that lists need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "store/database.h"
#include "store/store.h"

// A missing value may end a test, so optionals are read unchecked.
// NOLINTBEGIN(bugprone-unchecked-optional-access)
namespace pragma {
namespace {

class TrialRowsTest : public ::testing::Test {
 protected:
  TrialRowsTest() : dir_(TempDir::Create().value()), store_(Store::Open(dir_.path()).value()) {
    EXPECT_TRUE(store_.CreateRun({.id = "r-1", .task_json = "{}"}));
  }
  // Damages this column in every trial.
  void Damage(const std::string& column) const {
    const auto database = Database::Open(dir_.path() / "pragma.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->Execute("UPDATE trial SET " + column + " = 'damaged'"));
  }

 private:
  TempDir dir_;

 protected:
  Store store_;
};

Trial ProfiledTrial(int node) {
  Trial trial{.node = node, .candidate = CppCandidate("int profiled;"), .best = true};
  trial.evaluation.status = Status::kPassed;
  trial.advice = Advice{.bottleneck = "memory", .change = "block it"};
  trial.evaluation.speedup_eager = Interval{2, 1.5, 2.5};
  trial.spent.tokens_in = 7;
  Profile& profile = trial.profile.emplace();
  profile.metrics = {{"a.b", 0.1, "bytes/call", "exact count"}};
  profile.diagnosis = {{.bottleneck = "gather", .score = 1}, {.bottleneck = "tlb"}};
  return trial;
}

TEST_F(TrialRowsTest, ProfilesAreReadWithTheWholeTrialOnly) {
  const Trial trial = ProfiledTrial(1);
  ASSERT_TRUE(store_.AppendTrial("r-1", trial));
  ASSERT_TRUE(store_.AppendTrial("r-1", {.node = 2, .parent = 1}));
  EXPECT_EQ(ToJson(store_.Trials("r-1")->at(0)), ToJson(trial));
  EXPECT_EQ(ToJson(store_.FindTrial("r-1", 1).value()), ToJson(trial));
  Damage("profile");
  const auto summaries = store_.Summaries("r-1");
  ASSERT_TRUE(summaries) << "no profile is read: " << summaries.error().message;
  ASSERT_EQ(summaries->size(), 2U);
  EXPECT_EQ(summaries->at(0).bottleneck, "gather");
  EXPECT_EQ(summaries->at(0).aim, "memory: block it");
  EXPECT_EQ(summaries->at(0).speedup_eager->low, 1.5);
  EXPECT_EQ(summaries->at(0).spent.tokens(), 7);
  EXPECT_EQ(summaries->at(1).bottleneck, "");
  EXPECT_FALSE(store_.Trials("r-1")) << "a damaged profile is not passed over";
  Damage("json");
  EXPECT_FALSE(store_.Summaries("r-1"));
}

TEST_F(TrialRowsTest, AmendingReplacesTheProfileToo) {
  Trial trial = ProfiledTrial(1);
  ASSERT_TRUE(store_.AppendTrial("r-1", trial));
  trial.profile->diagnosis.erase(trial.profile->diagnosis.begin());
  ASSERT_TRUE(store_.AmendTrial("r-1", trial));
  EXPECT_EQ(store_.Summaries("r-1")->at(0).bottleneck, "tlb");
  EXPECT_EQ(ToJson(store_.FindTrial("r-1", 1).value()), ToJson(trial));
  trial.profile.reset();
  ASSERT_TRUE(store_.AmendTrial("r-1", trial));
  EXPECT_FALSE(store_.FindTrial("r-1", 1)->profile);
  EXPECT_EQ(store_.Summaries("r-1")->at(0).bottleneck, "");
}

TEST_F(TrialRowsTest, ATrialThatIsNotThereIsNamed) {
  EXPECT_EQ(store_.FindTrial("r-1", 3).error().message, "the run r-1 has no trial 3");
  EXPECT_EQ(store_.FindTrial("r-1", 3).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
