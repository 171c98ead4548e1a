// Tests what counts as confirmed, as worth a note, and as refuted.
#include "evidence/recheck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "evidence/testing.h"

namespace pragma {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Bundle Recorded() {
  Bundle bundle = ExampleBundle();
  bundle.against.reset();
  return bundle;
}

Rejudged Again(const Bundle& bundle) {
  return {.same_seed = bundle.evaluation,
          .fresh_seed = bundle.evaluation,
          .pragma = bundle.pragma,
          .system = bundle.system,
          .kernel_header_sha256 = bundle.kernel_header_sha256,
          .options = bundle.options,
          .not_against = {}};
}

// Returns the result of the comparison after `change` is applied to the new judgement.
RecheckReport After(const std::function<void(Rejudged&)>& change) {
  const Bundle bundle = Recorded();
  Rejudged now = Again(bundle);
  change(now);
  return CompareWithRecord(bundle, now);
}

std::vector<std::string> Names(const RecheckReport& report) {
  std::vector<std::string> names;
  for (const Difference& difference : report.differences) names.push_back(difference.what);
  return names;
}

void SetSpeedups(Rejudged& now, const Interval& ratio) {
  now.same_seed.speedup_eager = ratio;
  now.fresh_seed.speedup_eager = ratio;
}

TEST(RecheckTest, TheSameJudgementConfirms) {
  const RecheckReport report = After([](Rejudged&) {});
  EXPECT_EQ(report.verdict, RecheckVerdict::kConfirmed);
  EXPECT_THAT(report.differences, IsEmpty());
}

TEST(RecheckTest, ACandidateThatNoLongerPassesIsRefuted) {
  const RecheckReport same =
      After([](Rejudged& now) { now.same_seed.status = Status::kWrongValues; });
  EXPECT_EQ(same.verdict, RecheckVerdict::kRefuted);
  const RecheckReport fresh =
      After([](Rejudged& now) { now.fresh_seed.status = Status::kWrongValues; });
  EXPECT_EQ(fresh.verdict, RecheckVerdict::kRefuted);
  EXPECT_THAT(Names(fresh), Contains("status"));
}

TEST(RecheckTest, AnotherObjectFromTheSameCompilerIsRefuted) {
  const auto other = [](Rejudged& now) { now.same_seed.object_sha256 = "other"; };
  EXPECT_EQ(After(other).verdict, RecheckVerdict::kRefuted);
  const RecheckReport elsewhere = After([&](Rejudged& now) {
    other(now);
    now.same_seed.environment.compiler = "g++ 13";
  });
  EXPECT_EQ(elsewhere.verdict, RecheckVerdict::kConfirmedWithNotes);
  EXPECT_THAT(Names(elsewhere), Contains("object"));
}

TEST(RecheckTest, OtherLastBitsAreANoteAndALargerErrorIsRefuted) {
  const RecheckReport bits = After([](Rejudged& now) { now.same_seed.error->max_abs *= 1.01; });
  EXPECT_EQ(bits.verdict, RecheckVerdict::kConfirmedWithNotes);
  EXPECT_THAT(Names(bits), Contains("error"));
  const auto larger = [](Rejudged& now) { now.same_seed.error->rel_l2 *= 10; };
  EXPECT_EQ(After(larger).verdict, RecheckVerdict::kRefuted);
  const RecheckReport elsewhere = After([&](Rejudged& now) {
    larger(now);
    now.same_seed.environment.cpu = "another cpu";
  });
  EXPECT_EQ(elsewhere.verdict, RecheckVerdict::kConfirmedWithNotes);
}

TEST(RecheckTest, AnErrorThatIsNoNumberIsRefuted) {
  const RecheckReport report = After([](Rejudged& now) {
    now.same_seed.error->rel_l2 = std::numeric_limits<double>::quiet_NaN();
  });
  EXPECT_EQ(report.verdict, RecheckVerdict::kRefuted);
}

TEST(RecheckTest, ASpeedupOverstatedOnTheSameMachineIsRefuted) {
  EXPECT_EQ(After([](Rejudged& now) { SetSpeedups(now, {0.01, 0.009, 0.011}); }).verdict,
            RecheckVerdict::kRefuted);
}

TEST(RecheckTest, ANoisySittingDoesNotRefuteASpeedup) {
  const RecheckReport report = After([](Rejudged& now) {
    SetSpeedups(now, {0.01, 0.009, 0.011});
    now.fresh_seed.noisy = "other programs used the processors";
  });
  EXPECT_EQ(report.verdict, RecheckVerdict::kInconclusive);
  ASSERT_EQ(report.differences.size(), 1U);
  EXPECT_EQ(report.differences[0].weight, Weight::kInconclusive);
  EXPECT_THAT(report.differences[0].detail, HasSubstr("other programs used the processors"));
}

TEST(RecheckTest, ASpeedupThatWasNoisyWhenItWasRecordedIsNotRefuted) {
  Bundle bundle = Recorded();
  bundle.evaluation.noisy = "other programs used the processors";
  Rejudged now = Again(bundle);
  SetSpeedups(now, {0.01, 0.009, 0.011});
  now.same_seed.noisy = now.fresh_seed.noisy = "";
  EXPECT_EQ(CompareWithRecord(bundle, now).verdict, RecheckVerdict::kInconclusive);
}

TEST(RecheckTest, AWideIntervalNeitherRefutesNorConfirms) {
  EXPECT_EQ(After([](Rejudged& now) { SetSpeedups(now, {0.01, 0.005, 0.02}); }).verdict,
            RecheckVerdict::kInconclusive);
  EXPECT_EQ(After([](Rejudged& now) { SetSpeedups(now, {1, 0.1, 10}); }).verdict,
            RecheckVerdict::kInconclusive);
}

TEST(RecheckTest, ATooFastTimeOfANoisySittingDoesNotRefute) {
  const auto too_fast = [](Rejudged& now) {
    now.same_seed.status = Status::kImplausible;
    now.same_seed.checks.push_back(
        {"hard_bound", CheckVerdict::kFail, "1 ms measured, 2 ms possible"});
  };
  EXPECT_EQ(After(too_fast).verdict, RecheckVerdict::kRefuted);
  EXPECT_EQ(After([&](Rejudged& now) {
              too_fast(now);
              now.same_seed.noisy = "other programs used the processors";
            }).verdict,
            RecheckVerdict::kInconclusive);
}

TEST(RecheckTest, NoiseExcusesNoWrongOutput) {
  const RecheckReport timed = After([](Rejudged& now) {
    now.same_seed.status = Status::kImplausible;
    now.same_seed.checks.push_back(
        {"timed_outputs", CheckVerdict::kFail, "wrong while it was timed"});
    now.same_seed.noisy = "other programs used the processors";
  });
  EXPECT_EQ(timed.verdict, RecheckVerdict::kRefuted);
  const RecheckReport checked = After([](Rejudged& now) {
    now.same_seed.status = Status::kWrongValues;
    now.same_seed.noisy = "other programs used the processors";
  });
  EXPECT_EQ(checked.verdict, RecheckVerdict::kRefuted);
}

TEST(RecheckTest, OneSittingThatAgreesIsEnough) {
  const RecheckReport report =
      After([](Rejudged& now) { now.same_seed.speedup_eager = Interval{0.01, 0.009, 0.011}; });
  EXPECT_EQ(report.verdict, RecheckVerdict::kConfirmed);
}

TEST(RecheckTest, ASpeedupThatDriftedALittleOrGrewIsANote) {
  const double low = Recorded().evaluation.speedup_eager->low;
  const double high = Recorded().evaluation.speedup_eager->high;
  EXPECT_EQ(
      After([&](Rejudged& now) { SetSpeedups(now, {low * 0.94, low * 0.93, low * 0.95}); }).verdict,
      RecheckVerdict::kConfirmedWithNotes);
  EXPECT_EQ(After([&](Rejudged& now) { SetSpeedups(now, {high * 3, high * 2, high * 4}); }).verdict,
            RecheckVerdict::kConfirmedWithNotes);
}

TEST(RecheckTest, AnotherMachineExplainsAnotherSpeedup) {
  const RecheckReport report = After([](Rejudged& now) {
    SetSpeedups(now, {0.01, 0.009, 0.011});
    now.same_seed.environment.threads = 1;
  });
  EXPECT_EQ(report.verdict, RecheckVerdict::kConfirmedWithNotes);
  EXPECT_THAT(Names(report), Contains("speedup.eager"));
  EXPECT_THAT(Names(report), Contains("threads"));
}

TEST(RecheckTest, TimesThatAreNotTakenAgainAreANote) {
  const RecheckReport report = After([](Rejudged& now) {
    now.timed = false;
    now.same_seed.speedup_eager.reset();
  });
  EXPECT_EQ(report.verdict, RecheckVerdict::kConfirmedWithNotes);
  EXPECT_THAT(Names(report), Contains("timing"));
}

TEST(RecheckTest, ASpeedupThatDoesNotFollowFromTheSamplesIsRefuted) {
  Bundle bundle = Recorded();
  bundle.evaluation.speedup_eager->median += 1e-3;
  EXPECT_EQ(CompareWithRecord(bundle, Again(bundle)).verdict, RecheckVerdict::kRefuted);
}

TEST(RecheckTest, SamplesThatCannotBeUsedProveNothing) {
  const std::vector<std::vector<std::vector<double>>> odd{
      {},
      {{}},
      {{1e-3}},
      {{0, -1}, {1, 1}},
      {{std::numeric_limits<double>::quiet_NaN(), 1}, {1, 1}}};
  for (const auto& seconds : odd) {
    Bundle bundle = Recorded();
    bundle.evaluation.samples[1].seconds = seconds;
    EXPECT_EQ(CompareWithRecord(bundle, Again(bundle)).verdict, RecheckVerdict::kRefuted);
  }
}

TEST(RecheckTest, ABundleWithoutSamplesGetsANote) {
  Bundle bundle = Recorded();
  bundle.evaluation.samples.clear();
  EXPECT_EQ(CompareWithRecord(bundle, Again(bundle)).verdict, RecheckVerdict::kConfirmedWithNotes);
}

TEST(RecheckTest, FewerProtectionsThanRecordedAreANote) {
  const RecheckReport report =
      After([](Rejudged& now) { now.same_seed.environment.protections.clear(); });
  EXPECT_EQ(report.verdict, RecheckVerdict::kConfirmedWithNotes);
  EXPECT_THAT(Names(report), Contains("protections"));
}

}  // namespace
}  // namespace pragma
