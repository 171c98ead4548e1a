#include "expert/ir/affine.h"

#include <gtest/gtest.h>

#include <optional>

namespace pragma::expert {
namespace {

TEST(Affine, AReshapeOfContiguousMemoryIsLinear) {
  const Shape from{6, 4, 10};
  const Shape to{2, 3, 40};
  EXPECT_EQ(Reshape(ContiguousForm(from), from, to), ContiguousForm(to));
}

TEST(Affine, DimensionsOfSizeOneComeAndGo) {
  const Shape from{5, 1, 7};
  const std::optional<AffineForm> form = Reshape(ContiguousForm(from), from, {1, 5, 7, 1});
  ASSERT_TRUE(form);
  EXPECT_EQ(form->factor, (Shape{0, 7, 1, 0}));
}

TEST(Affine, ATransposedMatrixHasNoFlatForm) {
  const AffineForm transposed{{1, 4}, 0};
  EXPECT_FALSE(Reshape(transposed, {4, 5}, {20}));
  EXPECT_TRUE(Reshape(transposed, {4, 5}, {2, 2, 5}));
}

TEST(Affine, ARepeatedDimensionDoesNotMergeWithARealOne) {
  const AffineForm repeated{{1, 0}, 3};
  EXPECT_FALSE(Reshape(repeated, {4, 5}, {20}));
  const std::optional<AffineForm> constant = Reshape({{0, 0}, 3}, {4, 5}, {20});
  ASSERT_TRUE(constant);
  EXPECT_EQ(*constant, (AffineForm{{0}, 3}));
}

TEST(Affine, BroadcastingAlignsTheLastDimensions) {
  const AffineForm wide = Apply(ContiguousForm({3, 1}), BroadcastMap({3, 1}, {2, 3, 5}));
  EXPECT_EQ(wide.factor, (Shape{0, 1, 0}));
  EXPECT_EQ(BroadcastShapes({3, 1}, {2, 1, 5}), (Shape{2, 3, 5}));
  EXPECT_FALSE(BroadcastShapes({3}, {4}));
}

TEST(Affine, AScalarBroadcastsToAnything) {
  EXPECT_EQ(Apply({{}, 7}, BroadcastMap({}, {2, 3})), (AffineForm{{0, 0}, 7}));
}

}  // namespace
}  // namespace pragma::expert
