#include "agent/anchors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agent/plan_reply.h"
#include "agent/skeleton.h"
#include "core/advice.h"
#include "core/edit_check.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kBase = "int a;\nfor (;;) {\n  work();\n}\nint b;\n";
const std::string kMarked =
    "int a;\n// <<<IMPROVE BEGIN>>>\n// unroll by four\nfor (;;) {\n  work();\n}\n"
    "// <<<IMPROVE END>>>\nint b;\n";

TEST(Anchors, SplitTheSourceAtTheMarkers) {
  const Anchored parts = ReadAnchors(kMarked).anchored.value();
  EXPECT_THAT(parts.before, ElementsAre("int a;"));
  EXPECT_THAT(parts.block, ElementsAre("// unroll by four", "for (;;) {", "  work();", "}"));
  EXPECT_THAT(parts.after, ElementsAre("int b;"));
  EXPECT_EQ(AdviceInBlock(parts), "unroll by four\n");
}

TEST(Anchors, BothSpellingsAndPythonCommentsAreTaken) {
  const auto parts =
      ReadAnchors("x = 1\n## <<<IMPROVE BEGINS>>>\n# tile it\ny = 2\n## <<<IMPROVE ENDS>>>\n")
          .anchored;
  ASSERT_TRUE(parts);
  EXPECT_THAT(parts->block, ElementsAre("# tile it", "y = 2"));
  EXPECT_EQ(AdviceInBlock(*parts), "tile it\n");
}

TEST(Anchors, OnePairInOrderIsNeeded) {
  const auto problem = [](const std::string& text) { return ReadAnchors(text).problem; };
  EXPECT_THAT(problem("int a;\n"), HasSubstr("exactly one line"));
  EXPECT_THAT(problem("// <<<IMPROVE BEGIN>>>\nint a;\n"), HasSubstr("exactly one line"));
  EXPECT_THAT(problem(kMarked + kMarked), HasSubstr("exactly one line"));
  EXPECT_THAT(problem("// <<<IMPROVE END>>>\nint a;\n// <<<IMPROVE BEGIN>>>\n"),
              HasSubstr("before"));
}

TEST(CompareEdit, CountsWhatGotLostOutsideTheBlock) {
  const auto edit = [](const std::string& result) {
    return CompareEdit(kBase, kMarked, result).value();
  };
  const EditCheck inside = edit("int a;\nfor (;;) {\n  work4();\n}\n\n  int b;\n");
  EXPECT_TRUE(inside.inside()) << "empty lines and indentation do not count";
  EXPECT_EQ(inside.planner_lines, 0);
  EXPECT_TRUE(edit("#include <omp.h>\nint a;\nwork();\nint b;\n").inside()) << "additions are free";
  EXPECT_EQ(edit("int c;\nwork();\nint b;\n").coder_lines, 1);
  EXPECT_EQ(edit("").coder_lines, 2);
  EXPECT_EQ(CompareEdit("int gone;\n" + kBase, kMarked, kBase)->planner_lines, 1);
  EXPECT_FALSE(CompareEdit(kBase, kBase, kBase)) << "nothing is marked";
}

std::string Reply(const std::string& source) {
  return "Unroll the loop by four.\n\n```cpp\n" + source + "```\n";
}

TEST(PlanReply, ProseAndTheMarkedSource) {
  const PlanReply reply = ParsePlanReply(Reply(kMarked), false);
  ASSERT_TRUE(reply.advice) << reply.problem;
  EXPECT_EQ(reply.advice->base, Base::kCurrent);
  EXPECT_EQ(reply.advice->change, "Unroll the loop by four.");
  EXPECT_EQ(reply.advice->anchored, kMarked);
  EXPECT_FALSE(reply.advice->stop);
}

TEST(PlanReply, WithoutProseTheBlockSpeaks) {
  EXPECT_EQ(ParsePlanReply("```cpp\n" + kMarked + "```", false).advice->change, "unroll by four");
}

TEST(PlanReply, TheMarkedBlockIsTakenNotASketchBeforeIt) {
  EXPECT_EQ(
      ParsePlanReply("A sketch:\n```cpp\nint c;\n```\n" + Reply(kMarked), false).advice->anchored,
      kMarked);
}

TEST(PlanReply, SaysWhatIsMissing) {
  EXPECT_THAT(ParsePlanReply(Reply(kBase), false).problem, HasSubstr("no fenced block"));
  EXPECT_THAT(ParsePlanReply("", false).problem, HasSubstr("no fenced block"));
  EXPECT_THAT(ParsePlanReply("x\n```cpp\n// <<<IMPROVE BEGIN>>>\nint a", true).problem,
              HasSubstr("cut off"));
  EXPECT_THAT(ParsePlanReply(Reply(kMarked + kMarked), false).problem, HasSubstr("exactly one"));
  EXPECT_FALSE(ParsePlanReply(Reply(kMarked + std::string(300000, 'x')), false).advice);
}

TEST(SkeletonKernel, DefinesWhatTheHeaderDeclares) {
  const std::string skeleton = SkeletonKernel(
      "#pragma once\nextern \"C\" void pragma_kernel(const float* x,\n    float* out, void* "
      "scratch);\n",
      Language::kCpp);
  EXPECT_THAT(skeleton, HasSubstr("// pragma-flags: -O3"));
  EXPECT_THAT(skeleton,
              HasSubstr("pragma_kernel(const float* x,\n    float* out, void* scratch) {\n"));
  EXPECT_TRUE(skeleton.ends_with("}\n"));
}

TEST(SkeletonKernel, IsInTheLanguageOfTheCandidates) {
  const std::string cuda = SkeletonKernel(
      "extern \"C\" void pragma_launch(const float* x, float* out, void* scratch, cudaStream_t "
      "stream);\n",
      Language::kCuda);
  EXPECT_THAT(cuda, HasSubstr("// pragma-flags: -O3\n"));
  EXPECT_THAT(cuda, HasSubstr("void* scratch, cudaStream_t stream) {\n"));
  const std::string triton =
      SkeletonKernel("# n = 40\ndef run(\n    x,\n    out,\n):\n", Language::kTriton);
  EXPECT_THAT(triton, HasSubstr("import triton.language as tl\n"));
  EXPECT_THAT(triton, HasSubstr("def run(\n    x,\n    out,\n):\n    # Nothing is written"));
  EXPECT_THAT(triton, Not(HasSubstr("pragma-flags")));
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
