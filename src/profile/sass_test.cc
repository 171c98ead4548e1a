#include "profile/sass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"

namespace pragma {
namespace {

SassMix Of(const std::vector<SassMix>& mixes, const std::string& kernel) {
  const auto found = std::ranges::find(mixes, kernel, &SassMix::kernel);
  EXPECT_NE(found, mixes.end()) << kernel;
  return found == mixes.end() ? SassMix{} : *found;
}

// The recording is tests/gpu/diagnosis/spills.cu, compiled for compute capability 9.0.
TEST(Sass, ARecordedListingIsCountedByKernel) {
  const std::string text =
      ReadFile(PRAGMA_SOURCE_DIR "/tests/recorded/cuda/spills.sass").value_or("");
  const std::vector<SassMix> mixes = ParseSass(text);
  EXPECT_EQ(mixes.size(), 3U);
  const SassMix slow = Of(mixes, "SumsSlow(float const*, float*)");
  EXPECT_EQ(slow.local, 188);
  EXPECT_EQ(slow.fused, 64);
  EXPECT_EQ(slow.multiplies, 64);
  EXPECT_EQ(slow.additions, 128);
  EXPECT_EQ(slow.global_loads, 1);
  EXPECT_EQ(slow.load_bytes, 4);
  EXPECT_EQ(slow.tensor, 0);
  EXPECT_EQ(Of(mixes, "SumsFixed(float const*, float*)").local, 0);
}

TEST(Sass, PredicatesWidthsAndMatrixInstructionsAreRead) {
  const std::vector<SassMix> mixes = ParseSass(
      "\t\tFunction : softmax_k\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */\n"
      "                                                             /* 0x000fe20000000800 */\n"
      "        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;\n"
      "        /*0020*/               @P1 LDG.E.U16.CONSTANT R4, desc[UR4][R2.64] ;\n"
      "        /*0030*/                   HMMA.16816.F32 R4, R8, R10, R4 ;\n"
      "        /*0040*/                   REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5 ;\n"
      "        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;\n"
      "        /*0060*/                   NOP;\n"
      "nonsense /*0070*/ HMMA\n");
  ASSERT_EQ(mixes.size(), 1U);
  EXPECT_EQ(mixes[0].kernel, "softmax_k");
  EXPECT_EQ(mixes[0].instructions, 6);
  EXPECT_EQ(mixes[0].global_loads, 2);
  EXPECT_EQ(mixes[0].load_bytes, 18);
  EXPECT_EQ(mixes[0].tensor, 1);
  EXPECT_EQ(mixes[0].atomics, 1);
  EXPECT_EQ(mixes[0].barriers, 1);
}

TEST(Sass, WhatIsNoListingHasNoKernels) {
  EXPECT_TRUE(ParseSass("").empty());
  EXPECT_TRUE(ParseSass("cuobjdump info: File 'x' does not contain device code\n").empty());
}

}  // namespace
}  // namespace pragma
