// Tests that masks over row and column numbers are recognised in whichever way they are written,
// and that nothing else is recognised.
#include "expert/ir/structure.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "expert/cpp/matmul_kernel.h"
#include "expert/ir/affine.h"
#include "expert/ir/diagonals.h"
#include "expert/ir/expression.h"

namespace pragma::expert {
namespace {

constexpr std::size_t kRow = 1;
constexpr std::size_t kColumn = 2;

ExprPtr Index(std::int64_t row, std::int64_t column, std::int64_t offset = 0) {
  return IndexOf({{0, row, column}, offset});
}
ExprPtr Whole(double value) { return Constant(value, ExprType::kInt); }
ExprPtr Zero() { return Constant(0, ExprType::kFloat); }
ExprPtr Product() { return LoadOf(4, {{900, 30, 1}, 0}, ExprType::kFloat); }
ExprPtr Compare(ExprOp op, ExprPtr left, ExprPtr right) {
  return Make(op, {std::move(left), std::move(right)});
}

TEST(OnDiagonal, IsFoundWhereRowEqualsColumn) {
  const ExprPtr equal = Compare(ExprOp::kEqual, Index(0, 1), Index(1, 0));
  EXPECT_EQ(OnDiagonal(Select(equal, Product(), Zero()), kRow, kColumn)->op, ExprOp::kLoad);
}

TEST(OnDiagonal, IsNothingElse) {
  const ExprPtr shifted = Compare(ExprOp::kEqual, Index(0, 1), Index(1, 0, 1));
  const ExprPtr scaled = Compare(ExprOp::kEqual, Index(0, 2), Index(2, 0));
  const ExprPtr equal = Compare(ExprOp::kEqual, Index(0, 1), Index(1, 0));
  const ExprPtr one = Constant(1, ExprType::kFloat);
  EXPECT_FALSE(OnDiagonal(Select(shifted, Product(), Zero()), kRow, kColumn));
  EXPECT_FALSE(OnDiagonal(Select(scaled, Product(), Zero()), kRow, kColumn));
  EXPECT_FALSE(OnDiagonal(Select(equal, Product(), one), kRow, kColumn));
  EXPECT_FALSE(OnDiagonal(Product(), kRow, kColumn));
}

void ExpectTriangle(const ExprPtr& mask, MatmulStructure structure, std::int64_t diagonal) {
  const std::optional<Triangle> triangle =
      TriangleOf(Select(mask, Product(), Zero()), 4, kRow, kColumn);
  ASSERT_TRUE(triangle);
  EXPECT_EQ(triangle->structure, structure);
  EXPECT_EQ(triangle->diagonal, diagonal);
}

TEST(TriangleOf, ComparisonsEitherWayRound) {
  using enum MatmulStructure;
  // column - row <= 2, row < column, row + 1 <= column - 3
  ExpectTriangle(Compare(ExprOp::kLessEqual, Index(-1, 1), Whole(2)), kLowerOutput, 2);
  ExpectTriangle(Compare(ExprOp::kLess, Index(1, 0), Index(0, 1)), kUpperOutput, 1);
  ExpectTriangle(Compare(ExprOp::kLessEqual, Compare(ExprOp::kAdd, Index(1, 0), Whole(1)),
                         Compare(ExprOp::kSubtract, Index(0, 1), Whole(3))),
                 kUpperOutput, 4);
}

TEST(TriangleOf, WhatIsMaskedAwayTurnsTheSideRound) {
  const ExprPtr above = Compare(ExprOp::kLess, Index(1, 0), Index(0, 1));  // row < column
  const std::optional<Triangle> triangle =
      TriangleOf(Select(above, Zero(), Product()), 4, kRow, kColumn);
  ASSERT_TRUE(triangle);
  EXPECT_EQ(triangle->structure, MatmulStructure::kLowerOutput);
  EXPECT_EQ(triangle->diagonal, 0);
}

TEST(TriangleOf, NeedsOneSideThatIsFreeOfTheProduct) {
  const ExprPtr above = Compare(ExprOp::kLess, Index(1, 0), Index(0, 1));
  const ExprPtr sum = Compare(ExprOp::kLess, Index(1, 1), Whole(9));
  EXPECT_FALSE(TriangleOf(Select(above, Product(), Product()), 4, kRow, kColumn));
  EXPECT_FALSE(TriangleOf(Select(sum, Product(), Zero()), 4, kRow, kColumn));
}

TEST(NonzeroOf, IsReadFromMasksAndFromWhatTheyAreMultipliedWith) {
  const ExprPtr lower = Compare(ExprOp::kLessEqual, Index(-1, 1), Whole(2));  // column - row <= 2
  const ExprPtr upper = Compare(ExprOp::kLess, Index(1, 0), Index(0, 1));     // row < column
  const Diagonals below{std::nullopt, 2};
  EXPECT_EQ(NonzeroOf(Select(lower, Product(), Zero()), kRow, kColumn), below);
  EXPECT_EQ(NonzeroOf(Select(upper, Zero(), Product()), kRow, kColumn),
            (Diagonals{std::nullopt, 0}));
  const ExprPtr band = Select(upper, Select(lower, Product(), Zero()), Zero());
  EXPECT_EQ(NonzeroOf(band, kRow, kColumn), (Diagonals{1, 2}));
  const ExprPtr scaled = Make(ExprOp::kMultiply, {Product(), Select(lower, Product(), Zero())});
  EXPECT_EQ(NonzeroOf(scaled, kRow, kColumn), below);
}

TEST(NonzeroOf, OtherMasksSayNothing) {
  const ExprPtr sum = Compare(ExprOp::kLess, Index(1, 1), Whole(9));
  const ExprPtr lower = Compare(ExprOp::kLessEqual, Index(-1, 1), Whole(2));
  EXPECT_TRUE(NonzeroOf(Select(sum, Product(), Zero()), kRow, kColumn).all());
  EXPECT_TRUE(NonzeroOf(Select(lower, Product(), Product()), kRow, kColumn).all());
  EXPECT_TRUE(NonzeroOf(Product(), kRow, kColumn).all());
}

}  // namespace
}  // namespace pragma::expert
