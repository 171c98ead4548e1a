#include "build/instrument.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>

#include "base/shared_memory.h"
#include "build/testing.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"

// A missing value may end a test, so optionals are read unchecked.
// NOLINTBEGIN(bugprone-unchecked-optional-access)
namespace pragma {
namespace {

constexpr std::size_t kFloats = 256;

// Runs kernel(x, out) on 256 floats under the sanitizer.
SanitizerOutcome Watch(Sanitizer sanitizer, const std::string& body,
                       const std::string& before = "") {
  const std::string header = "#pragma once\n#include <cstddef>\n";
  Candidate candidate = TestCandidate(
      "#include \"kernel.h\"\n" + before +
      "extern \"C\" void pragma_kernel(const float* x, float* out, void* scratch) {\n" + body +
      "\n}\n");
  candidate.flags = {"-O2", "-fopenmp"};
  SharedMemory inputs = SharedMemory::Create("test-inputs", kFloats * sizeof(float)).value();
  std::memset(inputs.data(), 0, inputs.size());
  const InstrumentedCall call{.arguments = {kFloats * sizeof(float)},
                              .argument_offsets = {0},
                              .first_parameter = 1,
                              .outputs = {kFloats * sizeof(float)},
                              .output_names = {"out"},
                              .inputs = &inputs,
                              .threads = 2};
  Toolchains toolchains;
  auto outcome = RunSanitizer(TestJail(), toolchains, sanitizer, candidate, header, call);
  EXPECT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->skipped, "");
  return *outcome;
}

constexpr const char* kGood =
    "#pragma omp parallel for\n  for (int i = 0; i < 256; ++i) out[i] = x[i] + 1;";

TEST(Instrument, AGoodKernelGivesNoReport) {
  for (const Sanitizer sanitizer : {Sanitizer::kAddress, Sanitizer::kMemory, Sanitizer::kThread}) {
    const SanitizerOutcome outcome = Watch(sanitizer, kGood);
    EXPECT_FALSE(outcome.finding) << outcome.finding->reason;
  }
}

TEST(Instrument, AnAccessOutOfBoundsIsNamedWithItsLine) {
  const auto outcome =
      Watch(Sanitizer::kAddress, "for (int i = 0; i < 256; ++i)\n out[i] = x[i + 1];");
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->status, Status::kCrashed);
  EXPECT_EQ(outcome.finding->reason,
            "AddressSanitizer: heap-buffer-overflow: READ of size 4 (kernel.cpp:4)");
}

TEST(Instrument, UndefinedBehaviourIsNamed) {
  const auto outcome = Watch(Sanitizer::kAddress,
                             "int n = 2147483647 - int(x[0]);\n n += 1;\n "
                             "for (int i = 0; i < 256; ++i) out[i] = n;");
  ASSERT_TRUE(outcome.finding);
  EXPECT_NE(outcome.finding->reason.find("signed integer overflow"), std::string::npos)
      << outcome.finding->reason;
}

// No branch depends on the value. It only reaches the output.
TEST(Instrument, AnUnwrittenValueThatReachesAnOutputIsReported) {
  const auto outcome =
      Watch(Sanitizer::kMemory,
            "float* t = new float[256];\n for (int i = 0; i < 255; ++i) t[i] = x[i];\n"
            " for (int i = 0; i < 256; ++i) out[i] = t[i] * 2;\n delete[] t;");
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->reason,
            "memcheck: the output out holds values that were never written, or were computed from "
            "such");
}

TEST(Instrument, AnOutputLeftAloneIsReported) {
  const auto outcome = Watch(Sanitizer::kMemory, "for (int i = 1; i < 256; ++i) out[i] = x[i];");
  ASSERT_TRUE(outcome.finding);
}

TEST(Instrument, ARaceIsReported) {
  const auto outcome = Watch(Sanitizer::kThread,
                             "float sum = 0;\n#pragma omp parallel for\n for (int i = 0; i < 256; "
                             "++i) {\n sum += x[i];\n out[i] = x[i];\n }\n out[0] = sum;");
  ASSERT_TRUE(outcome.finding);
  EXPECT_EQ(outcome.finding->status, Status::kNondeterministic);
  EXPECT_NE(outcome.finding->reason.find("data race"), std::string::npos);
}

TEST(Instrument, WithoutOpenMpThereAreNoThreadsToWatch) {
  Toolchains toolchains;
  const auto outcome = RunSanitizer(TestJail(), toolchains, Sanitizer::kThread,
                                    TestCandidate(KernelSource("out[0] = x[0];")), "", {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->skipped, "no OpenMP, so no threads");
}

TEST(Instrument, ForeignTextGivesNoFinding) {
  for (const Sanitizer sanitizer : {Sanitizer::kAddress, Sanitizer::kMemory, Sanitizer::kThread}) {
    EXPECT_FALSE(ReadReport(sanitizer, ""));
    EXPECT_FALSE(ReadReport(sanitizer, "kernel.cpp: all is well\n\xff\xfe"));
  }
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
