#include "base/duration.h"

#include <gtest/gtest.h>

namespace pragma {
namespace {

TEST(Durations, UnitsAndMistakes) {
  EXPECT_EQ(ParseDuration("90").value(), 90);
  EXPECT_EQ(ParseDuration("1.5m").value(), 90);
  EXPECT_EQ(ParseDuration("2h").value(), 7200);
  for (const char* wrong : {"", "m", "-1s", "1 d", "5x", "nan"})
    EXPECT_FALSE(ParseDuration(wrong)) << wrong;
}

}  // namespace
}  // namespace pragma
