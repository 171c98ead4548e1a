#include "profile/mca.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "build/testing.h"
#include "build/toolchain.h"
#include "core/profile.h"
#include "profile/tool_runner.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

#if defined(__x86_64__)

LoopBody Body(std::vector<std::string> instructions) {
  return {.instructions = std::move(instructions), .iterations = 0, .source_line = 0};
}

// Returns the loop sum += x[i] * y[i] with one accumulator.
LoopBody Reduction() {
  return Body({".L4:", "  vmovups (%rax), %ymm0  # _3", "vfmadd231ps (%rdx,%rax), %ymm0, %ymm1",
               "addq $32, %rax", "cmpq %rcx, %rax", "jne .L4"});
}

double Value(const McaOutcome& outcome, const std::string& tag) {
  for (const Metric& metric : outcome.metrics) {
    if (metric.tag == tag) return metric.value;
  }
  ADD_FAILURE() << "no metric " << tag;
  return -1;
}

McaOutcome Predict(const LoopBody& loop, const std::string& cpu = "znver4") {
  const auto outcome = RunMca(JailedTools(TestJail()), loop, cpu);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *outcome : McaOutcome{};
}

bool NoTool() { return FindProgram("llvm-mca", PathFolders()).empty(); }
#define SKIP_WITHOUT_MCA() \
  if (NoTool()) GTEST_SKIP() << "llvm-mca is not installed (package llvm-19)"

// LLVM knows znver4 from version 16 on.
#define SKIP_WITHOUT_MODEL(outcome) \
  if ((outcome).note.verdict == "skipped") GTEST_SKIP() << (outcome).note.detail

TEST(Mca, AReductionIsBoundByItsChainOfRegisters) {
  SKIP_WITHOUT_MCA();
  const McaOutcome outcome = Predict(Reduction());
  SKIP_WITHOUT_MODEL(outcome);
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_THAT(outcome.note.detail, HasSubstr("model znver4"));
  // The latency of one FMA is four cycles. The ports alone would need less than two cycles per
  // iteration.
  EXPECT_NEAR(Value(outcome, "mca_cycles_per_iteration"), 4, 0.3);
  EXPECT_LT(Value(outcome, "mca_throughput_cycles"), 2);
  EXPECT_GT(Value(outcome, "mca_dependency_share"), 0.5);
  EXPECT_LT(Value(outcome, "mca_resource_pressure"), 0.2);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("dependent instructions: vfmadd231ps (%rdx,%rax)"),
                                  HasSubstr("register %ymm1")));
}

TEST(Mca, DivisionsAreBoundByTheirPort) {
  SKIP_WITHOUT_MCA();
  const McaOutcome outcome = Predict(
      Body({"vdivps %zmm0, %zmm1, %zmm2", "vdivps %zmm0, %zmm3, %zmm4", "decq %rax", "jne .Lx"}));
  SKIP_WITHOUT_MODEL(outcome);
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_GE(Value(outcome, "mca_throughput_cycles"), 10);
  EXPECT_GT(Value(outcome, "mca_resource_pressure"), 0.1);
  EXPECT_THAT(outcome.text, HasSubstr("most of them for Zn4FP1"));
  for (const Metric& metric : outcome.metrics) EXPECT_EQ(metric.source, "static");
}

TEST(Mca, TheModelIsNamedWhereItIsAnotherProcessors) {
  SKIP_WITHOUT_MCA();
  const McaOutcome outcome = Predict(Reduction(), "cascadelake");
  ASSERT_EQ(outcome.note.verdict, "ran") << outcome.note.detail;
  EXPECT_THAT(outcome.note.detail,
              AllOf(HasSubstr("model cascadelake"), HasSubstr("Skylake-X model")));
}

TEST(Mca, AProcessorItDoesNotKnowIsSaid) {
  SKIP_WITHOUT_MCA();
  const McaOutcome outcome = Predict(Reduction(), "zen99");
  EXPECT_EQ(outcome.note.verdict, "skipped");
  EXPECT_THAT(outcome.note.detail, HasSubstr("no model of zen99"));
  EXPECT_TRUE(outcome.metrics.empty());
}

TEST(Mca, InstructionsTheModelLacksAreAFailureWithTheToolsWords) {
  SKIP_WITHOUT_MCA();
  const McaOutcome outcome = Predict(Body({"vaddps %zmm0, %zmm1, %zmm2", "jne .Lx"}), "znver3");
  EXPECT_EQ(outcome.note.verdict, "failed");
  EXPECT_THAT(outcome.note.detail, HasSubstr("error:"));
}

TEST(Mca, WithoutTheToolThePackageIsNamed) {
  const TempDir empty = TempDir::Create().value();
  const auto outcome =
      RunMca(JailedTools(TestJail()), Reduction(), "native", {empty.path().string()});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->note.verdict, "absent");
  EXPECT_THAT(outcome->note.detail, HasSubstr("package llvm"));
}

TEST(Mca, AnUnknownHostIsNotTakenForAGenericOne) {
  SKIP_WITHOUT_MCA();
  const ToolRunner tool = [](const std::vector<std::string>& argv, const ToolFiles&) {
    Jail::RunOutcome said;
    EXPECT_EQ(argv.at(1), "--version");
    said.out = "LLVM version 14.0.6\n  Host CPU: generic\n";
    return Result<Jail::RunOutcome>(said);
  };
  const auto outcome = RunMca(tool, Reduction());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->note.verdict, "skipped");
  EXPECT_THAT(outcome->note.detail, HasSubstr("no model of this processor"));
}

// LLVM 19 on Zen 5 accepts the name, but the resources are those of Zen 4.
TEST(Mca, Zen5IsSaidToBeTheZen4Model) {
  SKIP_WITHOUT_MCA();
  const ToolRunner tool = [](const std::vector<std::string>& argv, const ToolFiles&) {
    Jail::RunOutcome said;
    said.out = argv.at(1) == "--version"
                   ? "Debian LLVM version 19.1.7\n  Host CPU: znver5\n"
                   : "Iterations:        200\nInstructions:      1000\nTotal Cycles:      811\n"
                     "Block RThroughput: 1.0\n\nResources:\n[0]   - Zn4AGU0\n[8]   - Zn4FP0\n\n"
                     "Resource pressure per iteration:\n[0]    [8]\n -     1.00\n";
    return Result<Jail::RunOutcome>(said);
  };
  const auto outcome = RunMca(tool, Reduction());
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->note.verdict, "ran") << outcome->note.detail;
  EXPECT_THAT(outcome->note.detail, AllOf(HasSubstr("llvm-mca 19.1.7, model znver5"),
                                          HasSubstr("Zen 4 model"), HasSubstr("half")));
  EXPECT_THAT(outcome->text, HasSubstr("most used: Zn4FP0, 1.00 times"));
}

TEST(PrepareLoop, CommentsDirectivesAndTargetsGo) {
  const McaSource source =
      PrepareLoop(Body({".L4:", ".loc 1 7 2", "\tvmovups (%rax), %ymm0 # x", "", "cmpq %rcx, %rax",
                        "jne 401136 <pragma_kernel+0x16>"}));
  EXPECT_EQ(source.refusal, "");
  EXPECT_EQ(source.text, ".Lloop:\nvmovups (%rax), %ymm0\ncmpq %rcx, %rax\njne .Lloop\n");
}

TEST(PrepareLoop, ALoopThatCallsIsRefusedWithTheCallee) {
  const McaSource source = PrepareLoop(Body({"call expf@PLT", "decq %rax", "jne .L1"}));
  EXPECT_THAT(source.refusal, HasSubstr("calls expf@PLT"));
}

TEST(PrepareLoop, OnlyOneBlockIsTaken) {
  for (const LoopBody& loop : {Body({"je .L9", "decq %rax", "jne .L1"}),
                               Body({"decq %rax", ".L7:", "incq %rax", "jne .L1"}),
                               Body({"decq %rax", "jmp *%rax"}), Body({"decq %rax", "ret"})}) {
    EXPECT_THAT(PrepareLoop(loop).refusal, HasSubstr("several blocks"));
  }
}

TEST(PrepareLoop, ForeignTextGivesNoDirectiveAndNoSecondLine) {
  EXPECT_NE(PrepareLoop(Body({})).refusal, "");
  EXPECT_NE(PrepareLoop(Body({"@@@ \x01\xff", "jne .L1"})).refusal, "");
  const McaSource source = PrepareLoop(
      Body({"incq %rax; .incbin \"/etc/passwd\"\n.include \"x\"", "incq %rax\r; jne .L1"}));
  EXPECT_THAT(source.text, Not(HasSubstr(".inc")));
}

TEST(ReadMca, ABottleneckReportHasItsFigures) {
  const auto report = ReadMca(
      "Iterations:        200\nInstructions:      1800\nTotal Cycles:      2408\n"
      "Total uOps:        1800\n\nDispatch Width:    6\nIPC:               0.75\n"
      "Block RThroughput: 12.0\n\n\nCycles with backend pressure increase [ 88.00% ]\n"
      "Throughput Bottlenecks: \n  Resource Pressure       [ 88.00% ]\n  - Zn4FP45  [ 9.68% ]\n"
      "  - Zn4FP1  [ 88.00% ]\n  Data Dependencies:      [ 59.51% ]\n"
      "  - Register Dependencies [ 59.51% ]\n  - Memory Dependencies   [ 2.00% ]\n\n"
      "Critical sequence based on the simulation:\n\n"
      "              Instruction                                 Dependency Information\n"
      " +----< 1.    vdivps\t%zmm0, %zmm3, %zmm4\n |\n |    < loop carried > \n |\n"
      " +----> 0.    vdivps\t%zmm0, %zmm1, %zmm2   ## RESOURCE interference:  Zn4FP1 [ "
      "probability: 88% ]\n +----> 1.    vaddps\t%zmm0, %zmm3, %zmm4 ## REGISTER dependency:  "
      "%zmm4\n\nInstruction Info:\n[1]: #uOps\n\nResources:\n[0]   - Zn4FP1\n[1.0] - Zn4LSU\n"
      "[1.1] - Zn4LSU\n\nResource pressure per iteration:\n[0]    [1.0]    [1.1]\n -     12.00  "
      "0.50   \n\nResource pressure by instruction:\n[0]    [1.0]\n 9.00    1.00 vdivps\n");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->cycles, 2408);
  EXPECT_EQ(report->block_throughput, 12);
  EXPECT_DOUBLE_EQ(report->resource_share, 0.88);
  EXPECT_DOUBLE_EQ(report->register_share, 0.5951);
  EXPECT_DOUBLE_EQ(report->memory_share, 0.02);
  ASSERT_EQ(report->pressed.size(), 2U);
  EXPECT_EQ(report->pressed.front().name, "Zn4FP1");
  ASSERT_EQ(report->ports.size(), 2U);
  EXPECT_EQ(report->ports.front().name, "Zn4LSU");
  EXPECT_EQ(report->ports.front().value, 12);
  ASSERT_EQ(report->chain.size(), 2U);
  EXPECT_EQ(report->chain[0].cause, "resource Zn4FP1");
  EXPECT_EQ(report->chain[1].instruction, "vaddps %zmm0, %zmm3, %zmm4");
  EXPECT_EQ(report->chain[1].cause, "register %zmm4");
}

TEST(ReadMca, ALoopWithoutBottleneckHasNoShares) {
  const auto report = ReadMca(
      "Iterations:        200\nTotal Cycles:      204\nBlock RThroughput: 1.0\n\n\n"
      "No resource or data dependency bottlenecks discovered.\n");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->register_share, 0);
  EXPECT_TRUE(report->chain.empty());
}

TEST(ReadMca, OtherTextIsNoReport) {
  EXPECT_FALSE(ReadMca(""));
  EXPECT_FALSE(ReadMca("error: no assembly instructions found.\n"));
  EXPECT_FALSE(ReadMca("Iterations: -3\nTotal Cycles: 1e999\n"));
}

#endif

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
