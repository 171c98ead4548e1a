#include "profile/remarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "build/builder.h"
#include "build/testing.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "profile/tool_runner.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RemarkCompilers Compilers() {
  Toolchains toolchains;
  return {.gcc = toolchains.Find("g++").value(), .clang = toolchains.Find("clang++").value()};
}

#define SKIP_WITHOUT_CLANG() \
  if (!Compilers().clang.missing.empty()) GTEST_SKIP() << Compilers().clang.missing

RemarkOutcome Ask(const Candidate& candidate, const RemarkCompilers& compilers = Compilers()) {
  const auto outcome = RunRemarks(JailedTools(TestJail()), compilers, candidate, kTestHeader);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *outcome : RemarkOutcome{};
}

// Returns a kernel whose body begins at line 5.
Candidate Kernel(const std::string& body, const std::string& before = "\n") {
  return TestCandidate("#include \"kernel.h\"\n" + before + KernelSource(body), {"-O3", "-mavx2"});
}

int LineOf(const Candidate& candidate, const std::string& text) {
  const std::vector<std::string> lines = SplitLines(candidate.source());
  const auto found = std::ranges::find_if(
      lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  EXPECT_NE(found, lines.end()) << text;
  return static_cast<int>(found - lines.begin()) + 1;
}

// Returns the reason that is shown for the line that contains `text`.
std::string Reason(const Candidate& candidate, const std::string& text,
                   const RemarkOutcome& outcome) {
  const int line = LineOf(candidate, text);
  return ReasonFor(outcome.remarks, line, LoopLine(candidate.source(), line));
}

TEST(Remarks, AStrictSumIsExplainedByItsOrder) {
  SKIP_WITHOUT_CLANG();
  const Candidate candidate = Kernel(
      "float sum = 0;\nfor (int i = 0; i < 1024; ++i) {\n  const float t = x[i];\n  sum += t;\n}\n"
      "out[0] = sum;");
  const RemarkOutcome outcome = Ask(candidate);
  EXPECT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_EQ(outcome.note.detail, "");
  EXPECT_THAT(Reason(candidate, "sum += t", outcome),
              HasSubstr("cannot prove it is safe to reorder floating-point operations"));
  // The loop's own line and another line in it show the reason too.
  EXPECT_THAT(Reason(candidate, "for (int i", outcome), HasSubstr("reorder"));
  EXPECT_THAT(Reason(candidate, "const float t", outcome), HasSubstr("reorder"));
}

TEST(Remarks, ACallInsideAnInlinedHeaderIsTheLoopsReason) {
  SKIP_WITHOUT_CLANG();
  const Candidate candidate = Kernel(
      "for (int i = 0; i < 1024; ++i) {\n  out[i] = std::exp(x[i]);\n}", "#include <cmath>\n");
  EXPECT_THAT(Reason(candidate, "std::exp", Ask(candidate)),
              AllOf(HasSubstr("not vectorised: call instruction cannot be vectorized"),
                    HasSubstr("(in cmath)")));
}

TEST(Remarks, GccAloneNamesTheCallee) {
  RemarkCompilers compilers = Compilers();
  compilers.clang = {.path = {},
                     .version = {},
                     .identity = {},
                     .clang = false,
                     .library_folder = {},
                     .missing = "the compiler clang++ is not installed"};
  const Candidate candidate = Kernel(
      "for (int i = 0; i < 1024; ++i) {\n  out[i] = std::exp(x[i]);\n}", "#include <cmath>\n");
  const RemarkOutcome outcome = Ask(candidate, compilers);
  EXPECT_EQ(outcome.note.verdict, "ran");
  EXPECT_THAT(outcome.note.detail, HasSubstr("clang++ is not installed"));
  EXPECT_EQ(Reason(candidate, "std::exp", outcome), "not vectorised: it calls expf");
}

TEST(Remarks, WithoutAnyCompilerTheNoteSaysAbsent) {
  Toolchain none;
  none.missing = "no compiler";
  const RemarkOutcome outcome =
      Ask(Kernel("out[0] = x[0];"), RemarkCompilers{.gcc = none, .clang = none});
  EXPECT_EQ(outcome.note.verdict, "absent");
  EXPECT_TRUE(outcome.remarks.empty());
}

TEST(Remarks, ASourceThatDoesNotCompileIsAFailureWithTheReason) {
  const RemarkOutcome outcome = Ask(Kernel("out[0] = nothing;"));
  EXPECT_EQ(outcome.note.verdict, "failed");
  EXPECT_THAT(outcome.note.detail, HasSubstr("nothing"));
}

// The loop has more accumulators than there are registers.
TEST(Remarks, SpillsOfALoopAreCounted) {
  SKIP_WITHOUT_CLANG();
  std::string declared;
  std::string body;
  std::string sum = "0";
  for (int i = 0; i < 40; ++i) {
    const std::string name = "a" + std::to_string(i);
    declared += "float " + name + " = 0;\n";
    // Each value depends on the previous one, so that they do not become the lanes of a vector.
    body += "  " + name + " = " + name + " * t + " + (i > 0 ? "a" + std::to_string(i - 1) : "1") +
            ";\n";
    sum += "+" + name;
  }
  const Candidate candidate =
      Kernel(declared + "for (int i = 0; i < 1024; ++i) {\n  float t = out[i];\n" + body +
             "}\nout[0] = " + sum + ";");
  const std::string reason = Reason(candidate, "for (int i", Ask(candidate));
  EXPECT_THAT(reason, AllOf(HasSubstr("spills and"), HasSubstr("reloads in this loop")));
}

TEST(Remarks, HeadersHaveNoRemarks) {
  const Candidate candidate =
      Kernel("std::vector<float> v(x, x + 64);\nstd::sort(v.begin(), v.end());\nout[0] = v[3];",
             "#include <algorithm>\n#include <vector>\n");
  const int lines = static_cast<int>(SplitLines(candidate.source()).size());
  const RemarkOutcome outcome = Ask(candidate);
  EXPECT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  for (const Remark& remark : outcome.remarks) {
    EXPECT_LE(remark.line, lines) << remark.text;
    EXPECT_GT(remark.line, 0);
  }
}

TEST(Remarks, BothCompilersAreHeardAboutAVectorLoop) {
  SKIP_WITHOUT_CLANG();
  const Candidate candidate = Kernel("for (int i = 0; i < 1024; ++i)\n  out[i] = x[i] * 2.0f;");
  EXPECT_THAT(Reason(candidate, "out[i]", Ask(candidate)),
              AllOf(HasSubstr("g++: loop vectorized using 32 byte vectors"),
                    HasSubstr("clang++: vectorized loop")));
}

// Whatever flags a candidate has, clang must still give its advice.
TEST(Remarks, FlagsThatClangDoesNotKnowAreDropped) {
  SKIP_WITHOUT_CLANG();
  Candidate candidate = Kernel("for (int i = 0; i < 1024; ++i)\n  out[i] = x[i] * 2.0f;");
  candidate.flags.clear();
  for (const std::string& flag : AllowedFlagForms()) {
    if (!flag.starts_with("-D") && flag != "-fveclib=libmvec" && !flag.starts_with("-fno-")) {
      candidate.flags.push_back(flag);
    }
  }
  const RemarkOutcome outcome = Ask(candidate);
  EXPECT_THAT(outcome.note.detail, Not(HasSubstr("clang++: ")));
  EXPECT_TRUE(std::ranges::any_of(
      outcome.remarks, [](const Remark& remark) { return remark.compiler == "clang++"; }));
}

TEST(ReadClangRemarks, OddDocumentsAreReadAsFarAsTheyGo) {
  const auto remarks = ReadClangRemarks(
      "--- !Missed\nPass:            inline\nName:            NeverInline\n"
      "DebugLoc:        { File: '/build/kernel.cpp', \n                   Line: 9, Column: 26 }\n"
      "Function:        pragma_kernel\nArgs:\n  - String:          ''''\n"
      "  - Callee:          _ZL1fPKfi\n    DebugLoc:        { File: kernel.cpp, Line: 17 }\n"
      "  - String:          ''' not inlined into '''\n  - Caller:          pragma_kernel\n"
      "  - Reason:          noinline function\n                     attribute\n...\n"
      "--- !Missed\nPass:            inline\nDebugLoc:        { File: kernel.cpp, Line: 4 }\n"
      "Args:\n  - Callee:          __kmpc_fork_call\n  - String: ' will not be inlined'\n...\n"
      "--- !Missed\nPass: licm\nDebugLoc: { File: kernel.cpp, Line: 3 }\nArgs:\n  - String: cut");
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].line, 9);
  EXPECT_EQ(remarks[0].kind, "missed");
  EXPECT_EQ(remarks[0].text,
            "'_ZL1fPKfi' not inlined into 'pragma_kernelnoinline function attribute");
}

TEST(ReadGccRemarks, ALoopTakesTheReasonThatFollowsIt) {
  const auto remarks = ReadGccRemarks(
      "kernel.cpp:19:15: missed: couldn't vectorize loop\n"
      "kernel.cpp:20:9: missed: not vectorized: no vectype for stmt: _14 = *_13;\n"
      " scalar_type: const float\n"
      "/usr/include/c++/12/bits/move.h:205:11: optimized: basic block part vectorized using 64 "
      "byte "
      "vectors\n"
      "kernel.cpp:29:1: missed: splitting region at dominance boundary bb38\n"
      "kernel.cpp:30:1: missed: statement clobbers memory: __builtin_GOMP_parallel (f, 0);\n"
      "/build/kernel.cpp:31:1: missed: couldn't vectorize loop\n");
  ASSERT_EQ(remarks.size(), 3U);
  EXPECT_EQ(remarks[0].line, 19);
  EXPECT_EQ(remarks[0].text, "loop not vectorized: no vectype for");
  EXPECT_EQ(remarks[1].line, 20);
  EXPECT_EQ(remarks[2].text, "loop not vectorized");
  EXPECT_EQ(remarks[2].line, 31);
}

TEST(ReadRemarks, ForeignTextGivesNone) {
  for (const char* text :
       {"", "--- !", "--- !Missed\nPass:\n...\n", "a:b:c: missed: x",
        ": missed: ", "kernel.cpp:99999999999:1: missed: couldn't vectorize loop",
        "--- !Missed\nDebugLoc: { Line: -4, File: ", "\xff\xfe: optimized: "}) {
    EXPECT_TRUE(ReadGccRemarks(text).empty()) << text;
    EXPECT_TRUE(ReadClangRemarks(text).empty()) << text;
  }
}

TEST(LoopLine, IsTheInnermostLoopAroundALine) {
  const std::string source =
      "void f() {\n"                         // 1
      "  int k = 0;\n"                       // 2
      "  for (int i = 0; i < 4; ++i) {\n"    // 3
      "    k += 1;\n"                        // 4
      "    for (int j = 0; j < 4; ++j)\n"    // 5
      "      k += j;\n"                      // 6
      "    k -= 1;\n"                        // 7
      "  }\n"                                // 8
      "  k = 2;\n"                           // 9
      "  while (k > 0)\n"                    // 10
      "    for (int j = 0; j < 4; ++j) {\n"  // 11
      "      --k;  // for\n"                 // 12
      "    }\n"                              // 13
      "  k = 3;\n"                           // 14
      "}\n";
  const int expected[] = {0, 0, 3, 3, 5, 5, 3, 3, 0, 10, 11, 11, 11, 0, 0};
  for (int line = 1; line <= 15; ++line)
    EXPECT_EQ(LoopLine(source, line), expected[line - 1]) << line;
  EXPECT_EQ(LoopLine("} } ) ; for while", 1), 1);
}

TEST(ReasonFor, SaysWhereTheCompilersDisagree) {
  const std::vector<Remark> remarks{{.line = 3,
                                     .pass = "loop-vectorize",
                                     .kind = "passed",
                                     .text = "loop vectorized using 64 byte vectors",
                                     .compiler = "g++"},
                                    {.line = 4,
                                     .pass = "loop-vectorize",
                                     .kind = "analysis",
                                     .text = "loop not vectorized: cannot identify array bounds",
                                     .compiler = "clang++"},
                                    {.line = 3,
                                     .pass = "loop-vectorize",
                                     .kind = "missed",
                                     .text = "loop not vectorized",
                                     .compiler = "clang++"},
                                    {.line = 3,
                                     .pass = "regalloc",
                                     .kind = "missed",
                                     .text = "3 spills and 4 reloads in this loop",
                                     .compiler = "clang++"}};
  EXPECT_EQ(ReasonFor(remarks, 4, 3),
            "g++: loop vectorized using 64 byte vectors; clang++ did not vectorise it: cannot "
            "identify array bounds; 3 spills and 4 reloads in this loop");
  EXPECT_EQ(ReasonFor(remarks, 4), "not vectorised: cannot identify array bounds");
  EXPECT_EQ(ReasonFor(remarks, 9), "");
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
