// Which passes ask for memory before its turn.
#include "expert/nest_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/task.h"
#include "expert/emit_expression.h"
#include "expert/emit_nest.h"
#include "expert/nest.h"
#include "expert/nest_testing.h"
#include "expert/program.h"
#include "expert/writer.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kRows = 256;
constexpr std::int64_t kColumns = 1024;

// A matrix folded along its rows.
std::string Folded(Fold fold, std::int64_t shared_cache_bytes) {
  const Shape shape{kRows, kColumns};
  const bool position = fold == Fold::kArgMax;
  Program program;
  program.buffers = {
      {Buffer::Kind::kArgument, "x", DType::kFloat32, shape},
      {Buffer::Kind::kOutput, "out", position ? DType::kInt64 : DType::kFloat32, {kRows}}};
  Step step = Of(Step::Kind::kFold, shape, Row(0, kColumns), 1, {{1, 0}, 0});
  step.fold = fold;
  step.position = {{0, 1}, 0};
  program.steps = {step};
  NestChoices choices;
  choices.threads_count = 2;
  choices.private_cache_bytes = 1 << 18;
  choices.shared_cache_bytes = shared_cache_bytes;
  Needs needs;
  Writer out;
  EmitNest(program, PlanNests(program).at(0), choices, needs, out);
  return out.text();
}

TEST(NestAhead, APassThatWaitsForItselfAsksForMemory) {
  EXPECT_THAT(Folded(Fold::kArgMax, 1 << 16), HasSubstr("Ahead(x + i * 1024 + e + 1024);"));
}

TEST(NestAhead, IndependentSumsDoNot) {
  EXPECT_THAT(Folded(Fold::kSum, 1 << 16), Not(HasSubstr("Ahead(")));
}

TEST(NestAhead, NothingIsAskedForOfWhatACacheHolds) {
  EXPECT_THAT(Folded(Fold::kArgMax, 1 << 24), Not(HasSubstr("Ahead(")));
}

}  // namespace
}  // namespace pragma
