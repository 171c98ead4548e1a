#include "values/battery_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"
#include "values/batteries.h"
#include "values/comparator.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Task With(std::initializer_list<std::string> operators) {
  Task task;
  task.graph.push_back({.name = "x", .op = "placeholder"});
  for (const std::string& op : operators) task.graph.push_back({.name = "n", .op = op});
  return task;
}

TEST(RequiredBatteriesTest, SumsNeedSignedOnly) {
  EXPECT_THAT(RequiredBatteries(With({"aten.mm.default", "aten.sum.dim_IntList"})),
              ElementsAre(Battery::kSigned));
}

TEST(RequiredBatteriesTest, WithoutAGraphAllAreNeeded) {
  EXPECT_THAT(RequiredBatteries(Task{}), SizeIs(kAllBatteries.size()));
}

TEST(RequiredBatteriesTest, ExtremesNeedBothFarSides) {
  for (const char* op : {"aten.amax.default", "aten.max.dim", "aten.argmin.default",
                         "aten.max_pool2d_with_indices.default", "aten.maximum.default"}) {
    EXPECT_THAT(RequiredBatteries(With({"aten.convolution.default", op})),
                AllOf(Contains(Battery::kNegative), Contains(Battery::kExtremelyBelow),
                      Contains(Battery::kExtremelyAbove), Contains(Battery::kMasked),
                      Contains(Battery::kAscending)))
        << op;
  }
}

TEST(RequiredBatteriesTest, SoftmaxNeedsWhatOverflowsOrIsMasked) {
  for (const char* op : {"aten._softmax.default", "aten.logsumexp.default",
                         "aten.scaled_dot_product_attention.default"}) {
    EXPECT_THAT(RequiredBatteries(With({op})),
                AllOf(Contains(Battery::kFarBelow), Contains(Battery::kOutlier),
                      Contains(Battery::kMaskedRows)))
        << op;
  }
}

TEST(RequiredBatteriesTest, NormsNeedOffsets) {
  for (const char* op :
       {"aten.native_layer_norm.default", "aten.layer_norm.default", "aten.var.correction",
        "aten.var_mean.correction", "aten.std.correction"}) {
    EXPECT_THAT(RequiredBatteries(With({op})),
                AllOf(Contains(Battery::kOffset1e3), Contains(Battery::kOffset1e5),
                      Not(Contains(Battery::kMasked))))
        << op;
  }
}

TEST(RungsForTest, ExtremesLeaveRoomForSquares) {
  EXPECT_GT(RungsFor(With({"aten.amax.default"}), Battery::kExtremelyAbove).front(), 1e30);
  for (const char* op : {"aten.var.correction", "aten.std.correction"}) {
    for (const Battery battery : {Battery::kExtremelyAbove, Battery::kExtremelyBelow})
      EXPECT_LT(RungsFor(With({"aten.amax.default", op}), battery).front(), 1e10) << op;
    EXPECT_EQ(RungsFor(With({op}), Battery::kFarAbove).front(), 1e6) << op;
  }
}

TEST(ConstantPartsTest, FewRowsTakeSeveralSets) {
  Task task = With({"aten.cummax.default"});
  const auto input = [](std::vector<std::int64_t> shape) {
    return TensorSpec{.name = "x", .role = TensorRole::kInput, .shape = std::move(shape)};
  };
  task.arguments = {input({50, 8})};
  EXPECT_EQ(ConstantParts(task, 0), 1);
  EXPECT_EQ(ConstantParts(task, 10), 1);
  EXPECT_EQ(ConstantParts(task, 11), 2);
  EXPECT_EQ(ConstantParts(task, 64), 6);  // the most
  task.arguments = {input({8}), input({2, 100, 8})};
  EXPECT_EQ(ConstantParts(task, 60), 2);
}

TEST(RequiredBatteriesTest, ScansNeedOrder) {
  EXPECT_THAT(RequiredBatteries(With({"aten.cumsum.default"})),
              AllOf(Contains(Battery::kAscending), Contains(Battery::kAlternating)));
}

TEST(RequiredBatteriesTest, PiecewiseFunctionsNeedBothSigns) {
  EXPECT_THAT(RequiredBatteries(With({"aten.relu.default"})),
              AllOf(Contains(Battery::kNegative), Contains(Battery::kPositive),
                    Not(Contains(Battery::kMasked))));
  EXPECT_THAT(RequiredBatteries(With({"aten.where.self"})), Contains(Battery::kMasked));
  EXPECT_THAT(RequiredBatteries(With({"aten.gt.Scalar"})), Contains(Battery::kNegative));
}

TEST(RequiredBatteriesTest, SeveralKindsNeedEachBatteryOnce) {
  const std::vector<Battery> all =
      RequiredBatteries(With({"aten.relu.default", "aten.amax.default", "aten.cumsum.default"}));
  EXPECT_EQ(std::ranges::count(all, Battery::kAscending), 1);
  EXPECT_EQ(std::ranges::count(all, Battery::kNegative), 1);
}

TEST(TiesAreDecidedTest, OnlyIndicesThatMayMeanAnyOfEqualElementsAreNot) {
  const auto decided = [](const char* op, DType dtype) {
    Task task = With({op});
    task.outputs = {{.name = "out", .dtype = dtype, .shape = {3}}};
    return TiesAreDecided(task);
  };
  EXPECT_FALSE(decided("aten.topk.default", DType::kInt64));
  EXPECT_FALSE(decided("aten.max.dim", DType::kInt64));
  EXPECT_TRUE(decided("aten.max.dim", DType::kFloat32));
  EXPECT_TRUE(decided("aten.argmax.default", DType::kInt64));
  EXPECT_TRUE(decided("aten.gt.Scalar", DType::kInt64));
}

// An infinity more or less does not tell which of the masked elements topk takes.
TEST(LeftOutTest, MaskedRowsAreForTasksThatDoNotUseThePlacesOfEqualElements) {
  const auto reason = [](std::int64_t result) {
    Task task = With({"aten.topk.default"});
    GraphNode taken{.name = "taken", .op = "getitem"};
    taken.args = {{.kind = ScalarValue::Kind::kNode, .text = "n"},
                  {.kind = ScalarValue::Kind::kInt, .integer = result}};
    task.graph.push_back(taken);
    task.outputs = {{.name = "out", .dtype = DType::kFloat32, .shape = {3}}};
    return LeftOut(task, Battery::kMaskedRows);
  };
  EXPECT_THAT(reason(0), IsEmpty());
  EXPECT_THAT(reason(1), HasSubstr("chosen"));
  EXPECT_THAT(LeftOut(With({"aten.argsort.default"}), Battery::kMaskedRows), HasSubstr("chosen"));
}

TEST(LeftOutTest, RepeatedIndicesMeanSomethingWhereUpdatesOfAPlaceAddUp) {
  const auto reason = [](const char* op, DType dtype) {
    Task task = With({op});
    task.arguments = {{.name = "x", .dtype = dtype, .shape = {3}}};
    return LeftOut(task, Battery::kRepeatedIndices);
  };
  EXPECT_EQ(reason("aten.index_add.default", DType::kInt64), "");
  EXPECT_NE(reason("aten.scatter.src", DType::kInt64), "");
  EXPECT_NE(reason("aten.index_put.default", DType::kInt64), "");
  EXPECT_NE(reason("aten.index_add.default", DType::kFloat32), "");
}

TEST(LeftOutTest, LimitsOfTheTypeAreForTasksThatOnlyCompare) {
  const Task compares = With({"aten.view.default", "aten.amax.default"});
  EXPECT_THAT(LeftOut(compares, Battery::kLimitRows), IsEmpty());
  const Task adds = With({"aten.convolution.default", "aten.amax.default"});
  EXPECT_THAT(LeftOut(adds, Battery::kLimitEntries), HasSubstr("overflow"));
  EXPECT_THAT(LeftOut(adds, Battery::kPeriodic), IsEmpty());
}

TEST(LeftOutTest, AnOutlierAmongPositiveValuesIsForScans) {
  EXPECT_THAT(RequiredBatteries(With({"aten.cumsum.default"})),
              Contains(Battery::kPositiveOutlier));
  EXPECT_THAT(LeftOut(With({"aten.cumsum.default"}), Battery::kPositiveOutlier), IsEmpty());
  EXPECT_NE(LeftOut(With({"aten.mm.default"}), Battery::kPositiveOutlier), "");
}

TEST(ConstantsOfTest, AreTheNumbersThatOperatorsAreGiven) {
  Task task;
  const ScalarValue eps{.kind = ScalarValue::Kind::kFloat, .real = 1e-12};
  const ScalarValue dim{.kind = ScalarValue::Kind::kInt, .integer = -1};
  const ScalarValue zero{.kind = ScalarValue::Kind::kFloat, .real = 0};
  const ScalarValue list{.kind = ScalarValue::Kind::kList, .items = {dim, zero}};
  task.graph.push_back({.op = "aten.norm.default",
                        .args = {list},
                        .kwargs = {{.name = "eps", .value = eps}, {.name = "p", .value = eps}}});
  EXPECT_THAT(ConstantsOf(task), testing::ElementsAre(-1, 1e-12));
}

TEST(OnlyNotedTest, InfinitiesCountOnlyWhereTheOperatorsAskForThem) {
  EXPECT_FALSE(OnlyNoted(With({"aten._softmax.default"}), Battery::kMasked));
  EXPECT_TRUE(OnlyNoted(With({"aten.mm.default"}), Battery::kMasked));
  EXPECT_TRUE(OnlyNoted(Task{}, Battery::kMasked));
  EXPECT_TRUE(OnlyNoted(With({"aten._softmax.default"}), Battery::kInfinities));
  EXPECT_FALSE(OnlyNoted(With({"aten.mm.default"}), Battery::kExtremelyBelow));
}

TEST(ComplaintTest, AnInfiniteTruthCountsOnlyWithInfiniteInputs) {
  const TensorSpec spec{.name = "out", .shape = {4}};
  EXPECT_EQ(ComplaintOf(spec, Battery::kWide, {.finite = false}), "the reference is not finite");
  EXPECT_EQ(ComplaintOf(spec, Battery::kMasked, {.finite = false}), "");
  EXPECT_EQ(ComplaintOf(spec, Battery::kMasked, {.finite = false, .finite_somewhere = false}),
            "the reference is finite nowhere");
  EXPECT_TRUE(BatteryTolerance({}, Battery::kMaskedRows, {}).where_finite);
  EXPECT_TRUE(BatteryTolerance({}, Battery::kMasked, {}).where_finite);
  Task scan;
  scan.graph.push_back({.op = "aten.cummax.default"});
  // A scan's result begins with -inf.
  EXPECT_FALSE(BatteryTolerance(scan, Battery::kMasked, {}).where_finite);
  EXPECT_FALSE(BatteryTolerance({}, Battery::kWide, {}).where_finite);
}

TEST(BatteryToleranceTest, ATruthOfZerosIsHeldAgainstTheSizeOfTheTasksOwnOutputs) {
  const TorchStanding torch{.rms = 1e-33, .nominal_rms = 2, .tolerance = {.rel = 1e-6}};
  EXPECT_DOUBLE_EQ(BatteryTolerance({}, Battery::kConstantRows, torch).absolute, 2e-6);
  EXPECT_EQ(BatteryTolerance({}, Battery::kZeros, torch).absolute, 0);
  EXPECT_EQ(BatteryTolerance({}, Battery::kConstantRows, {.rms = 1e-3, .tolerance = {.rel = 1e-6}})
                .absolute,
            0);
}

TEST(ComplaintTest, FarFromZeroFewDigitsAreEnough) {
  const TensorSpec spec{.name = "out", .shape = {4}};
  const TorchStanding torch{.tolerance = {.rel = 0.2, .rel_l2 = 0.2}};
  EXPECT_EQ(ComplaintOf(spec, Battery::kOffset1e5, torch), "");
  EXPECT_NE(ComplaintOf(spec, Battery::kSigned, torch), "");
}

}  // namespace
}  // namespace pragma
