#include "build/code_constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "build/elf_file.h"
#include "build/testing.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(CodeConstants, AreThoseThatAKernelComparesWith) {
  const TestBuilder builder;
  const auto outcome = builder.Build(
      TestCandidate(KernelSource("  float most = -9999.0f;\n"
                                 "  for (int i = 0; i < 4; ++i) if (x[i] > most) most = x[i];\n"
                                 "  out[0] = most == -9999.0f ? 1e-12f : most * 3.25f;\n")));
  const auto elf = ReadElf(ReadFile(Built(outcome)->shared_object).value());
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_THAT(ConstantsOf(*elf), AllOf(Contains(-9999.0), Contains(1e-12F), Not(Contains(0.0))));
}

TEST(CodeConstants, OfDeviceCodeStandInItsText) {
  EXPECT_THAT(ConstantsOfPtx("setp.gt.f32 %p1, %f1, 0fC61C3C00;\nmul.f64 %d1, %d2, "
                             "0d3FF8000000000000;\nmov.f32 %f3, 0f00000000; mov.f32 %f2, 0f12"),
              ElementsAre(1.5, -9999.0));
  // 0.1, a third (seven digits), 16.
  EXPECT_THAT(ConstantsOfPtx("0f3EAAAAAB 0f41800000 0f3DCCCCCD"),
              ElementsAre(0.1F, 16.0, 1.0F / 3));
  EXPECT_THAT(ConstantsOfPtx(""), IsEmpty());
}

}  // namespace
}  // namespace pragma
