// Tests that sums of squared distances are found in whichever way they are written, and that
// nothing else is found.
#include "expert/plan/spread.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

// Values over [5, 900], of which the second dimension is reduced.
ExprPtr Values(int buffer = 0) { return LoadOf(buffer, {{900, 1}, 0}, ExprType::kFloat); }
ExprPtr Sum() { return LoadOf(1, {{1, 0}, 0}, ExprType::kFloat); }
ExprPtr Mean() { return Make(ExprOp::kMultiply, {Sum(), Constant(1.0 / 900, ExprType::kFloat)}); }
ExprPtr Square(const ExprPtr& left, const ExprPtr& right) {
  return Make(ExprOp::kMultiply,
              {Make(ExprOp::kSubtract, {left, right}), Make(ExprOp::kSubtract, {left, right})});
}

Step FoldOf(ExprPtr expr, int buffer, Fold fold = Fold::kSum) {
  Step step;
  step.kind = Step::Kind::kFold;
  step.fold = fold;
  step.shape = {5, 900};
  step.folded = {false, true};
  step.expr = std::move(expr);
  step.buffer = buffer;
  step.place = {{1, 0}, 0};
  return step;
}

std::optional<Spread> Found(Step first, Step second) {
  Nest nest;
  nest.shape = {5, 900};
  nest.inner = {false, true};
  nest.steps = {std::move(first), std::move(second)};
  nest.outer = {false, false};
  nest.phases = {{false, {0}}, {false, {1}}};
  return SpreadOf(nest, nest.phases[0], nest.phases[1]);
}

TEST(SpreadOf, IsFoundOnEitherSideOfTheCenter) {
  ASSERT_TRUE(Found(FoldOf(Values(), 1), FoldOf(Square(Values(), Mean()), 2)));
  const auto turned = Found(FoldOf(Values(), 1), FoldOf(Square(Mean(), Values()), 2));
  ASSERT_TRUE(turned);
  EXPECT_TRUE(SameExpression(turned->value, Values()));
  EXPECT_TRUE(SameExpression(turned->center, Mean()));
}

TEST(SpreadOf, IsNothingElse) {
  const Step sum = FoldOf(Values(), 1);
  EXPECT_FALSE(Found(sum, FoldOf(Square(Values(3), Mean()), 2)));    // distances of other values
  EXPECT_FALSE(Found(sum, FoldOf(Square(Values(), Values(3)), 2)));  // distances from a center that
                                                                     // varies
  EXPECT_FALSE(Found(sum, FoldOf(Square(Values(), Mean()), 2, Fold::kMax)));
  EXPECT_FALSE(Found(FoldOf(Values(), 1, Fold::kMax), FoldOf(Square(Values(), Mean()), 2)));
  const ExprPtr product = Make(ExprOp::kMultiply, {Values(), Mean()});
  EXPECT_FALSE(Found(sum, FoldOf(product, 2)));
}

TEST(SameExpression, ComparesEveryPart) {
  EXPECT_TRUE(SameExpression(Square(Values(), Mean()), Square(Values(), Mean())));
  EXPECT_FALSE(SameExpression(Square(Values(), Mean()), Square(Values(3), Mean())));
  EXPECT_FALSE(SameExpression(Constant(1, ExprType::kFloat), Constant(2, ExprType::kFloat)));
  EXPECT_FALSE(SameExpression(IndexOf({{1, 0}, 0}), IndexOf({{0, 1}, 0})));
}

}  // namespace
}  // namespace pragma::expert
