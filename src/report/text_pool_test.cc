#include "report/text_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;

// Does the same as the page's script.
std::string Read(const TextPool& pool, const std::vector<std::uint32_t>& runs) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    for (std::uint32_t at = 0; at < runs[i + 1]; ++at) lines.push_back(pool.lines()[runs[i] + at]);
  }
  return Join(lines, "\n");
}

TEST(TextPool, GivesBackWhatWasPutIn) {
  TextPool pool;
  for (const std::string text : {"", "\n", "one line", "a\nb\n", "a\nb\na\nb", "b\n\n\na"})
    EXPECT_EQ(Read(pool, pool.Add(text)), text);
}

TEST(TextPool, TheSameTextAgainIsOneRunAndNoNewLine) {
  TextPool pool;
  const std::string text = "#include \"kernel.h\"\nvoid f() {\n}\nvoid g() {\n}\n";
  EXPECT_THAT(pool.Add(text), ElementsAre(0, 6));
  EXPECT_THAT(pool.Add(text), ElementsAre(0, 6));
  EXPECT_EQ(pool.lines().size(), 6U);
}

TEST(TextPool, AChangedLineCostsThatLineAndTwoMoreRuns) {
  TextPool pool;
  pool.Add("the first line here\nthe second line here\nthe third line here");
  EXPECT_THAT(pool.Add("the first line here\nanother line altogether\nthe third line here"),
              ElementsAre(0, 1, 3, 1, 2, 1));
  EXPECT_EQ(pool.lines().size(), 4U);
}

TEST(TextPool, ShortLinesDoNotBreakARunOfNewOnes) {
  TextPool pool;
  pool.Add("}\n");
  EXPECT_THAT(pool.Add("a new function begins\n}\nand another one begins\n}"), ElementsAre(2, 4));
}

}  // namespace
}  // namespace pragma
