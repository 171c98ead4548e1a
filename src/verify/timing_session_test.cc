#include "verify/timing_session.h"

#include <gtest/gtest.h>

namespace pragma {
namespace {

TEST(TimingOutcomeTest, RatiosArePairedByBurstSoThatASharedDisturbanceCancels) {
  TimingOutcome outcome;
  outcome.sides.resize(2);
  for (int process = 0; process < 5; ++process) {
    // The second burst takes ten times as long on both sides.
    outcome.sides[0].seconds.push_back({2.0, 20.0, 2.0});
    outcome.sides[1].seconds.push_back({1.0, 10.0, 1.0});
  }
  const Interval ratio = outcome.Ratio(0, 1);
  EXPECT_NEAR(ratio.median, 2, 1e-9);
  EXPECT_NEAR(ratio.low, 2, 1e-9);
  EXPECT_NEAR(ratio.high, 2, 1e-9);
}

}  // namespace
}  // namespace pragma
