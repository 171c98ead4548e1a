// Tests which passes prefetch their data.
#include "expert/cpp/nest_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/task.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/emit_nest.h"
#include "expert/cpp/writer.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/nest_testing.h"
#include "expert/plan/nest.h"
#include "expert/plan/plan_nests.h"

namespace pragma::expert {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kRows = 256;
constexpr std::int64_t kColumns = 1024;

// Returns the code of a step over a matrix, which does not fit in the caches where these are small.
std::string Written(const Step& step, const Buffer& out, std::int64_t shared_cache_bytes) {
  Program program;
  program.buffers = {{Buffer::Kind::kArgument, "x", DType::kFloat32, {kRows, kColumns}}, out};
  program.steps = {step};
  NestChoices choices;
  choices.name = "OUT";
  choices.threads_count = 2;
  choices.private_cache_bytes = 1 << 18;
  choices.shared_cache_bytes = shared_cache_bytes;
  Needs needs;
  Writer text;
  EmitNest(program, PlanNests(program).at(0), choices, needs, text);
  return text.text();
}

// Returns the code of a reduction along the rows of the matrix.
std::string Folded(Fold fold, std::int64_t shared_cache_bytes) {
  Step step = Of(Step::Kind::kFold, {kRows, kColumns}, Row(0, kColumns), 1, {{1, 0}, 0});
  step.fold = fold;
  step.position = {{0, 1}, 0};
  const DType dtype = fold == Fold::kArgMax ? DType::kInt64 : DType::kFloat32;
  return Written(step, {Buffer::Kind::kOutput, "out", dtype, {kRows}}, shared_cache_bytes);
}

std::string Mapped() {
  const ExprPtr twice = Make(ExprOp::kAdd, {Row(0, kColumns), Row(0, kColumns)});
  return Written(Of(Step::Kind::kMap, {kRows, kColumns}, twice, 1, {{kColumns, 1}, 0}),
                 {Buffer::Kind::kOutput, "out", DType::kFloat32, {kRows, kColumns}}, 1 << 16);
}

TEST(NestAhead, APassThatWaitsForItselfAsksForMemory) {
  const std::string text = Folded(Fold::kArgMax, 1 << 16);
  EXPECT_THAT(text, HasSubstr("PRAGMA_TUNE(OUT_AHEAD, 1024, 0, 512, 1024);"));
  EXPECT_THAT(text, HasSubstr("Ahead(x + i * 1024 + e + OUT_AHEAD);"));
}

TEST(NestAhead, AMapAsksForEachLineOnce) {
  const std::string text = Mapped();
  EXPECT_THAT(text, HasSubstr("PRAGMA_TUNE(OUT_AHEAD, 512, 0, 512, 1024);"));
  EXPECT_THAT(text, HasSubstr("ForLanes<kLineParts>("));
  EXPECT_THAT(text, HasSubstr("if (OUT_AHEAD > 0 && u % kLineParts == 0) {"));
  EXPECT_EQ(text.find("Ahead("), text.rfind("Ahead("));  // both loads read the same line
}

TEST(NestAhead, IndependentSumsDoNot) {
  EXPECT_THAT(Folded(Fold::kSum, 1 << 16), Not(HasSubstr("Ahead(")));
}

TEST(NestAhead, NothingIsAskedForOfWhatACacheHolds) {
  EXPECT_THAT(Folded(Fold::kArgMax, 1 << 24), Not(HasSubstr("Ahead(")));
}

}  // namespace
}  // namespace pragma::expert
