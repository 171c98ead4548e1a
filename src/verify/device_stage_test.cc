#include "verify/device_stage.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/device.h"
#include "core/task.h"
#include "machine/machine.h"
#include "verify/options.h"

namespace pragma {
namespace {

constexpr std::size_t kCard = std::size_t{139} << 30U;

Machine WithCard() {
  Machine machine;
  machine.device.emplace();
  machine.device->memory_bytes = kCard;
  machine.device->l2_bytes = std::size_t{50} << 20U;
  return machine;
}

// A task with one input and one output of fp32.
Task Pointwise(std::int64_t elements) {
  Task task;
  task.arguments = {{.name = "x", .dtype = DType::kFloat32, .shape = {elements}}};
  task.outputs = {{.name = "out", .dtype = DType::kFloat32, .shape = {elements}}};
  task.peak_bytes = task.outputs.front().bytes();
  return task;
}

std::size_t NeedOf(const Task& task) {
  return DeviceMemoryNeed(task, DeviceStageSize(task, VerifyOptions{}, WithCard()));
}

TEST(DeviceStageSizeTest, SmallTasksHaveSetsForABurstAndAllDraws) {
  const StageSize size = DeviceStageSize(Pointwise(1000), VerifyOptions{}, WithCard());
  EXPECT_GE(size.sets, 32U);
  EXPECT_EQ(size.draws, 5U);
}

TEST(DeviceStageSizeTest, GiantTasksHaveOneSetAndTwoDraws) {
  const StageSize size = DeviceStageSize(Pointwise(1'600'000'000), VerifyOptions{}, WithCard());
  EXPECT_EQ(size.sets, 1U);
  EXPECT_EQ(size.draws, 2U);
}

TEST(DeviceMemoryNeedTest, ThreeTasksOfAGigabyteFitOnACard) {
  EXPECT_LT(3 * NeedOf(Pointwise(130'000'000)), kCard);
}

TEST(DeviceMemoryNeedTest, ResultsInsideForwardCountInFloat64) {
  Task task = Pointwise(130'000'000);
  const std::size_t before = NeedOf(task);
  task.peak_bytes += 1'000'000'000;
  EXPECT_EQ(NeedOf(task) - before, 4'000'000'000U);
}

TEST(DeviceMemoryNeedTest, ADescriptionWithoutAPeakCountsTheOutputs) {
  Task task = Pointwise(130'000'000);
  const std::size_t before = NeedOf(task);
  task.peak_bytes = 0;
  EXPECT_EQ(NeedOf(task), before);
}

}  // namespace
}  // namespace pragma
