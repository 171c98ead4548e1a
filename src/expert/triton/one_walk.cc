#include "expert/triton/one_walk.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/one_pass.h"
#include "expert/triton/operators.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_context.h"
#include "expert/triton/tile_fold.h"
#include "expert/triton/tile_loop.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

// Returns the value of each element, with a name where it varies.
std::string ElementValue(TileContext& context, const ExprPtr& expr, PyLines& before,
                         PyLines& body) {
  context.values.Begin(&before, &body, kInnerAxis);
  const TileText value = context.values.Write(expr);
  return value.axes == 0 ? value.code : context.values.Named("value", value).code;
}

void KeepFold(TileContext& context, const Step& step, const std::string& name) {
  const TileText value{name, kRowAxis, ExprType::kFloat};
  context.values.Keep(step.buffer, value);
  StoreIfNeeded(context, step, value, context.out);
}

std::string WhereInside(const std::string& inside, const std::string& value,
                        const char* otherwise) {
  return inside.empty() ? value : fmt::format("tl.where({}, {}, {})", inside, value, otherwise);
}

// Each position of the tile keeps the mean of the values it has seen and the squared distances from
// that mean (Welford). At the end they are combined around the common center.
class WelfordWriter final {
 public:
  WelfordWriter(TileContext& context, const Spread& spread)
      : context_(context), spread_(spread), inside_(context.index.Inside(kInnerAxis)) {}

  void Write() {
    WriteLoop();
    WriteCount();
    WriteTotals();
  }

 private:
  void WriteLoop() {
    PyLines before(1);
    PyLines body(2);
    const std::string value = ElementValue(context_, spread_.value, before, body);
    mean_ = context_.names.New("mean");
    squares_ = context_.names.New("squares");
    const std::string delta = context_.names.New("delta");
    count_ = context_.names.New("count");
    for (const std::string& name : {mean_, squares_})
      before.Line(fmt::format("{} = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)", name));
    const auto counted = [&](const std::string& code) { return WhereInside(inside_, code, "0.0"); };
    body.Line(fmt::format("{} = {}", delta, counted(fmt::format("{} - {}", value, mean_))));
    body.Line(fmt::format("{0} += {1} * (1.0 / (start // COLUMNS + 1))", mean_, delta));
    const std::string rest = fmt::format("{} * ({} - {})", delta, value, mean_);
    body.Line(fmt::format("{} += {}", squares_, counted(rest)));
    EmitTileLoop(context_, before, body);
  }

  // Writes how many values each position has seen.
  void WriteCount() {
    const std::int64_t total = context_.nest.InnerCount();
    context_.out.Line(
        inside_.empty()
            ? fmt::format("{} = {} // COLUMNS * 1.0", count_, total)
            : fmt::format("{} = (({} - tl.arange(0, COLUMNS)[None, :]) // COLUMNS + 1) * 1.0",
                          count_, total - 1));
  }

  void WriteTotals() {
    PyLines& out = context_.out;
    const Step& sum = context_.nest.steps[spread_.sum];
    const Step& fold = context_.nest.steps[spread_.fold];
    const std::string sum_name = context_.names.New(sum.name);
    out.Line(fmt::format("{} = tl.sum({} * {}, axis=1, keep_dims=True)", sum_name, mean_, count_));
    KeepFold(context_, sum, sum_name);
    context_.values.Begin(&out, &out, 0);
    const std::string center =
        context_.values.Named("center", context_.values.Write(spread_.center)).code;
    const std::string fold_name = context_.names.New(fold.name);
    out.Line(
        fmt::format("{0} = tl.sum({1} + {2} * ({3} - {4}) * ({3} - {4}), axis=1, "
                    "keep_dims=True)",
                    fold_name, squares_, count_, mean_, center));
    KeepFold(context_, fold, fold_name);
  }

  TileContext& context_;
  const Spread& spread_;
  std::string inside_;
  std::string mean_;
  std::string squares_;
  std::string count_;
};

std::string ExpText(TileContext& context, const std::string& argument) {
  context.uses_library = context.uses_library || NeedsLibrary(ExprOp::kExp, ExprType::kFloat);
  return OperatorText(ExprOp::kExp, ExprType::kFloat, argument);
}

// Each position of the tile keeps its maximum so far and the sum of exponentials relative to it.
void WritePowers(TileContext& context, const Powers& powers) {
  PyLines before(1);
  PyLines body(2);
  const Step& largest = context.nest.steps[powers.largest];
  const Step& sum = context.nest.steps[powers.sum];
  const std::string value =
      WhereInside(context.index.Inside(kInnerAxis),
                  ElementValue(context, powers.value, before, body), "-float(\"inf\")");
  const std::string most = context.names.New("most");
  const std::string total = context.names.New("powers");
  const std::string delta = context.names.New("delta");
  const std::string power = context.names.New("power");
  before.Line(fmt::format("{} = tl.full((ROWS, COLUMNS), -3.4e38, tl.float32)", most));
  before.Line(fmt::format("{} = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)", total));
  body.Line(fmt::format("{} = {} - {}", delta, value, most));
  body.Line(fmt::format("{} = {}", power, ExpText(context, fmt::format("-tl.abs({})", delta))));
  body.Line(
      fmt::format("{0} = tl.where({1} > 0, {0} * {2} + 1.0, {0} + {2})", total, delta, power));
  body.Line(fmt::format("{0} = {1}", most, ExtremeText(true, most, value, ExprType::kFloat)));
  EmitTileLoop(context, before, body);
  const TileFold fold{Fold::kMax, ExprType::kFloat, context.names.New(largest.name), ""};
  ReduceFold(fold, most, "", context.helpers, context.out);
  KeepFold(context, largest, fold.name);
  const std::string sum_name = context.names.New(sum.name);
  context.out.Line(fmt::format("{} = tl.sum({} * {}, axis=1, keep_dims=True)", sum_name, total,
                               ExpText(context, fmt::format("{} - {}", most, fold.name))));
  KeepFold(context, sum, sum_name);
}

}  // namespace

bool WriteOneWalk(TileContext& context, std::size_t p) {
  const Nest& nest = context.nest;
  if (context.inner != Inner::kBlocks || p + 1 >= nest.phases.size()) return false;
  const Phase& first = nest.phases[p];
  const Phase& second = nest.phases[p + 1];
  if (const std::optional<Spread> spread = SpreadOf(nest, first, second);
      spread && first.steps.size() == 1) {
    WelfordWriter(context, *spread).Write();
    return true;
  }
  const std::optional<Powers> powers = PowersOf(nest, first, second);
  if (!powers) return false;
  WritePowers(context, *powers);
  if (second.steps.size() == 2) {
    const Step& kept = nest.steps[second.steps[0]];
    context.values.Recompute(kept.buffer, kept.expr);
  }
  return true;
}

}  // namespace pragma::expert::triton
