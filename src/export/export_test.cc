#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/candidate.h"
#include "export/writer.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RequiredFeatures, FromIntrinsicsAndFlags) {
  EXPECT_THAT(RequiredFeatures(CppCandidate("int x;")), IsEmpty());
  EXPECT_THAT(RequiredFeatures(CppCandidate("__m256 a = _mm256_fmadd_ps(b, c, d);")),
              ElementsAre("fma", "avx"));
  EXPECT_THAT(RequiredFeatures(CppCandidate("#ifdef __AVX512F__\n__m512 a;\n#endif")), IsEmpty());
  Candidate candidate = CppCandidate("int x;");
  candidate.flags = {"-march=x86-64-v4", "-mfma"};
  EXPECT_THAT(RequiredFeatures(candidate), ElementsAre("avx512f", "fma"));
}

}  // namespace
}  // namespace pragma
