// Tests the bytes that passes move: once where the data of an iteration stay in a cache, and again
// where they do not.
#include "expert/plan/traffic.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/nest_testing.h"
#include "expert/plan/nest.h"
#include "expert/plan/plan_nests.h"

namespace pragma::expert {
namespace {

// Returns the bytes moved by out = x / sum of each row of x.
PlannedBytes OfShares(std::int64_t rows, std::int64_t columns, const KernelTarget& target) {
  const Shape shape{rows, columns};
  Program program;
  program.buffers = {{Buffer::Kind::kArgument, "x", DType::kFloat32, shape},
                     {Buffer::Kind::kOutput, "out", DType::kFloat32, shape},
                     {Buffer::Kind::kScratch, "sum", DType::kFloat32, {rows}}};
  const ExprPtr sum = LoadOf(2, {{1, 0}, 0}, ExprType::kFloat);
  program.steps = {Of(Step::Kind::kFold, shape, Row(0, columns), 2, {{1, 0}, 0}),
                   Of(Step::Kind::kMap, shape, Make(ExprOp::kDivide, {Row(0, columns), sum}), 1,
                      {{columns, 1}, 0})};
  return BytesMoved(program, PlanNests(program), target);
}

KernelTarget Target() {
  KernelTarget target;
  target.threads = 2;
  target.private_cache_bytes = 1 << 20;
  target.shared_cache_bytes = 1 << 25;
  return target;
}

TEST(BytesMoved, CountsRowsThatStayInACacheOnce) {
  constexpr std::int64_t kBytes = std::int64_t{4096} * 4096 * 4;
  const PlannedBytes moved = OfShares(4096, 4096, Target());
  EXPECT_EQ(moved.read, kBytes);
  EXPECT_EQ(moved.written, kBytes);
}

TEST(BytesMoved, CountsRowsThatNoCacheHoldsForEachPass) {
  constexpr std::int64_t kBytes = std::int64_t{16} * (1 << 23) * 4;  // 16 rows of 32 MiB
  const PlannedBytes moved = OfShares(16, 1 << 23, Target());
  EXPECT_EQ(moved.read, 2 * kBytes);
  EXPECT_EQ(moved.written, kBytes);
}

TEST(BytesMoved, DoesNotReadWhatTheSamePassMade) {
  constexpr std::int64_t kRows = 4096;
  const Shape shape{kRows, 4096};
  Program program;
  program.buffers = {{Buffer::Kind::kArgument, "x", DType::kFloat32, shape},
                     {Buffer::Kind::kOutput, "power", DType::kFloat32, shape},
                     {Buffer::Kind::kOutput, "sum", DType::kFloat32, {kRows}}};
  program.steps = {
      Of(Step::Kind::kMap, shape, Make(ExprOp::kExp, {Row(0, 4096)}), 1, {{4096, 1}, 0}),
      Of(Step::Kind::kFold, shape, Row(1, 4096), 2, {{1, 0}, 0})};
  const PlannedBytes moved = BytesMoved(program, PlanNests(program), Target());
  EXPECT_EQ(moved.read, kRows * 4096 * 4);
}

TEST(WorkingSet, IsWhatOneOuterIterationReads) {
  const Shape shape{100, 300};
  Program program;
  program.buffers = {{Buffer::Kind::kArgument, "x", DType::kFloat32, shape},
                     {Buffer::Kind::kOutput, "out", DType::kFloat32, {100}}};
  program.steps = {Of(Step::Kind::kFold, shape, Row(0, 300), 1, {{1, 0}, 0})};
  const std::vector<Nest> nests = PlanNests(program);
  ASSERT_EQ(nests.size(), 1U);
  EXPECT_EQ(WorkingSet(program, nests[0]), 300 * 4);
}

}  // namespace
}  // namespace pragma::expert
