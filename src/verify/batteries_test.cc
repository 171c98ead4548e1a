#include "verify/batteries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/task.h"
#include "task/set_layout.h"
#include "verify/element.h"
#include "verify/structure.h"

namespace pragma {
namespace {

using testing::Each;
using testing::Gt;
using testing::Lt;

Rng SomeRng() { return Rng({1, 2}); }

TensorSpec Tensor(std::string name, TensorRole role, std::vector<std::int64_t> shape) {
  return {.name = std::move(name), .role = role, .shape = std::move(shape)};
}

// x (input, 64 x 64) and weight (parameter, 64).
struct Fixture {
  Task task;
  std::vector<std::byte> packed;

  Fixture() {
    task.arguments = {Tensor("x", TensorRole::kInput, {64, 64}),
                      Tensor("weight", TensorRole::kParameter, {64})};
    task.outputs = {Tensor("out", TensorRole::kOutput, {64, 64})};
    packed.resize(PackedLayout(task).argument_bytes);
    Rng rng = SomeRng();
    Set(0, [&](std::size_t) { return rng.Uniform(); });
    Set(1, [](std::size_t) { return 1.0; });
  }
  template <class Make>
  void Set(std::size_t argument, Make value) {
    std::byte* data = packed.data() + PackedLayout(task).argument_offsets[argument];
    for (std::size_t i = 0; i < task.arguments[argument].elements(); ++i)
      StoreElement(DType::kFloat32, data, i, value(i));
  }
  [[nodiscard]] std::vector<double> Values(std::size_t argument) const {
    const std::byte* data = packed.data() + PackedLayout(task).argument_offsets[argument];
    std::vector<double> values;
    for (std::size_t i = 0; i < task.arguments[argument].elements(); ++i)
      values.push_back(static_cast<double>(LoadElement<float>(data, i)));
    return values;
  }
  void Apply(Battery battery) {
    Rng rng = SomeRng();
    ApplyBattery(task, DetectStructures(task, packed), battery, BatteryRungs(battery)[0], rng,
                 packed);
  }
};

std::size_t CountZeros(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::count(values.begin(), values.end(), 0.0));
}

TEST(BatteriesTest, SignedHasBothSignsOfTheNominalSize) {
  Fixture fixture;
  fixture.Apply(Battery::kSigned);
  double squares = 0;
  std::size_t negative = 0;
  for (const double value : fixture.Values(0)) {
    squares += value * value;
    negative += value < 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(negative) / 4096, 0.5, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 4096), 0.577, 0.06);
}

TEST(BatteriesTest, ConstantParametersBecomeRandom) {
  Fixture fixture;
  fixture.Apply(Battery::kSigned);
  const TensorStructure structure =
      DetectStructure(fixture.task.arguments[1],
                      fixture.packed.data() + PackedLayout(fixture.task).argument_offsets[1]);
  EXPECT_FALSE(structure.constant);
}

TEST(BatteriesTest, DrawnParametersStay) {
  Fixture fixture;
  Rng rng({3, 4});
  fixture.Set(1, [&](std::size_t) { return rng.Normal(); });
  const std::vector<double> before = fixture.Values(1);
  fixture.Apply(Battery::kSigned);
  EXPECT_EQ(fixture.Values(1), before);
}

TEST(BatteriesTest, IntegersAreIntegersInInputsAndParameters) {
  Fixture fixture;
  fixture.Apply(Battery::kIntegers);
  for (const std::size_t argument : {0U, 1U}) {
    for (const double value : fixture.Values(argument)) EXPECT_EQ(value, std::nearbyint(value));
  }
  EXPECT_THAT(fixture.Values(0), testing::Contains(Gt(8)));
}

TEST(BatteriesTest, IntegersStaySmallWhereManyAreSummed) {
  Fixture fixture;
  fixture.task.reduction_length = 1 << 22;
  fixture.Apply(Battery::kIntegers);
  EXPECT_THAT(fixture.Values(0), Each(testing::AllOf(Gt(-1.5), Lt(1.5))));
}

TEST(BatteriesTest, OneHotKeepsOneElementOfEachRow) {
  Fixture fixture;
  fixture.Apply(Battery::kOneHot);
  EXPECT_EQ(CountZeros(fixture.Values(0)), 64 * 63);
}

TEST(BatteriesTest, LastOnlyKeepsTheLastRowAndColumn) {
  Fixture fixture;
  fixture.Apply(Battery::kLastOnly);
  const std::vector<double> values = fixture.Values(0);
  EXPECT_EQ(CountZeros(values), 63 * 63);
  EXPECT_NE(values[63], 0);
  EXPECT_NE(values[63 * 64], 0);
}

TEST(BatteriesTest, DenormalsAreBelowTheSmallestNormal) {
  Fixture fixture;
  fixture.Apply(Battery::kDenormals);
  EXPECT_THAT(fixture.Values(0), Each(testing::AllOf(Gt(-1.2e-38), Lt(1.2e-38))));
}

TEST(BatteriesTest, ATriangleStaysATriangle) {
  Fixture fixture;
  Rng rng({5, 6});
  fixture.Set(0, [&](std::size_t i) { return i % 64 <= i / 64 ? 0.1 + rng.Uniform() : 0.0; });
  fixture.Apply(Battery::kSigned);
  const std::vector<double> values = fixture.Values(0);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i] == 0, i % 64 > i / 64) << i;
}

TEST(BatteriesTest, ASymmetricMatrixStaysSymmetric) {
  Fixture fixture;
  fixture.Set(0, [&](std::size_t i) {
    const std::size_t a = std::min(i / 64, i % 64);
    const std::size_t b = std::max(i / 64, i % 64);
    return std::sin(static_cast<double>(a * 64 + b));
  });
  fixture.Apply(Battery::kWide);
  const std::vector<double> values = fixture.Values(0);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(values[i * 64 + j], values[j * 64 + i]);
  }
}

TEST(BatteriesTest, LabelsStay) {
  Fixture fixture;
  fixture.Set(0, [](std::size_t i) { return i % 3 == 0 ? -1.0 : 1.0; });
  const std::vector<double> before = fixture.Values(0);
  fixture.Apply(Battery::kSigned);
  EXPECT_EQ(fixture.Values(0), before);
}

TEST(BatteriesTest, ProbabilitiesStay) {
  Fixture fixture;
  Rng rng({7, 8});
  fixture.Set(0, [&](std::size_t) { return rng.Uniform(); });
  std::vector<double> values = fixture.Values(0);
  for (std::size_t row = 0; row < 64; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 64; ++i) sum += values[row * 64 + i];
    for (std::size_t i = 0; i < 64; ++i) values[row * 64 + i] /= sum;
  }
  fixture.Set(0, [&](std::size_t i) { return values[i]; });
  const std::vector<double> before = fixture.Values(0);
  fixture.Apply(Battery::kHeavyTails);
  EXPECT_EQ(fixture.Values(0), before);
}

}  // namespace
}  // namespace pragma
