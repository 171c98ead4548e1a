// Tests that results which a nest reads again are held in a row for each thread, where the output
// can then be written with non-temporal stores.
#include "expert/plan/past_caches.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/emit_nest.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/nest_testing.h"
#include "expert/plan/nest.h"
#include "expert/plan/plan_nests.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kRows = 256;

// power = exp(x) and out = power / sum of each row of power. The plan stores `power` in `out`.
struct Shares {
  explicit Shares(std::int64_t columns) {
    const Shape shape{kRows, columns};
    program.buffers = {{Buffer::Kind::kArgument, "x", DType::kFloat32, shape},
                       {Buffer::Kind::kOutput, "out", DType::kFloat32, shape},
                       {Buffer::Kind::kScratch, "power", DType::kFloat32, shape},
                       {Buffer::Kind::kScratch, "sum", DType::kFloat32, {kRows}}};
    const AffineForm place{{columns, 1}, 0};
    const ExprPtr sum = LoadOf(3, {{1, 0}, 0}, ExprType::kFloat);
    program.steps = {
        Of(Step::Kind::kMap, shape, Make(ExprOp::kExp, {Row(0, columns)}), 2, place),
        Of(Step::Kind::kFold, shape, Row(2, columns), 3, {{1, 0}, 0}),
        Of(Step::Kind::kMap, shape, Make(ExprOp::kDivide, {Row(2, columns), sum}), 1, place)};
    nest = PlanNests(program).at(0);
  }

  [[nodiscard]] std::optional<HeldRows> Held(std::int64_t stream_bytes) const {
    return HoldRows(program, nest, Choices(stream_bytes));
  }

  [[nodiscard]] std::string Written(bool threads) const {
    NestChoices choices = Choices(0);
    choices.threads = threads;
    choices.name = "SHARES";
    Needs needs;
    Writer out;
    EmitNest(program, nest, choices, needs, out);
    return out.text();
  }

  static NestChoices Choices(std::int64_t stream_bytes) {
    NestChoices choices;
    choices.stream_bytes = stream_bytes;
    choices.threads_count = 2;
    choices.private_cache_bytes = 1 << 20;
    choices.shared_cache_bytes = 1 << 25;
    return choices;
  }

  Program program;
  Nest nest;
};

TEST(HoldRows, OnlyTheLastPassWritesTheOutput) {
  const std::optional<HeldRows> held = Shares(1024).Held(0);
  ASSERT_TRUE(held);
  ASSERT_EQ(held->nest.rows.size(), 1U);
  const int row = *held->nest.rows.begin();
  EXPECT_EQ(held->nest.steps[0].buffer, row);
  EXPECT_EQ(held->nest.steps[0].place, (AffineForm{{0, 1}, 0}));
  EXPECT_EQ(held->nest.steps[2].buffer, 1);
  EXPECT_FALSE(Reads(held->nest, 1));
  EXPECT_EQ(Elements(held->program.buffers[static_cast<std::size_t>(row)].shape), 1024);
}

TEST(HoldRows, NotWhereTheOutputStaysInACache) {
  EXPECT_FALSE(Shares(1024).Held(std::int64_t{1} << 30));
}

TEST(HoldRows, NotWhereTheCacheHasNoRoomForTheRow) { EXPECT_FALSE(Shares(1 << 17).Held(0)); }

TEST(HoldRows, NotWhereTheOutputsRowsAreNotAligned) { EXPECT_FALSE(Shares(1000).Held(0)); }

TEST(HoldRows, NotWhereTheFirstResultIsReadInOtherPlaces) {
  Shares shares(1024);
  shares.nest.steps[2].expr =
      WithForms(shares.nest.steps[2].expr, [](const AffineForm& form) -> std::optional<AffineForm> {
        return form.factor[1] == 0 ? form : AffineForm{form.factor, form.offset + 1};
      });
  EXPECT_FALSE(shares.Held(0));
}

TEST(HoldRows, EachThreadHasItsRow) {
  const std::string text = Shares(1024).Written(true);
  const std::size_t region = text.find("#pragma omp parallel\n");
  const std::size_t row = text.find("alignas(64) float out_row[1024];");
  const std::size_t loop = text.find("#pragma omp for ");
  ASSERT_NE(loop, std::string::npos) << text;
  EXPECT_LT(region, row) << text;
  EXPECT_LT(row, loop) << text;
  EXPECT_NE(text.find("StreamLanes(out + "), std::string::npos) << text;
  EXPECT_EQ(text.find("LoadLanes(out + "), std::string::npos) << text;
}

TEST(HoldRows, TheRowEndsWithItsNestWithoutThreadsToo) {
  const std::string text = Shares(1024).Written(false);
  EXPECT_LT(text.find("\n{\n"), text.find("out_row[")) << text;
  EXPECT_TRUE(text.ends_with("}\n")) << text;
}

// Returns the code for out = the maximum of each column, or of each row, of each matrix of x.
std::string WrittenLargest(bool columns, std::int64_t stream_bytes) {
  const Shape shape{64, 32, 128};
  Program program;
  program.buffers = {{Buffer::Kind::kArgument, "x", DType::kFloat32, shape},
                     {Buffer::Kind::kOutput, "out", DType::kFloat32, {64, columns ? 128 : 32}}};
  const ExprPtr load = LoadOf(0, ContiguousForm(shape), ExprType::kFloat);
  Step step = Of(Step::Kind::kFold, shape, load, 1,
                 columns ? AffineForm{{128, 0, 1}, 0} : AffineForm{{32, 1, 0}, 0});
  step.folded = {false, columns, !columns};
  step.fold = Fold::kMax;
  program.steps = {step};
  NestChoices choices = Shares::Choices(stream_bytes);
  choices.name = "LARGEST";
  Needs needs;
  Writer out;
  EmitNest(program, PlanNests(program).at(0), choices, needs, out);
  return out.text();
}

TEST(GoesPast, AlsoWhatIsFoldedDownColumns) {
  const std::string text = WrittenLargest(true, 0);
  EXPECT_NE(text.find("StreamLanes(out + "), std::string::npos) << text;
  EXPECT_NE(text.find("StreamEnd();"), std::string::npos) << text;
}

TEST(GoesPast, NotWhatACacheHolds) {
  const std::string text = WrittenLargest(true, std::int64_t{1} << 30);
  EXPECT_NE(text.find("StoreLanes(out + "), std::string::npos) << text;
  EXPECT_EQ(text.find("Stream"), std::string::npos) << text;
}

TEST(GoesPast, NotWhatAFoldAlongRowsStoresOneByOne) {
  EXPECT_EQ(WrittenLargest(false, 0).find("Stream"), std::string::npos);
}

}  // namespace
}  // namespace pragma::expert
