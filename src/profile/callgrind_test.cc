#include "profile/callgrind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/shared_memory.h"
#include "build/testing.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "profile/cache_shape.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kSide = 256;
constexpr std::size_t kBytes = kSide * kSide * sizeof(float);
constexpr double kLines = kBytes / 64.0;

// Returns an L1 that is too small for a 256 x 256 matrix, and an L2 that holds it.
CacheShapes Caches() {
  const CacheShape first{.bytes = std::size_t{32} << 10U, .ways = 8, .line = 64};
  return {.instructions = first,
          .data = first,
          .second = {.bytes = std::size_t{1} << 20U, .ways = 8, .line = 64},
          .third = {.bytes = std::size_t{32} << 20U, .ways = 16, .line = 64},
          .assumed = false};
}

bool NoValgrind() { return FindProgram("valgrind", PathFolders()).empty(); }
#define SKIP_WITHOUT_VALGRIND() \
  if (NoValgrind()) GTEST_SKIP() << "valgrind is not installed (package valgrind)"

CallgrindOutcome Watch(const Candidate& candidate, Seconds limit = Seconds{60},
                       std::vector<std::string> folders = PathFolders()) {
  SharedMemory inputs = SharedMemory::Create("test-inputs", kBytes).value();
  Rng rng(Seed{});
  auto* values = reinterpret_cast<float*>(inputs.data());
  for (std::size_t i = 0; i < kSide * kSide; ++i)
    values[i] = static_cast<float>(rng() % 1000) - 500.0F;
  const InstrumentedCall call{.arguments = {kBytes},
                              .argument_offsets = {0},
                              .first_parameter = 1,
                              .outputs = {kBytes},
                              .output_names = {"out"},
                              .inputs = &inputs,
                              .limit = limit};
  Toolchains toolchains;
  const std::string header = kTestHeader;
  const auto outcome = RunCallgrind({.jail = TestJail(),
                                     .toolchains = toolchains,
                                     .kernel_header = header,
                                     .caches = Caches(),
                                     .folders = std::move(folders)},
                                    candidate, call);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *outcome : CallgrindOutcome{};
}

// Returns a kernel. The first line of its body is line 4 of kernel.cpp, which includes kernel.h in
// its first line.
Candidate Kernel(const std::string& body,
                 const std::vector<std::string>& flags = {"-O3", "-march=native"},
                 const std::string& compiler = "g++", const std::string& before = "") {
  return TestCandidate(
      "#include \"kernel.h\"" + before +
          "\nextern \"C\" void pragma_kernel(const float* x, float* out, void*) {\n\n" + body +
          "\n}\n",
      flags, compiler);
}

double Value(const CallgrindOutcome& outcome, const std::string& tag) {
  for (const Metric& metric : outcome.metrics) {
    if (metric.tag == tag) return metric.value;
  }
  ADD_FAILURE() << "no metric " << tag;
  return -1;
}

constexpr const char* kRows =
    "float s = 0;\nfor (int i = 0; i < 65536; ++i) s += x[i];\nout[0] = s;";
constexpr const char* kColumns =
    "float s = 0;\nfor (int j = 0; j < 256; ++j)\n  for (int i = 0; i < 256; ++i)\n"
    "    s += x[i * 256 + j];\nout[0] = s;";

TEST(Callgrind, AWalkAlongTheLinesMissesEachLineOnce) {
  SKIP_WITHOUT_VALGRIND();
  // The vectoriser of g++ 12 attributes its code for a strict sum to the line of the sum's
  // declaration.
  const CallgrindOutcome outcome = Watch(Kernel(kRows, {"-O1"}));
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_NEAR(Value(outcome, "l1_misses"), kLines, 64);
  // The second call finds all its data in the second level.
  EXPECT_LT(Value(outcome, "l2_misses"), 64);
  EXPECT_LT(Value(outcome, "l3_misses"), 64);
  ASSERT_FALSE(outcome.second.lines.empty());
  EXPECT_EQ(outcome.second.lines.front().line, 5) << outcome.text;
  EXPECT_NEAR(outcome.second.lines.front().self.l1_misses(), kLines, 64);
  EXPECT_THAT(outcome.text, HasSubstr("line 5: "));
  EXPECT_GT(outcome.note.seconds, 0);
}

TEST(Callgrind, AWalkAcrossTheLinesMissesWithEveryAccess) {
  SKIP_WITHOUT_VALGRIND();
  for (const char* compiler : {"g++", "clang++"}) {
    Toolchains toolchains;
    if (!toolchains.Find(compiler)->missing.empty()) continue;
    // -O2 does not interchange loops, as a compiler may do where sums may be reordered.
    const CallgrindOutcome outcome = Watch(Kernel(kColumns, {"-O2"}, compiler));
    ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
    EXPECT_GT(Value(outcome, "l1_misses"), 0.9 * kSide * kSide);
    EXPECT_LT(Value(outcome, "l2_misses"), 64);
    EXPECT_GE(outcome.second.total.loads, kSide * kSide);
  }
}

TEST(Callgrind, BranchesOnRandomDataAreMispredicted) {
  SKIP_WITHOUT_VALGRIND();
  const CallgrindOutcome outcome = Watch(Kernel(
      "int n = 0;\nfor (int i = 0; i < 65536; ++i)\n  if (x[i] > 0) out[n++] = x[i];", {"-O1"}));
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_GT(Value(outcome, "branch_mispredicts"), 10000);
  EXPECT_GT(Value(outcome, "mispredict_share"), 0.1);
  for (const Metric& metric : outcome.metrics) EXPECT_EQ(metric.source, "simulated");
}

TEST(Callgrind, AnOpenMpKernelIsCountedOnOneThread) {
  SKIP_WITHOUT_VALGRIND();
  const CallgrindOutcome outcome = Watch(
      Kernel("#pragma omp parallel for\nfor (int i = 0; i < 65536; ++i)\n  out[i] = x[i] + 1;",
             {"-O2", "-fopenmp"}));
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_GT(Value(outcome, "l1_misses"), 1.9 * kLines);  // misses of x and out
  EXPECT_GE(outcome.second.total.instructions, kSide * kSide / 8.0);
}

// The outermost function ends with a jump to another function.
TEST(Callgrind, WhatATailCallDoesCounts) {
  SKIP_WITHOUT_VALGRIND();
  const CallgrindOutcome outcome = Watch(Kernel(
      "Work(x, out);", {"-O2"}, "g++",
      " // keeps the lines\n__attribute__((noinline)) static void Work(const float* x, float* "
      "out) { float s = 0; for (int i = 0; i < 65536; ++i) s += x[i]; out[0] = s; }"));
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_NEAR(Value(outcome, "l1_misses"), kLines, 64);
}

TEST(Callgrind, IntrinsicsThatTheBuildLeavesOutAreAFailureWithTheReason) {
  SKIP_WITHOUT_VALGRIND();
  const CallgrindOutcome outcome =
      Watch(Kernel("_mm512_storeu_ps(out, _mm512_loadu_ps(x));", {"-O2", "-mavx512f"}, "g++",
                   "\n#include <immintrin.h>"));
  EXPECT_EQ(outcome.note.verdict, "failed");
  EXPECT_THAT(outcome.note.detail,
              AllOf(HasSubstr("with AVX2 and without FMA"), HasSubstr("error:")));
}

TEST(Callgrind, InstructionsThatValgrindDoesNotKnowAreAFailureWithTheReason) {
  SKIP_WITHOUT_VALGRIND();
  const CallgrindOutcome outcome = Watch(
      Kernel("asm volatile(\"vaddps %%zmm0, %%zmm1, %%zmm2\" ::: \"memory\");\nout[0] = x[0];"));
  EXPECT_EQ(outcome.note.verdict, "failed");
  EXPECT_THAT(outcome.note.detail, HasSubstr("instructions that valgrind does not know"));
}

TEST(Callgrind, AKernelThatTakesTooLongIsSkipped) {
  SKIP_WITHOUT_VALGRIND();
  const CallgrindOutcome outcome = Watch(
      Kernel("for (volatile long i = 0; i < 100000000000; ++i) {}\nout[0] = x[0];"), Seconds{1});
  EXPECT_EQ(outcome.note.verdict, "skipped");
  EXPECT_THAT(outcome.note.detail, HasSubstr("not done within"));
}

TEST(Callgrind, WithoutValgrindThePackageIsNamed) {
  const TempDir empty = TempDir::Create().value();
  const CallgrindOutcome outcome = Watch(Kernel(kRows), Seconds{60}, {empty.path().string()});
  EXPECT_EQ(outcome.note.verdict, "absent");
  EXPECT_THAT(outcome.note.detail, HasSubstr("package valgrind"));
}

#if defined(__x86_64__)
TEST(CallgrindFlags, OnlyTheTargetChanges) {
  EXPECT_THAT(
      CallgrindFlags({"-O3", "-march=native", "-mfma", "-mavx512f", "-mno-avx512f", "-fopenmp",
                      "-mprefer-vector-width=512", "-DN=4", "-mbmi2"}),
      ElementsAre("-O3", "-fopenmp", "-DN=4", "-mbmi2", "-march=x86-64-v3", "-mno-fma", "-g1"));
}
#endif

constexpr const char* kReport =
    "# callgrind format\nversion: 1\npositions: line\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr "
    "DLmw Bc Bcm Bi Bim\nsummary: 1000 300 100 0 40 5 0 3 1 90 7\n\n"
    "ob=/usr/lib/libm.so.6\nfl=./math/e_expf.c\nfn=__expf_fma\n7 500 200\n\n"
    "fl=/build/kernel.cpp\nfn=pragma_kernel\n4 10\n5 100 50 0 0 20\n"
    "cfi=./math/e_expf.c\ncfn=__expf_fma\ncalls=64 7\n5 500 200\n"
    "fi=/usr/include/c++/12/cmath\n5 77\nfe=/build/kernel.cpp\n6 120 40 30 0 0 5 0 0 1 9 2\n"
    "jump=3 7\n-4 1\n* 3\n\ntotals: 2000 300\n";

TEST(ReadCallgrind, LinesOfTheKernelHaveTheirOwnCosts) {
  const auto report = ReadCallgrind(kReport);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->total.instructions, 1000);
  EXPECT_EQ(report->total.l1_misses(), 45);
  EXPECT_EQ(report->total.last_misses(), 4);
  EXPECT_EQ(report->total.branch_mispredicts, 7);
  ASSERT_EQ(report->lines.size(), 3U);
  const CallgrindLine& hottest = report->lines.front();
  EXPECT_EQ(hottest.line, 5);
  EXPECT_EQ(hottest.self.instructions, 100);
  EXPECT_EQ(hottest.self.l1_load_misses, 20);
  EXPECT_EQ(hottest.called_instructions, 500);
  EXPECT_EQ(report->lines[1].line, 6);
  EXPECT_EQ(report->lines[1].self.last_store_misses, 1);
  EXPECT_EQ(report->lines[1].self.branch_mispredicts, 2);
}

TEST(ReadCallgrind, OtherTextHasNoCounts) {
  EXPECT_FALSE(ReadCallgrind(""));
  EXPECT_FALSE(ReadCallgrind("events: Ir\nfl=kernel.cpp\n5 100\n"));
  const auto odd = ReadCallgrind(
      "events: Ir Nonsense Dr\nsummary: 5 1e999 3\nfl=kernel.cpp\n99999999999 4\n0 1\n5 -3\n5 "
      "nan\n");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->total.instructions, 5);
  EXPECT_EQ(odd->total.loads, 0);
  for (const CallgrindLine& line : odd->lines) EXPECT_EQ(line.self.instructions, 0);
}

TEST(CacheShape, ANumberOfSetsThatIsNoPowerOfTwoKeepsTheCapacity) {
  const CacheShape large{.bytes = std::size_t{96} << 20U, .ways = 16, .line = 64};
  const CacheShape fit = WithPowerOfTwoSets(large);
  EXPECT_EQ(fit.bytes, large.bytes);
  EXPECT_EQ(fit.ways, 24);
  const CacheShape usual{.bytes = std::size_t{48} << 10U, .ways = 12, .line = 64};
  EXPECT_EQ(WithPowerOfTwoSets(usual).ways, 12);
  EXPECT_EQ(WithPowerOfTwoSets({}).bytes, 0U);
}

TEST(CacheShape, TheKernelsFilesAreRead) {
  const TempDir folder = TempDir::Create().value();
  const auto write = [&](const std::string& index, const std::string& level,
                         const std::string& type, const std::string& size,
                         const std::string& ways) {
    const std::filesystem::path at = folder.path() / index;
    ASSERT_TRUE(MakeDirectories(at));
    ASSERT_TRUE(WriteFileAtomic(at / "level", level + "\n"));
    ASSERT_TRUE(WriteFileAtomic(at / "type", type + "\n"));
    ASSERT_TRUE(WriteFileAtomic(at / "size", size + "\n"));
    ASSERT_TRUE(WriteFileAtomic(at / "ways_of_associativity", ways + "\n"));
    ASSERT_TRUE(WriteFileAtomic(at / "coherency_line_size", "64\n"));
  };
  write("index0", "1", "Data", "48K", "12");
  write("index1", "1", "Instruction", "32K", "8");
  write("index2", "2", "Unified", "1024K", "0");  // as some virtual machines report it
  const CacheShapes shapes = ReadCacheShapes(folder.path());
  EXPECT_EQ(shapes.data.bytes, std::size_t{48} << 10U);
  EXPECT_EQ(shapes.data.ways, 12);
  EXPECT_EQ(shapes.instructions.ways, 8);
  EXPECT_EQ(shapes.second.bytes, std::size_t{1} << 20U);
  EXPECT_EQ(shapes.second.ways, 8);
  EXPECT_EQ(shapes.third.bytes, 0U);
  EXPECT_FALSE(shapes.assumed);
}

TEST(CacheShape, WhatIsNotToldIsSaidToBeAssumed) {
  const CacheShapes shapes = ReadCacheShapes("/nowhere");
  EXPECT_TRUE(shapes.assumed);
  EXPECT_GT(shapes.data.bytes, 0U);
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
