#include "tune/halving.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace pragma {
namespace {

// A simulated machine: each variant has a true gain, and each process has some noise and takes
// time. It obeys the contract, so it does not start a process that would end too late.
class FakeMachine final {
 public:
  FakeMachine(std::vector<double> gains, double noise, std::uint64_t seed)
      : gains_(std::move(gains)), noise_(noise), rng_(Seed{seed, 7}) {}

  Result<RoundTimes> operator()(const RoundRequest& request) {
    RoundTimes times;
    times.logs.resize(request.contestants.size());
    times.failures.resize(request.contestants.size());
    for (int process = 0; process < request.processes; ++process) {
      double cost = 0;
      for (std::size_t i = 0; i < request.contestants.size(); ++i)
        cost += kProcessSeconds * (0.5 + rng_.Uniform());
      if (times.seconds + cost > request.seconds) break;
      times.seconds += cost;
      for (std::size_t i = 0; i < request.contestants.size(); ++i) {
        const std::size_t who = request.contestants[i];
        if (failing.contains(who)) times.failures[i] = "wrong values";
        if (times.failures[i].empty())
          times.logs[i].push_back(std::log(gains_[who]) + noise_ * rng_.Normal());
      }
    }
    spent += times.seconds;
    rounds.push_back(request);
    return times;
  }

  static constexpr double kProcessSeconds = 0.1;
  std::set<std::size_t> failing;
  double spent = 0;
  std::vector<RoundRequest> rounds;

 private:
  std::vector<double> gains_;
  double noise_;
  Rng rng_;
};

HalvingLimits Limits(double seconds) {
  return {
      .seconds = seconds, .process_seconds = FakeMachine::kProcessSeconds, .minimum_effect = 0.01};
}

HalvingResult RunOn(FakeMachine& machine, std::size_t contestants, double seconds) {
  Result<HalvingResult> result =
      SuccessiveHalving(contestants, Limits(seconds),
                        [&machine](const RoundRequest& request) { return machine(request); });
  EXPECT_TRUE(result);
  return result ? std::move(*result) : HalvingResult{};
}

// Returns gains from 0.5 to 1.05, and one that is clearly the best.
std::vector<double> GainsWithBest(std::size_t count, std::size_t best, Rng& rng) {
  std::vector<double> gains;
  for (std::size_t i = 0; i < count; ++i) gains.push_back(0.5 + 0.55 * rng.Uniform());
  gains[best] = 1.2;
  return gains;
}

TEST(Halving, FindsTheBestOfManyNearlyAlways) {
  int found = 0;
  constexpr int kCases = 1000;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    Rng rng(Seed{seed, 1});
    const std::size_t count = 2 + rng.Below(40);
    const std::size_t best = rng.Below(count);
    FakeMachine machine(GainsWithBest(count, best, rng), 0.02, seed);
    const HalvingResult result = RunOn(machine, count, 60);
    if (result.winner == best) ++found;
  }
  EXPECT_GE(found, kCases * 99 / 100);
}

TEST(Halving, NeverTakesMoreTimeThanItHas) {
  int unfinished = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(Seed{seed, 2});
    const std::size_t count = 1 + rng.Below(64);
    const double seconds = 30 * rng.Uniform() * rng.Uniform();
    FakeMachine machine(GainsWithBest(count, 0, rng), 0.1 * rng.Uniform(), seed);
    const HalvingResult result = RunOn(machine, count, seconds);
    EXPECT_LE(machine.spent, seconds) << "case " << seed;
    EXPECT_DOUBLE_EQ(result.seconds, machine.spent);
    if (!result.complete) ++unfinished;
  }
  EXPECT_GT(unfinished, 100);
}

TEST(Halving, EqualVariantsHardlyEverReplaceTheDefault) {
  int wins = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    FakeMachine machine(std::vector<double>(16, 1.0), 0.03, seed);
    if (RunOn(machine, 16, 60).winner) ++wins;
  }
  EXPECT_LE(wins, 30);  // a 95 % interval errs upwards in 2.5 %
}

TEST(Halving, AGainBelowTheMinimumDoesNotCount) {
  FakeMachine machine({1.005, 0.9}, 0.0001, 3);
  EXPECT_FALSE(RunOn(machine, 2, 60).winner);
}

TEST(Halving, TheWinnersFigureComesFromProcessesAfterItLed) {
  FakeMachine machine({0.9, 1.3, 1.0}, 0.01, 4);
  const HalvingResult result = RunOn(machine, 3, 60);
  ASSERT_EQ(result.winner, 1U);
  ASSERT_TRUE(result.confirmed);
  EXPECT_LT(result.confirmed->low, 1.3);
  EXPECT_GT(result.confirmed->high, 1.3);
  EXPECT_EQ(machine.rounds.back().contestants, std::vector<std::size_t>{1});
  EXPECT_EQ(machine.rounds.back().processes, 10);
}

TEST(Halving, WhoIsFarBehindIsMeasuredOnce) {
  FakeMachine machine({0.3, 1.3, 1.29, 1.28}, 0.01, 5);
  const HalvingResult result = RunOn(machine, 4, 60);
  EXPECT_EQ(result.standings[0].logs.size(), 3U);
  EXPECT_GT(result.standings[1].logs.size(), 3U);
  for (std::size_t round = 1; round < machine.rounds.size(); ++round)
    EXPECT_LT(machine.rounds[round].contestants.size(), 4U);
}

TEST(Halving, AFailureWhileTimingLeaves) {
  FakeMachine machine({2.0, 1.2, 0.9}, 0.01, 6);
  machine.failing = {0};
  const HalvingResult result = RunOn(machine, 3, 60);
  EXPECT_EQ(result.winner, 1U);
  EXPECT_EQ(result.standings[0].failure, "wrong values");
  EXPECT_FALSE(result.standings[0].ratio());
}

TEST(Halving, WhereAllFailOrThereIsNobodyTheDefaultStays) {
  FakeMachine machine({2.0, 1.2}, 0.01, 8);
  machine.failing = {0, 1};
  EXPECT_FALSE(RunOn(machine, 2, 60).winner);
  FakeMachine empty({}, 0.01, 9);
  EXPECT_FALSE(RunOn(empty, 0, 60).winner);
  EXPECT_TRUE(empty.rounds.empty());
}

TEST(Halving, SameMeasurementsSameResult) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    FakeMachine first({0.9, 1.1, 1.12, 1.0, 1.05}, 0.05, seed);
    FakeMachine second({0.9, 1.1, 1.12, 1.0, 1.05}, 0.05, seed);
    const HalvingResult a = RunOn(first, 5, 8);
    const HalvingResult b = RunOn(second, 5, 8);
    EXPECT_EQ(a.winner, b.winner);
    EXPECT_EQ(a.rounds, b.rounds);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(a.standings[i].logs, b.standings[i].logs);
  }
}

TEST(Halving, OurOwnTroubleEndsIt) {
  const auto broken = [](const RoundRequest&) -> Result<RoundTimes> { return Fail("no worker"); };
  const Result<HalvingResult> result = SuccessiveHalving(3, Limits(10), broken);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no worker");
}

}  // namespace
}  // namespace pragma
