#include "search/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/search_fakes.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A script with every kind of turn: seed, failure, repair, gains, no gain, no code.
ModelByScript::Script LongScript() {
  return {
      {{"coder", 1}, "broken"},   {{"conductor", 2}, "current"}, {{"coder", 2}, "pass 1 9"},
      {{"conductor", 3}, "best"}, {{"coder", 3}, "pass 1.2 8"},  {{"conductor", 4}, "best"},
      {{"coder", 4}, "none"},     {{"conductor", 5}, "best"},    {{"coder", 5}, "pass 1.005 7.9"},
      {{"conductor", 6}, "best"}, {{"coder", 6}, "pass 1.1 7"}};
}

std::vector<int> Parents(const SearchTree& tree) {
  std::vector<int> parents;
  for (const Trial& trial : tree.trials()) parents.push_back(trial.parent);
  return parents;
}

std::vector<bool> Bests(const SearchTree& tree) {
  std::vector<bool> bests;
  for (const Trial& trial : tree.trials()) bests.push_back(trial.best);
  return bests;
}

class SessionTest : public ::testing::Test {
 protected:
  ~SessionTest() override { SetInterruptedForTest(false); }
};

TEST_F(SessionTest, GrowsTheTreeAndKeepsTheBest) {
  Workplace place(LongScript());
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->stopped, StopReason::kBudget);
  EXPECT_THAT(Parents(result->tree), ElementsAre(0, 1, 2, 3, 3, 3));
  EXPECT_THAT(Bests(result->tree), ElementsAre(false, true, true, false, false, true));
  EXPECT_EQ(result->tree.at(1).role, Role::kSeed);
  EXPECT_EQ(result->tree.at(2).role, Role::kRepair);
  EXPECT_EQ(result->tree.at(3).role, Role::kImprove);
  EXPECT_EQ(result->tree.at(4).evaluation.status, Status::kUnsupported);
  EXPECT_EQ(result->tree.at(4).evaluation.reason, "the reply holds no code");
  EXPECT_EQ(place.store.Trials(place.run)->size(), 6U);
  EXPECT_EQ(place.store.FindRun(place.run)->state, "running") << "the caller finishes it";
}

TEST_F(SessionTest, AddsUpWhatWasSpent) {
  Workplace place(LongScript());
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->tree.at(2).spent.seconds, 14) << "two calls of 2 s and 10 s of harness";
  EXPECT_DOUBLE_EQ(result->spent.seconds, 11 * 2 + 5 * 10);
  EXPECT_EQ(result->spent.tokens(), 11 * 120);
  EXPECT_DOUBLE_EQ(result->spent.usd, 11 * 0.25);
}

TEST_F(SessionTest, ShowsTheRolesWhatTheStrategySays) {
  Workplace place(LongScript());
  place.settings.budget.attempts = 4;
  place.Start();
  ASSERT_TRUE(place.Run());
  EXPECT_THAT(place.model.prompts, ElementsAre("attempt 1 of 4 current 0 best 0 others",
                                               "attempt 2 of 4 current 1 best 0 others",
                                               "attempt 2 of 4 current 1 best 0 others advised",
                                               "attempt 3 of 4 current 2 best 2 others",
                                               "attempt 3 of 4 current 2 best 2 others advised",
                                               "attempt 4 of 4 current 3 best 3 others",
                                               "attempt 4 of 4 current 3 best 3 others advised"));
}

// The verdict of a sanitizer that rejects kernels with "racy" in them.
Result<Evaluation> Sanitize(const Candidate& candidate, const Evaluation& evaluation) {
  Evaluation amended = evaluation;
  const bool racy = candidate.source().find("racy") != std::string::npos;
  amended.checks.push_back(
      {"thread_sanitizer", racy ? CheckVerdict::kFail : CheckVerdict::kPass, "data race"});
  if (!racy) return amended;
  amended.status = Status::kNondeterministic;
  amended.reason = "data race";
  return amended;
}

ModelByScript::Script RacyScript() {
  return {{{"coder", 1}, "pass 1 9"},        {{"conductor", 2}, "current"},
          {{"coder", 2}, "pass 1.2 8-racy"}, {{"conductor", 3}, "current"},
          {{"coder", 3}, "pass 1.1 7"},      {{"conductor", 4}, "best"},
          {{"coder", 4}, "pass 1.005 6.9"}};
}

TEST_F(SessionTest, SanitizersOfABestRunWhileTheNextIsAskedFor) {
  Workplace place(RacyScript());
  place.settings.budget.attempts = 4;
  place.confirm = Sanitize;
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(Bests(result->tree), ElementsAre(true, false, true, false));
  EXPECT_EQ(result->tree.at(2).evaluation.status, Status::kNondeterministic);
  EXPECT_EQ(place.model.prompts.at(3), "attempt 3 of 4 current 2 best 2 others")
      << "asked before the verdict was known";
  EXPECT_EQ(place.model.prompts.at(5), "attempt 4 of 4 current 3 best 3 others");
  EXPECT_EQ(place.store.Trials(place.run)->at(1).evaluation.reason, "data race");
  EXPECT_TRUE(place.store.Trials(place.run)->at(2).best) << "measured against the first";
}

TEST_F(SessionTest, ARejectionThatCameLateIsResumedAlike) {
  Workplace place(RacyScript());
  place.settings.budget.attempts = 4;
  place.confirm = Sanitize;
  int proposals = 0;
  place.hook = [&](std::string_view point) -> Result<void> {
    if (point == "evaluate" && ++proposals == 3) return Fail("killed");
    return {};
  };
  place.Start();
  EXPECT_FALSE(place.Run());
  EXPECT_EQ(place.store.Trials(place.run)->size(), 2U) << "the late verdict is on disk";
  place.hook = {};
  const auto resumed = place.RunAgain();
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(place.model.prompts.size(), 7U) << "nothing is asked twice";

  Workplace whole(RacyScript());
  whole.settings.budget.attempts = 4;
  whole.confirm = Sanitize;
  whole.Start();
  EXPECT_EQ(whole.Run()->tree.Signature(), resumed->tree.Signature());
}

TEST_F(SessionTest, TheLastBestIsWaitedFor) {
  Workplace again({{{"coder", 1}, "pass 1 9-racy"}});
  again.settings.budget.attempts = 1;
  again.confirm = Sanitize;
  again.Start();
  const auto result = again.Run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->tree.best(), nullptr);
  EXPECT_EQ(again.store.Trials(again.run)->size(), 1U);
}

TEST_F(SessionTest, IndependentAttemptsSeeNothing) {
  Workplace place(
      {{{"coder", 1}, "pass 1 9"}, {{"coder", 2}, "pass 2 4"}, {{"coder", 3}, "broken"}});
  place.settings.preset = {.name = "sampling",
                           .policy = PolicyKind::kIndependent,
                           .history = ShownHistory::kNone,
                           .conductor = false};
  place.settings.budget.attempts = 3;
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result);
  EXPECT_THAT(Parents(result->tree), ElementsAre(0, 0, 0));
  EXPECT_THAT(Bests(result->tree), ElementsAre(true, true, false))
      << "yet they are measured against the best";
  EXPECT_EQ(place.model.prompts.at(2), "attempt 3 of 3 current 0 best 0 others");
}

TEST_F(SessionTest, AdviceMayGoBackToTheReference) {
  Workplace place(
      {{{"coder", 1}, "pass 1 9"}, {{"conductor", 2}, "reference"}, {{"coder", 2}, "broken"}});
  place.settings.budget.attempts = 2;
  place.Start();
  EXPECT_THAT(Parents(place.Run()->tree), ElementsAre(0, 0));
}

TEST_F(SessionTest, AdviceStopsTheRun) {
  Workplace place({{{"coder", 1}, "pass 1 9"}, {{"conductor", 2}, "stop"}});
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stopped, StopReason::kAdvice);
  EXPECT_EQ(result->tree.size(), 1U);
  EXPECT_DOUBLE_EQ(result->spent.usd, 0.5) << "the Conductor's call counts";
  EXPECT_EQ(place.RunAgain()->stopped, StopReason::kAdvice);
  EXPECT_EQ(place.model.prompts.size(), 2U) << "and is not made again";
}

TEST_F(SessionTest, BudgetsStopTheRun) {
  const auto attempts_under = [](Budget budget) {
    Workplace place(LongScript());
    budget.attempts = 6;
    place.settings.budget = budget;
    place.Start();
    const auto result = place.Run();
    EXPECT_EQ(result->stopped, StopReason::kBudget);
    return result->tree.size();
  };
  EXPECT_EQ(attempts_under({}), 6U);
  EXPECT_EQ(attempts_under({.seconds = 26}), 2U);  // 12 s, then 14 s
  EXPECT_EQ(attempts_under({.seconds = 26.5}), 3U);
  EXPECT_EQ(attempts_under({.tokens = 361}), 3U);  // 120, then 240 each
  EXPECT_EQ(attempts_under({.usd = 0.25}), 1U);
}

// Each attempt moves the clock by 10 s, and with its calls counts as 14 s (the first one: 12 s).
TEST_F(SessionTest, NoAttemptIsBegunThatTheDeadlineWouldCut) {
  const auto attempts_within = [](double seconds) {
    Workplace place(LongScript());
    place.deadline =
        Deadline(place.clock.Now() + std::chrono::duration_cast<Nanoseconds>(Seconds(seconds)));
    place.Start();
    const auto result = place.Run();
    EXPECT_EQ(result->stopped, StopReason::kBudget);
    return result->tree.size();
  };
  EXPECT_EQ(attempts_within(1), 1U) << "the first is begun in any case";
  EXPECT_EQ(attempts_within(21), 1U);
  EXPECT_EQ(attempts_within(23), 2U);
  EXPECT_EQ(attempts_within(45), 2U) << "a best is measured again, which takes as long";
  EXPECT_EQ(attempts_within(47), 3U);
}

TEST_F(SessionTest, AnInterruptedProfileDoesNotLoseTheBest) {
  Workplace place(LongScript());
  place.settings.budget.attempts = 2;
  place.settings.preset.profile = true;
  std::vector<std::string> events;
  place.on_best = [&](const Trial& trial) {
    events.push_back("best " + std::to_string(trial.node));
  };
  place.observe = [&](const Candidate&, const Evaluation&, const Trial*, int) -> Result<Profile> {
    events.emplace_back("profile");
    SetInterruptedForTest(true);
    return Fail(ErrorKind::kInterrupted, "interrupted while profiling");
  };
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(events, ElementsAre("best 2", "profile"));
  ASSERT_EQ(result->tree.size(), 2U) << "the attempt had its verdict";
  EXPECT_TRUE(result->tree.at(2).best);
  EXPECT_FALSE(result->tree.at(2).profile);
}

TEST_F(SessionTest, ABudgetCountsWhatWasSpentBeforeTheResume) {
  Workplace place(LongScript());
  place.settings.budget.usd = 0.75;
  place.Start();
  EXPECT_EQ(place.Run()->tree.size(), 2U);
  EXPECT_EQ(place.RunAgain()->tree.size(), 2U);
  place.settings.budget.usd = 1.25;
  EXPECT_EQ(place.RunAgain()->tree.size(), 3U);
}

TEST_F(SessionTest, AModelThatFailsLeavesTheRunResumable) {
  auto script = LongScript();
  script.erase({"coder", 3});
  Workplace place(script);
  place.Start();
  {
    const auto result = place.Run();
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->stopped, StopReason::kService);
    ASSERT_TRUE(result->failure);
    EXPECT_EQ(result->failure->kind, ErrorKind::kUnavailable);
    EXPECT_EQ(result->why, result->failure->message);
    EXPECT_EQ(result->tree.size(), 2U) << "what it has found is kept";
  }
  EXPECT_EQ(place.store.Trials(place.run)->size(), 2U);
}

TEST_F(SessionTest, AModelWithoutTimeLeftEndsTheRunByItsBudget) {
  Workplace place(LongScript());
  place.Start();
  int calls = 0;
  place.model.hook = [&](std::string_view) -> Result<void> {
    if (++calls == 2) return Fail(ErrorKind::kTimeUp, "the time was up");
    return {};
  };
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->stopped, StopReason::kBudget);
  EXPECT_EQ(result->why, "the time was up");
}

TEST_F(SessionTest, AttemptsInARowWithoutCodeEndTheRun) {
  const ModelByScript::Script script{
      {{"coder", 1}, "pass 1 9"}, {{"conductor", 2}, "best"}, {{"coder", 2}, "none"},
      {{"conductor", 3}, "best"}, {{"coder", 3}, "none"},     {{"conductor", 4}, "best"},
      {{"coder", 4}, "none"},     {{"conductor", 5}, "best"}, {{"coder", 5}, "pass 1.2 7"}};
  Workplace place(script);
  place.settings.budget.attempts = 5;
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->stopped, StopReason::kNoCode);
  EXPECT_EQ(result->tree.size(), 4U);
  EXPECT_THAT(result->why, testing::HasSubstr("3 attempts in a row ended without code"));
}

TEST_F(SessionTest, AnInterruptDropsTheAttemptAndKeepsTheRest) {
  for (const std::string at : {"model", "advised", "proposed"}) {
    Workplace place(LongScript());
    place.Start();
    int seen = 0;
    place.hook = [&](std::string_view point) -> Result<void> {
      if (point == at && ++seen == 3) SetInterruptedForTest(true);
      return {};
    };
    place.model.hook = place.hook;
    const auto result = place.Run();
    SetInterruptedForTest(false);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->stopped, StopReason::kInterrupted) << at;
    EXPECT_EQ(place.store.Trials(place.run)->size(), result->tree.size()) << at;
    EXPECT_LT(result->tree.size(), 4U) << at;
    place.hook = place.model.hook = {};
    EXPECT_EQ(place.RunAgain()->tree.size(), 6U) << at;
    EXPECT_EQ(place.model.prompts.size(), 11U) << at << ": no reply was asked for twice";
  }
}

TEST_F(SessionTest, AnInterruptedEvaluationIsNoTrial) {
  Workplace place(LongScript());
  place.Start();
  int evaluations = 0;
  place.hook = [&](std::string_view point) -> Result<void> {
    if (point == "evaluate" && ++evaluations == 2) return Fail(ErrorKind::kInterrupted, "stopped");
    return {};
  };
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->stopped, StopReason::kInterrupted);
  EXPECT_EQ(result->tree.size(), 1U);
}

TEST_F(SessionTest, AFinishedEvaluationIsKeptThoughTheUserWantsToStop) {
  Workplace place(LongScript());
  place.Start();
  place.hook = [&](std::string_view point) -> Result<void> {
    if (point == "evaluate") SetInterruptedForTest(true);
    return {};
  };
  const auto result = place.Run();
  EXPECT_EQ(result->stopped, StopReason::kInterrupted);
  EXPECT_EQ(result->tree.size(), 1U);
}

TEST_F(SessionTest, OnlyOneProcessWorksOnARun) {
  Workplace place(LongScript());
  place.Start();
  place.hook = [&](std::string_view point) -> Result<void> {
    if (point == "trial") {
      EXPECT_THAT(place.store.LockRun(place.run).error().message, HasSubstr("another"));
    }
    return {};
  };
  {
    const auto result = place.HoldAndRun(place.store);
    ASSERT_TRUE(result);
    EXPECT_FALSE(place.store.LockRun(place.run)) << "the best is still to be measured again";
  }
  EXPECT_TRUE(place.store.LockRun(place.run));
}

// Six attempts, three at a time. What each one is based on must not depend on which is faster.
ModelByScript::Script ParallelScript() {
  ModelByScript::Script script;
  for (int node = 1; node <= 6; ++node) {
    script[{"coder", node}] = "pass " + std::to_string(1 + 0.1 * node) + " 9";
    script[{"conductor", node}] = "current";
  }
  return script;
}

TEST_F(SessionTest, SeveralAttemptsAtOnceSeeWhatHasEndedByTheirNumber) {
  Workplace place(ParallelScript());
  place.settings.jobs = 3;
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(Parents(result->tree), ElementsAre(0, 0, 0, 1, 2, 3))
      << "attempt 4 is made when the first has ended, 5 when the second has";
  EXPECT_THAT(Bests(result->tree), ElementsAre(true, true, true, true, true, true))
      << "each was measured against the best of all before it";
}

TEST_F(SessionTest, SeveralAttemptsAtOnceAreResumedAlike) {
  Workplace whole(ParallelScript());
  whole.settings.jobs = 3;
  whole.Start();
  const std::string tree = whole.Run()->tree.Signature();
  for (int kill = 1; kill <= 6; ++kill) {
    Workplace place(ParallelScript());
    place.settings.jobs = 3;
    int evaluations = 0;
    place.hook = [&](std::string_view point) -> Result<void> {
      if (point == "evaluate" && ++evaluations == kill) return Fail("killed");
      return {};
    };
    place.Start();
    EXPECT_FALSE(place.Run());
    place.hook = {};
    const auto resumed = place.RunAgain();
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(resumed->tree.Signature(), tree) << kill;
    EXPECT_EQ(place.model.prompts.size(), 9U) << "6 of the Coder, 3 of the Conductor; none twice";
  }
}

TEST_F(SessionTest, AModelThatFailsBesideOthersEndsTheRunAndLosesNothing) {
  auto script = ParallelScript();
  script.erase({"coder", 2});
  Workplace place(script);
  place.settings.jobs = 3;
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result && result->failure);
  EXPECT_EQ(result->failure->kind, ErrorKind::kUnavailable);
  EXPECT_EQ(place.store.Trials(place.run)->size(), 1U);
}

TEST_F(SessionTest, SeedsComeFirstAndAskNobody) {
  Workplace place({{{"conductor", 3}, "best"}, {{"coder", 3}, "pass 1.2 7"}});
  place.settings.seeds = {{CppCandidate("broken"), "expert"},
                          {CppCandidate("pass 1 9"), "run r-1"}};
  place.settings.budget.attempts = 3;
  place.settings.jobs = 2;
  place.Start();
  const auto result = place.Run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(Parents(result->tree), ElementsAre(0, 0, 2));
  EXPECT_EQ(result->tree.at(1).author, "expert");
  EXPECT_EQ(result->tree.at(2).author, "run r-1");
  EXPECT_TRUE(result->tree.at(2).best);
  EXPECT_EQ(place.model.prompts.size(), 2U);
  EXPECT_EQ(place.RunAgain()->tree.Signature(), result->tree.Signature());
}

TEST_F(SessionTest, AnUnknownRunIsAnError) {
  Workplace place(LongScript());
  place.run = "r-none";
  EXPECT_EQ(place.Run().error().kind, ErrorKind::kUsage);
  EXPECT_THAT(place.model.prompts, IsEmpty());
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
