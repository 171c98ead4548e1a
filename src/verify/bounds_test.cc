#include "verify/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "core/backend_testing.h"
#include "core/device.h"
#include "core/task.h"
#include "core/timing.h"
#include "machine/machine.h"

namespace pragma {
namespace {

Task AddTask() {
  Task task;
  task.arguments = {{.name = "X", .shape = {1 << 20}}, {.name = "table", .shape = {1 << 20}}};
  task.outputs = {{.name = "out", .shape = {1 << 20}}};
  const auto node = [](std::string name) {
    return ScalarValue{.kind = ScalarValue::Kind::kNode, .text = std::move(name)};
  };
  task.graph = {{.name = "x", .op = "placeholder", .results = {task.arguments[0]}},
                {.name = "table", .op = "placeholder", .results = {task.arguments[1]}},
                {.name = "rows", .op = "aten.index.Tensor", .args = {node("table")}},
                {.name = "add", .op = "aten.add.Tensor", .args = {node("x"), node("rows")}}};
  task.flops = 1e9;
  return task;
}

TEST(BoundsTest, CountsOnlyArgumentsThatAreUsedWhole) {
  const Traffic traffic = UnavoidableTraffic(AddTask());
  EXPECT_EQ(traffic.read_bytes, 4U << 20U);
  EXPECT_EQ(traffic.write_bytes, 4U << 20U);
}

TEST(BoundsTest, ASlowerLevelDoesNotLowerTheBoundOfALargeSet) {
  Machine machine;
  machine.bandwidth = {
      {.working_set_bytes = 1 << 20, .read_gbs = 1000, .copy_gbs = 1000, .write_gbs = 1000},
      {.working_set_bytes = 16 << 20, .read_gbs = 100, .copy_gbs = 100, .write_gbs = 100},
      {.working_set_bytes = 256 << 20, .read_gbs = 10, .copy_gbs = 10, .write_gbs = 10}};
  EXPECT_NEAR(HardBoundMs(AddTask(), machine), 8.388608e6 / 100e9 * 1e3, 1e-6);
}

TEST(BoundsTest, NothingMeasuredMeansNoBound) {
  EXPECT_EQ(HardBoundMs(AddTask(), Machine{}), 0);
  EXPECT_EQ(SoftBoundMs(AddTask(), Machine{}), 0);
}

Device SmallDevice() {
  return {.backend = ShippedBackend("nvidia"),
          .l2_bytes = 4U << 20U,
          .multiprocessors = 10,
          .clock_ghz = 1,
          .memory_gbs = 100};
}

TEST(BoundsTest, OnADeviceItsCacheMayHoldAPart) {
  Machine machine;
  machine.device = SmallDevice();
  // Half of the eight mebibytes come from memory. That takes longer than reading all of them from
  // the cache.
  EXPECT_NEAR(HardBoundMs(AddTask(), machine), 4.194304e6 / 100e9 * 1e3, 1e-6);
  machine.device->l2_bytes = 8U << 20U;
  EXPECT_NEAR(HardBoundMs(AddTask(), machine), 8.388608e6 / 640e9 * 1e3, 1e-6);
}

TEST(BoundsTest, OnADeviceTheSoftBoundIsByItsOwnPeak) {
  Machine machine;
  machine.peak_gflops = 100;
  machine.device = SmallDevice();
  EXPECT_NEAR(SoftBoundMs(AddTask(), machine), 1e9 / 2560e9 * 1e3, 1e-6);
}

TEST(BoundsTest, MatrixUnitsLowerTheSoftBoundToThreeOfTheirProducts) {
  Machine machine;
  machine.device = SmallDevice();
  machine.device->capability = "9.0";
  EXPECT_NEAR(SoftBoundMs(AddTask(), machine), 3 * 1e9 / 20480e9 * 1e3, 1e-6);
}

TEST(BoundsTest, OperandsOf16BitsHaveTheSoftBoundOfTheirOwnPeak) {
  Machine machine;
  machine.device = SmallDevice();
  machine.device->capability = "9.0";
  Task task = AddTask();
  for (std::vector<TensorSpec>* tensors : {&task.arguments, &task.outputs})
    for (TensorSpec& tensor : *tensors) tensor.dtype = DType::kFloat16;
  EXPECT_NEAR(SoftBoundMs(task, machine), 1e9 / machine.device->half_product_gflops() * 1e-6, 1e-9);
}

TEST(BoundsTest, SoftBoundIsFlopsOverPeak) {
  Machine machine;
  machine.peak_gflops = 100;
  EXPECT_NEAR(SoftBoundMs(AddTask(), machine), 10, 1e-9);
}

TEST(RooflineTest, IsTheLongerOfOperationsAndBytes) {
  Machine machine;
  machine.peak_gflops = 100;
  machine.bandwidth = {{.working_set_bytes = 1U << 30U, .read_gbs = 100, .copy_gbs = 100}};
  Task task = AddTask();
  const std::optional<Roofline> products = RooflineOf(task, machine);
  ASSERT_TRUE(products);
  EXPECT_NEAR(products->ms, 10, 1e-9);  // of 1e9 operations
  EXPECT_TRUE(products->compute_bound);
  task.flops = 1e3;
  const std::optional<Roofline> bytes = RooflineOf(task, machine);
  EXPECT_NEAR(bytes->ms, HardBoundMs(task, machine), 1e-9);
  EXPECT_FALSE(bytes->compute_bound);
  EXPECT_FALSE(RooflineOf(task, Machine{}));
}

TEST(RooflineTest, UsesMatrixUnitsWhereTheTypeCan) {
  Machine machine;
  machine.peak_gflops = 100;
  machine.bf16_gflops = 800;
  Task task = AddTask();
  EXPECT_NEAR(RooflineOf(task, machine)->ms, 10, 1e-9);
  for (TensorSpec* tensor : {&task.arguments[0], &task.arguments[1], &task.outputs[0]})
    tensor->dtype = DType::kBFloat16;
  EXPECT_NEAR(RooflineOf(task, machine)->ms, 10.0 / 8, 1e-9);
  task.outputs[0].dtype = DType::kFloat64;
  EXPECT_NEAR(RooflineOf(task, machine)->ms, 20, 1e-9);
  machine.bf16_gflops = -1;  // figures of an older version
  EXPECT_NEAR(RooflineOf(task, machine)->ms, 20, 1e-9);
}

TEST(RooflineTest, OnADevice16BitTypesHaveTwiceTheProductsOfTf32) {
  Machine machine;
  machine.device = SmallDevice();
  machine.device->capability = "9.0";
  Task task = AddTask();
  EXPECT_NEAR(RooflineOf(task, machine)->ms, 3 * 1e9 / 20480e9 * 1e3, 1e-6);
  for (TensorSpec* tensor : {&task.arguments[0], &task.arguments[1], &task.outputs[0]})
    tensor->dtype = DType::kFloat16;
  EXPECT_NEAR(RooflineOf(task, machine)->ms,
              std::max(1e9 / (2 * 20480e9) * 1e3, HardBoundMs(task, machine)), 1e-6);
}

}  // namespace
}  // namespace pragma
