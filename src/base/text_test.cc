#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SplitTest, KeepsEmptyParts) {
  EXPECT_THAT(Split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
}

TEST(SplitLinesTest, TheLastNewlineEndsALineAndStartsNone) {
  EXPECT_THAT(SplitLines("a\n\nb\n"), ElementsAre("a", "", "b"));
  EXPECT_THAT(SplitLines("a\nb"), ElementsAre("a", "b"));
  EXPECT_THAT(SplitLines(""), IsEmpty());
}

TEST(TrimTest, TakesSpaceFromBothEnds) {
  EXPECT_EQ(Trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(JoinTest, PutsTheSeparatorBetween) {
  EXPECT_EQ(Join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(ShortenTest, LeavesShortTextAlone) { EXPECT_EQ(Shorten("abc", 3), "abc"); }

TEST(ShortenTest, KeepsBothEndsAndSaysHowMuchIsMissing) {
  const std::string text = "begin" + std::string(1000, 'x') + "end";
  const std::string cut = Shorten(text, 90);
  EXPECT_TRUE(cut.starts_with("begin"));
  EXPECT_TRUE(cut.ends_with("end"));
  EXPECT_THAT(cut, HasSubstr("[... 918 bytes left out ...]"));
}

TEST(ShortenTest, NeverCutsInsideACharacter) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "\xE2\x82\xAC";  // the euro sign: three bytes
  for (std::size_t limit = 0; limit < 40; ++limit) {
    const std::string cut = Shorten(text, limit);
    EXPECT_EQ(ToValidUtf8(cut), cut) << limit;
  }
}

TEST(ToValidUtf8Test, LeavesValidTextAlone) {
  constexpr std::string_view kText = "a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF";
  EXPECT_EQ(ToValidUtf8(kText), kText);
}

TEST(ToValidUtf8Test, ReplacesEachWrongByte) {
  const std::string wrong = "\xEF\xBF\xBD";
  EXPECT_EQ(ToValidUtf8("a\xFF"
                        "b"),
            "a" + wrong + "b");
  EXPECT_EQ(ToValidUtf8("\xC0\x80"), wrong + wrong);                          // overlong
  EXPECT_EQ(ToValidUtf8("\xE0\x80\x80"), wrong + wrong + wrong);              // overlong
  EXPECT_EQ(ToValidUtf8("\xED\xA0\x80"), wrong + wrong + wrong);              // surrogate
  EXPECT_EQ(ToValidUtf8("\xF4\x90\x80\x80"), wrong + wrong + wrong + wrong);  // above U+10FFFF
  EXPECT_EQ(ToValidUtf8("\xE2\x82"), wrong + wrong);                          // cut off
}

TEST(NearestTest, FindsTypingErrorsAndNothingFarAway) {
  EXPECT_EQ(Nearest("optimise", {"evaluate", "optimize", "show"}), "optimize");
  EXPECT_EQ(Nearest("xyzzy", {"evaluate", "optimize", "show"}), "");
  EXPECT_EQ(Nearest("a", {}), "");
}

TEST(FormatBytesTest, ThreeDigitsAndAUnit) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(320), "320 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
  EXPECT_EQ(FormatBytes(5.0e15), "4547 TiB");
}

TEST(FormatCountTest, FourDigitsThenThreeAndALetter) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(9876), "9876");
  EXPECT_EQ(FormatCount(12345), "12.3 k");
  EXPECT_EQ(FormatCount(-1.05e6), "-1.05 M");
  EXPECT_EQ(FormatCount(2.5e9), "2.5 G");
  EXPECT_EQ(FormatCount(4e13), "40 T");
}

TEST(FormatSecondsTest, ThreeDigitsAndAUnit) {
  EXPECT_EQ(FormatSeconds(1.234e-5), "12.3 us");
  EXPECT_EQ(FormatSeconds(4.56e-3), "4.56 ms");
  EXPECT_EQ(FormatSeconds(123.4), "123 s");
  EXPECT_EQ(FormatSeconds(2e-8), "20.0 ns");
  EXPECT_EQ(FormatSeconds(std::numeric_limits<double>::quiet_NaN()), "-");
}

}  // namespace
}  // namespace pragma
