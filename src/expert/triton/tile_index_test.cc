#include "expert/triton/tile_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expert/ir/affine.h"

namespace pragma::expert::triton {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The taps of a convolution with three channels along one axis.
TileIndex Taps() { return {{3, 5, 7}, {{"k", "", {0, 1, 2}, "k_inside"}}}; }

TEST(TileIndexTest, DimensionsThatAreCountedThroughAreOneIndex) {
  TileIndex index = Taps();
  EXPECT_EQ(index.Text({{35, 7, 1}, 0}).code, "k");
  EXPECT_EQ(index.Text({{-70, -14, -2}, 9}).code, "k * -2 + 9");
  EXPECT_THAT(index.Definitions(0), IsEmpty());
}

TEST(TileIndexTest, NeighboursOfAnAxisAreCountedTogether) {
  TileIndex index = Taps();
  EXPECT_EQ(index.Text({{100, 7, 1}, 0}).code, "k_0 * 100 + k_1_2");
  EXPECT_EQ(index.Text({{50, 10, 1}, 0}).code, "k_0_1 * 10 + k_2");
  EXPECT_THAT(index.Definitions(0),
              ElementsAre("k_0 = k // 35", "k_0_1 = k // 7", "k_1_2 = k % 35", "k_2 = k % 7"));
}

TEST(TileIndexTest, NoIndexIsSubtracted) {
  TileIndex index = Taps();
  EXPECT_EQ(index.Text({{0, -8, -1}, -3}).code, "k_1 * -8 + k_2 * -1 - 3");
}

}  // namespace
}  // namespace pragma::expert::triton
