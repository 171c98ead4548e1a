#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace pragma {
namespace {

TEST(ForEachIndexTest, CallsEachOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<std::atomic<int>> calls(count);
    ForEachIndex(count, [&](std::size_t i) { ++calls[i]; });
    for (const auto& called : calls) EXPECT_EQ(called, 1) << count;
  }
}

TEST(ByPartsTest, CoverEverythingInOrder) {
  const std::size_t count = 3 * kPart + 5;
  const auto parts = ByParts<std::pair<std::size_t, std::size_t>>(
      count, [](std::size_t begin, std::size_t end) { return std::pair(begin, end); });
  ASSERT_EQ(parts.size(), 4U);
  std::size_t at = 0;
  for (const auto& [begin, end] : parts) {
    EXPECT_EQ(begin, at);
    at = end;
  }
  EXPECT_EQ(at, count);
  EXPECT_TRUE(ByParts<int>(0, [](std::size_t, std::size_t) { return 1; }).empty());
}

TEST(AllOfTest, SeesEveryElement) {
  const std::size_t count = 2 * kPart + 3;
  EXPECT_TRUE(AllOf(count, [](std::size_t) { return true; }));
  EXPECT_TRUE(AllOf(0, [](std::size_t) { return false; }));
  for (const std::size_t odd : {std::size_t{0}, kPart, count - 1})
    EXPECT_FALSE(AllOf(count, [odd](std::size_t i) { return i != odd; }));
}

}  // namespace
}  // namespace pragma
