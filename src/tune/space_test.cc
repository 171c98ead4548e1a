#include "tune/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/candidate.h"

namespace pragma {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Flags = std::vector<std::string>;

TuneSpace SpaceOf(const std::string& source) {
  Result<TuneSpace> space = ReadTuneSpace(CppCandidate(source));
  EXPECT_TRUE(space) << space.error().message;
  return space ? std::move(*space) : TuneSpace{};
}

std::string ComplaintOf(const std::string& source) {
  const Result<TuneSpace> space = ReadTuneSpace(CppCandidate(source));
  return space ? "" : space.error().message;
}

VariantList All(const TuneSpace& space, std::size_t most = 100000) {
  Rng rng(Seed{1, 2});
  return SampleVariants(space, most, rng);
}

TEST(TuneSpace, ReadsDeclarationsWithTheDefaultFirst) {
  const TuneSpace space = SpaceOf(
      "#include \"kernel.h\"\n"
      "PRAGMA_TUNE(TILE_M, 6, 4, 6, 8, 12);\n"
      "void f() { PRAGMA_TUNE( SHIFT , -0x10,\n   1'000, +0b11, 017); }\n"
      "PRAGMA_TUNE(FIXED, 3);\n");
  ASSERT_EQ(space.tunables.size(), 3U);
  EXPECT_EQ(space.tunables[0].name, "TILE_M");
  EXPECT_THAT(space.tunables[0].values, ElementsAre(6, 4, 8, 12));
  EXPECT_EQ(space.tunables[0].line, 2);
  EXPECT_THAT(space.tunables[1].values, ElementsAre(-16, 1000, 3, 15));
  EXPECT_THAT(space.tunables[2].values, ElementsAre(3));
  EXPECT_TRUE(space.open());
}

TEST(TuneSpace, IgnoresCommentsStringsAndDirectives) {
  const TuneSpace space = SpaceOf(
      "// PRAGMA_TUNE(A, 1, 2);\n/* PRAGMA_TUNE(B, 1, 2); */\n"
      "#define MINE PRAGMA_TUNE(C, 1, 2)\n"
      "const char* s = \"PRAGMA_TUNE(D, 1, 2);\";\n"
      "const char* r = R\"(\n// pragma-constraint: nonsense\n// pragma-tune-flags: --bad\n)\";\n");
  EXPECT_THAT(space.tunables, IsEmpty());
  EXPECT_FALSE(space.open());
}

struct BadSource {
  const char* source;
  const char* line;
  const char* part;
};

class BadTunables : public testing::TestWithParam<BadSource> {};

TEST_P(BadTunables, AreNamedWithTheirLine) {
  EXPECT_THAT(ComplaintOf(GetParam().source),
              AllOf(HasSubstr(GetParam().line), HasSubstr(GetParam().part)));
}

INSTANTIATE_TEST_SUITE_P(
    Sources, BadTunables,
    testing::Values(
        BadSource{"\nPRAGMA_TUNE(A);", "line 2: ", "no default and no values"},
        BadSource{"PRAGMA_TUNE(A, 1.5, 2);", "line 1: ", "a comma or the closing bracket"},
        BadSource{"PRAGMA_TUNE(A, 1e3);", "line 1: ", "whole numbers"},
        BadSource{"PRAGMA_TUNE(A, B, 2);", "line 1: ", "not \"B\""},
        BadSource{"PRAGMA_TUNE(A, \"1\", 2);", "line 1: ", "whole numbers"},
        BadSource{"PRAGMA_TUNE(A, 1u, 2);", "line 1: ", "fit an int"},
        BadSource{"PRAGMA_TUNE(A, 99999999999, 2);", "line 1: ", "fit an int"},
        BadSource{"PRAGMA_TUNE(A, 2147483648);", "line 1: ", "fit an int"},
        BadSource{"PRAGMA_TUNE(A, - , 2);", "line 1: ", "whole numbers"},
        BadSource{"PRAGMA_TUNE(A, 1, );", "line 1: ", "whole numbers"},
        BadSource{"PRAGMA_TUNE(A, 1, 2", "line 1: ", "the end of the source"},
        BadSource{"PRAGMA_TUNE", "line 1: ", "PRAGMA_TUNE(NAME, default, value, ...)"},
        BadSource{"PRAGMA_TUNE(3, 1, 2);", "line 1: ", "must be a name, not \"3\""},
        BadSource{"PRAGMA_TUNE(A, 1);\nPRAGMA_TUNE(A, 2);", "line 2: ", "declared in line 1"},
        BadSource{"PRAGMA_TUNE(A, 1, 2);\n// pragma-constraint: A <", "line 2: ", "cannot be read"},
        BadSource{"PRAGMA_TUNE(A, 1, 2);\n// pragma-constraint: B < 2", "line 2: ", "It may use A"},
        BadSource{"PRAGMA_TUNE(A, 1, 2);\n// pragma-constraint: A = 1", "line 2: ", "use =="},
        BadSource{"PRAGMA_TUNE(A, 1, 2);\n// pragma-constraint: A < 3, A > 0",
                  "line 2: ", "join them by &&"},
        BadSource{"PRAGMA_TUNE(A, 1, 2);\n// pragma-constraint:", "line 2: ", "it is empty"},
        BadSource{"PRAGMA_TUNE(A, 1, 2);\n// pragma-constraint: A > 1",
                  "line 2: ", "does not hold for the default"},
        BadSource{"// pragma-tune-flags: -O2 | -fplugin=evil.so", "line 1: ", "is not allowed"},
        BadSource{"PRAGMA_TUNE(A, 1, 2);\n// pragma-tune-flags: -DPRAGMA_TUNE_A=2",
                  "line 2: ", "sets a tunable"}));

TEST(TuneSpace, TooMuchIsRefusedAndNotCounted) {
  std::string source;
  for (int i = 0; i < 12; ++i)
    source += "PRAGMA_TUNE(A" + std::to_string(i) + ", 1, 2, 3, 4, 5, 6, 7, 8);\n";
  EXPECT_THAT(ComplaintOf(source), HasSubstr("more than 65536 combinations"));
  for (int i = 12; i < 17; ++i) source += "PRAGMA_TUNE(A" + std::to_string(i) + ", 1);\n";
  EXPECT_THAT(ComplaintOf(source), HasSubstr("at most 16 tunables"));
  std::string wide = "PRAGMA_TUNE(W, 0";
  for (int i = 1; i < 70; ++i) wide += ", " + std::to_string(i);
  EXPECT_THAT(ComplaintOf(wide + ");"), HasSubstr("at most 64 values"));
  EXPECT_THAT(ComplaintOf("PRAGMA_TUNE(" + std::string(65, 'A') + ", 1, 2);"),
              HasSubstr("at most 64 letters"));
}

TEST(TuneSpace, AFlagThatSetsATunableIsRefused) {
  EXPECT_THAT(ComplaintOf("// pragma-flags: -O2 -DPRAGMA_TUNE_A=2\nPRAGMA_TUNE(A, 1, 2);\n"),
              HasSubstr("sets a tunable"));
}

TEST(Variants, ConstraintsLeaveOutWhatTheyForbid) {
  const TuneSpace space = SpaceOf(
      "PRAGMA_TUNE(M, 4, 2, 4, 8);\nPRAGMA_TUNE(N, 4, 2, 4, 8);\n"
      "// pragma-constraint: M * N <= 32\n//pragma-constraint: N % M == 0 || M == 8\n");
  std::set<std::string> found;
  const VariantList list = All(space);
  for (const Variant& variant : list.variants) found.insert(variant.Text());
  EXPECT_THAT(found, ElementsAre("M=2, N=2", "M=2, N=4", "M=2, N=8", "M=4, N=4", "M=4, N=8",
                                 "M=8, N=2", "M=8, N=4"));
  EXPECT_EQ(list.variants.front().Text(), "M=4, N=4");
  EXPECT_EQ(list.combinations, 7U);
}

TEST(Variants, WhatCannotBeEvaluatedIsForbidden) {
  const TuneSpace space = SpaceOf(
      "PRAGMA_TUNE(M, 4, 0, 2);\n// pragma-constraint: 8 % M == 0\n"
      "// pragma-constraint: 8 / M > 0\n");
  EXPECT_EQ(All(space).combinations, 2U);
}

TEST(Variants, FlagsAreAddedAndNoneIsTheDefault) {
  const TuneSpace space =
      SpaceOf("// pragma-tune-flags: -O2 | -O3 -mprefer-vector-width=512 |  | -O2\n");
  EXPECT_THAT(space.flags,
              ElementsAre(Flags{}, Flags{"-O2"}, Flags{"-O3", "-mprefer-vector-width=512"}));
  EXPECT_TRUE(space.open());
  EXPECT_THAT(All(space).variants.front().flags, IsEmpty());
}

TEST(Variants, ASampleIsTheSameForTheSameSeedAndHasNothingTwice) {
  const TuneSpace space =
      SpaceOf("PRAGMA_TUNE(A, 1, 2, 3, 4, 5, 6, 7, 8);\nPRAGMA_TUNE(B, 1, 2, 3, 4, 5, 6, 7, 8);\n");
  std::vector<std::string> first;
  for (const Variant& variant : All(space, 20).variants) first.push_back(variant.Text());
  std::vector<std::string> second;
  for (const Variant& variant : All(space, 20).variants) second.push_back(variant.Text());
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 20U);
  EXPECT_EQ(first.front(), "A=1, B=1");
  EXPECT_EQ(All(space, 20).combinations, 64U);
}

TEST(Variants, AChosenOneIsAnotherCandidateThatSaysSo) {
  const Candidate candidate =
      CppCandidate("PRAGMA_TUNE(A, 1, 2);\n// pragma-tune-flags: -funroll-loops\n");
  const TuneSpace space = ReadTuneSpace(candidate).value();
  const Candidate chosen =
      WithVariant(candidate, {.tunables = {{"A", 2}}, .flags = {"-funroll-loops"}});
  EXPECT_NE(chosen.id(), candidate.id());
  EXPECT_EQ(chosen.tunables.at("A"), 2);
  EXPECT_EQ(chosen.flags.back(), "-funroll-loops");
  EXPECT_TRUE(HasChoices(chosen, space));
  EXPECT_FALSE(HasChoices(candidate, space));
  EXPECT_TRUE(
      HasChoices(WithVariant(candidate, {.tunables = {}, .flags = {"-funroll-loops"}}), space));
  EXPECT_TRUE(IsVariantOf(chosen, candidate));
  EXPECT_FALSE(IsVariantOf(candidate, chosen));
}

}  // namespace
}  // namespace pragma
