// Tests what a policy decides about a plan: where values go that a later pass reads again, and who
// writes products.
#include "expert/plan/plan_nests.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/nest_testing.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

enum : int { kX, kOut, kPowers, kSum };

// out = e^x / sum of e^x over each row
Program Shares() {
  constexpr std::int64_t kColumns = 300;
  const Shape shape{500, kColumns};
  const AffineForm place{{kColumns, 1}, 0};
  Program program;
  program.buffers = {{Buffer::Kind::kArgument, "x", DType::kFloat32, shape},
                     {Buffer::Kind::kOutput, "out", DType::kFloat32, shape},
                     {Buffer::Kind::kScratch, "powers", DType::kFloat32, shape},
                     {Buffer::Kind::kScratch, "sum", DType::kFloat32, {500}}};
  const ExprPtr sum = LoadOf(kSum, {{1, 0}, 0}, ExprType::kFloat);
  Step powers =
      Of(Step::Kind::kMap, shape, Make(ExprOp::kExp, {Row(kX, kColumns)}), kPowers, place);
  Step total = Of(Step::Kind::kFold, shape, Row(kPowers, kColumns), kSum, {{1, 0}, 0});
  Step out = Of(Step::Kind::kMap, shape, Make(ExprOp::kDivide, {Row(kPowers, kColumns), sum}), kOut,
                place);
  program.steps = {powers, total, out};
  return program;
}

TEST(PlanNests, VectorsStoreWhatALaterPassReadsInTheOutput) {
  const std::vector<Nest> nests = PlanNests(Shares());
  ASSERT_EQ(nests.size(), 1U);
  EXPECT_EQ(nests[0].steps[0].buffer, kOut);
  EXPECT_FALSE(nests[0].forwarded.contains(kPowers));
  EXPECT_EQ(nests[0].lane, 1);
}

TEST(PlanNests, TilesComputeItAgain) {
  const std::vector<Nest> nests = PlanNests(Shares(), TilePolicy(true));
  ASSERT_EQ(nests.size(), 1U);
  EXPECT_EQ(nests[0].steps[0].buffer, kPowers);
  EXPECT_TRUE(nests[0].forwarded.contains(kPowers));
  EXPECT_EQ(nests[0].lane, -1);
}

// out[i, j] = sum of x[i, k] * y[k, j], without a hint that it is a product
Program Sums() {
  constexpr std::int64_t kSize = 64;
  const Shape shape{kSize, kSize, kSize};
  Program program;
  for (const char* name : {"x", "y"})
    program.buffers.push_back({Buffer::Kind::kArgument, name, DType::kFloat32, {kSize, kSize}});
  program.buffers.push_back({Buffer::Kind::kOutput, "out", DType::kFloat32, {kSize, kSize}});
  Step step = Of(Step::Kind::kFold, shape,
                 Make(ExprOp::kMultiply, {LoadOf(0, {{kSize, 0, 1}, 0}, ExprType::kFloat),
                                          LoadOf(1, {{0, 1, kSize}, 0}, ExprType::kFloat)}),
                 2, {{kSize, 1, 0}, 0});
  step.folded = {false, false, true};
  program.steps = {step};
  return program;
}

TEST(PlanNests, SumsOfProductsAreWrittenInTilesOnlyWhereThePolicySaysSo) {
  EXPECT_TRUE(PlanNests(Sums(), TilePolicy(true)).at(0).anchored);
  EXPECT_FALSE(PlanNests(Sums(), TilePolicy(false)).at(0).anchored);
  EXPECT_FALSE(PlanNests(Sums()).at(0).anchored);
}

}  // namespace
}  // namespace pragma::expert
