#include "report/roofs.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/profile.h"
#include "core/task.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

// 1e9 FLOPs and 1e7 bytes in 2 ms are 500 GFLOP/s and 5 GB/s.
Task Example() { return {.name = "t", .flops = 1e9, .compulsory_bytes = 10'000'000}; }

Profile Shares() {
  return {.metrics = {{"time_ms", 2, "ms", "measured"},
                      {"compute_share", 0.5, "1", "estimated"},
                      {"bandwidth_share", 0.25, "1", "estimated"},
                      {"l1_misses", 1e6, "1", "simulated"},
                      {"l2_traffic_share", 0.1, "1", "estimated"}}};
}

TEST(Roofs, WhatIsAchievedOverItsShareIsTheRoof) {
  const std::optional<Roofs> roofs = RoofsFrom(Example(), Shares());
  EXPECT_DOUBLE_EQ(roofs->gflops, 1000);
  EXPECT_DOUBLE_EQ(roofs->intensity, 100);
  ASSERT_EQ(roofs->bandwidth.size(), 2U);
  EXPECT_EQ(roofs->bandwidth[0].level, "task");
  EXPECT_DOUBLE_EQ(roofs->bandwidth[0].gbs, 20);
  EXPECT_EQ(roofs->bandwidth[1].level, "L2");
  EXPECT_DOUBLE_EQ(roofs->bandwidth[1].gbs, 320);  // 64e6 bytes in 2 ms: 32 GB/s, a tenth
}

TEST(Roofs, AProfileOrTaskThatLacksAFigureHasNone) {
  for (const std::string missing : {"time_ms", "compute_share", "bandwidth_share"}) {
    Profile profile = Shares();
    std::erase_if(profile.metrics, [&](const Metric& metric) { return metric.tag == missing; });
    EXPECT_FALSE(RoofsFrom(Example(), profile)) << missing;
  }
  EXPECT_FALSE(RoofsFrom({.flops = 0, .compulsory_bytes = 1}, Shares()));
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
