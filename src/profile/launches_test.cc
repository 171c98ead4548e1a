#include "profile/launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pragma {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;

// The resources of an H100's multiprocessors.
const std::string kDevice = "device 132 2048 32 65536 233472 1024\n";
constexpr MultiprocessorLimits kHopper{.count = 132,
                                       .threads = 2048,
                                       .blocks = 32,
                                       .registers = 65536,
                                       .shared = 233472,
                                       .reserved_shared = 1024};

MetricSet MetricsOf(const std::string& text) {
  const auto call = ParseLaunches(text);
  EXPECT_TRUE(call) << call.error().message;
  MetricSet metrics;
  if (call) AddLaunchMetrics(*call, metrics);
  return metrics;
}

TEST(Launches, TheLongestGivesTheFactsAndAllTheTime) {
  const MetricSet metrics = MetricsOf(kDevice +
                                      "call 0.5 2\n"
                                      "launch 0.100 264 256 0 0 32 0 8 _Z5ScalePf\n"
                                      "launch 0.300 33 1024 512 64 64 16 1 _Z3SumPKfPf\nend\n");
  EXPECT_EQ(metrics.Get("gpu_kernels"), 2);
  EXPECT_THAT(metrics.Get("gpu_kernel_time").value_or(0), DoubleNear(400, 1e-6));
  EXPECT_EQ(metrics.Get("gpu_grid"), 33);
  EXPECT_EQ(metrics.Get("gpu_block"), 1024);
  EXPECT_EQ(metrics.Get("gpu_shared_memory_per_block"), 576);
  EXPECT_EQ(metrics.Get("gpu_registers_per_thread"), 64);
  EXPECT_EQ(metrics.Get("gpu_local_bytes"), 16);
  EXPECT_EQ(metrics.Get("gpu_theoretical_occupancy"), 50);
  EXPECT_EQ(metrics.Get("gpu_waves"), 0.25);
  EXPECT_EQ(metrics.Get("gpu_multiprocessors"), 132);
}

// The expected values are those that Nsight Compute reports for the same launches.
TEST(Launches, BlocksThatFitAreCountedAsTheDeviceDealsThemOut) {
  const BlockLimits softmax =
      LimitsOf({.block = 128, .static_shared = 16, .registers = 94}, kHopper);
  EXPECT_EQ(softmax.registers, 5);
  EXPECT_EQ(softmax.warps, 16);
  EXPECT_EQ(softmax.blocks, 32);
  const BlockLimits wide = LimitsOf({.block = 256, .registers = 44}, kHopper);
  EXPECT_EQ(wide.registers, 5);
  EXPECT_EQ(wide.warps, 8);
  const BlockLimits large = LimitsOf({.block = 128, .dynamic_shared = 100 << 10}, kHopper);
  EXPECT_EQ(large.shared, 2);
  EXPECT_EQ(large.least(), 2);
}

TEST(Launches, WithoutTheDriversCountTheLeastLimitHolds) {
  const MetricSet metrics =
      MetricsOf(kDevice + "call 0 1\nlaunch 0.1 1320 128 0 0 94 0 0 softmax_k\nend\n");
  EXPECT_EQ(metrics.Get("gpu_theoretical_occupancy"), 31.25);
  EXPECT_EQ(metrics.Get("gpu_waves"), 2);
}

TEST(Launches, KernelsAreListedByTheirShareWithReadableNames) {
  const auto call = ParseLaunches(kDevice +
                                  "call 0.5 3\n"
                                  "launch 0.1 1 32 0 0 8 0 1 _Z5ScalePf\n"
                                  "launch 0.1 1 32 0 0 8 0 1 _Z5ScalePf\n"
                                  "launch 0.6 1 32 0 0 8 0 1 void at::sum<float, 4>(int)\nend\n");
  ASSERT_TRUE(call) << call.error().message;
  const std::vector<HotSpot> hot = HotKernels(*call, "kernel.cu");
  ASSERT_EQ(hot.size(), 2U);
  EXPECT_EQ(hot[0].text, "void at::sum<float, 4>(int)");
  EXPECT_THAT(hot[0].percent, DoubleNear(75, 1e-9));
  EXPECT_EQ(hot[1].text, "Scale(float*)");
  EXPECT_EQ(hot[1].remark, "2 launches");
}

TEST(Launches, ForeignTextThatIsWrongIsAnErrorInOneLine) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "ended before"},
      {"call 0.1 1\nlaunch 0.1 1 32 0 0 8 0 1 k\n", "ended before"},
      {"launch 0.1 1 32\nend\n", "cannot be read: launch 0.1 1 32"},
      {"launch nan 1 32 0 0 8 0 1 k\nend\n", "cannot be read"},
      {"launch -1 1 32 0 0 8 0 1 k\nend\n", "cannot be read"},
      {"device 1 2 3\nend\n", "cannot be read: device 1 2 3"},
  };
  for (const auto& [text, message] : bad) {
    const auto call = ParseLaunches(text);
    ASSERT_FALSE(call) << text;
    EXPECT_THAT(call.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace pragma
