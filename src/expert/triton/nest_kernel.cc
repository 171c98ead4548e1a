#include "expert/triton/nest_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/one_pass.h"
#include "expert/triton/operators.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_fold.h"
#include "expert/triton/tile_index.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {
namespace {

constexpr Axes kRowAxis = 1;
constexpr Axes kInnerAxis = 2;

std::vector<TileAxis> AxesOf(const Nest& nest, Inner inner, const std::vector<Config>& configs) {
  TileAxis outer{"row", "[:, None]", {}, ""};
  TileAxis folded{"column", "[None, :]", {}, ""};
  for (std::size_t i = 0; i < nest.shape.size(); ++i)
    (nest.inner[i] ? folded : outer).dims.push_back(i);
  const auto leaves = [](std::int64_t count, int block) { return count % block != 0; };
  if (inner == Inner::kNone) {
    outer.index = "at";
    outer.suffix = "";
    if (leaves(Elements(nest.shape), LargestOf(configs, "BLOCK"))) outer.inside = "inside";
    return {outer};
  }
  if (leaves(nest.OuterCount(), LargestOf(configs, "ROWS"))) outer.inside = "row_inside";
  if (inner == Inner::kTaps) {
    outer.suffix = "";
    folded.index = "tap";
    folded.suffix = "";
  } else if (leaves(nest.InnerCount(), LargestOf(configs, "COLUMNS"))) {
    folded.inside = "column_inside";
  }
  return {outer, folded};
}

class NestWriter final {
 public:
  NestWriter(const Program& program, const Nest& nest, std::int64_t whole_row)
      : program_(program),
        nest_(nest),
        inner_(InnerOf(nest, whole_row)),
        configs_(ConfigsOf(nest, inner_)),
        wide_(NeedsWideIndex(program, nest)),
        names_(NamesFor(program)),
        index_(nest.shape, AxesOf(nest, inner_, configs_)),
        values_(program, index_, names_) {}

  KernelText Write() {
    for (const Step& step : nest_.steps) values_.CountUses(step.expr);
    for (std::size_t p = 0; p < nest_.phases.size(); ++p) {
      if (nest_.phases[p].outer || !Loops()) {
        WriteStraight(nest_.phases[p]);
      } else if (WriteOnePass(p)) {
        ++p;
      } else {
        WriteLoop(nest_.phases[p]);
      }
    }
    KernelText kernel;
    PyLines head(1);
    WriteRows(head);
    if (inner_ == Inner::kWhole) {
      head.Line(ColumnsFrom("tl.arange(0, COLUMNS)"));
      index_.Define(1, head);
    }
    kernel.body = head.text() + out_.text();
    kernel.uses_library = uses_library_;
    AddUses(values_, kernel);
    kernel.configs = configs_;
    kernel.helpers = helpers_;
    const bool map = inner_ == Inner::kNone;
    kernel.grid = {{map ? Elements(nest_.shape) : nest_.OuterCount(), map ? "BLOCK" : "ROWS"}};
    return kernel;
  }

 private:
  [[nodiscard]] bool Loops() const { return inner_ == Inner::kBlocks || inner_ == Inner::kTaps; }
  [[nodiscard]] bool Tiles() const { return inner_ == Inner::kBlocks || inner_ == Inner::kWhole; }

  void WriteRows(PyLines& out) {
    const std::string block = inner_ == Inner::kNone ? "BLOCK" : "ROWS";
    out.Line(fmt::format("{} = tl.program_id(0){} * {} + tl.arange(0, {})", index_.axes()[0].index,
                         wide_ ? ".to(tl.int64)" : "", block, block));
    index_.Define(0, out);
  }
  [[nodiscard]] std::string ColumnsFrom(const std::string& text) const {
    return wide_ ? fmt::format("column = ({}).to(tl.int64)", text) : "column = " + text;
  }

  [[nodiscard]] TileFold FoldOf(const Step& step) const {
    TileFold fold{step.fold, step.expr->type, fold_names_.at(&step),
                  Tiles() ? "(ROWS, COLUMNS)" : "(ROWS,)"};
    if (IsArgFold(step.fold) && fold.type == ExprType::kBool) fold.type = ExprType::kInt;
    return fold;
  }
  void NameFold(const Step& step) { fold_names_[&step] = names_.New(step.name); }

  [[nodiscard]] std::string Position(const Step& step) {
    return IsArgFold(step.fold) ? index_.Text(step.position).code : "";
  }
  void StoreIfNeeded(const Step& step, const TileText& value, PyLines& out) {
    if (!nest_.forwarded.contains(step.buffer)) values_.Store(out, step.buffer, step.place, value);
  }
  // Publishes the result of a reduction, which is one value per row.
  void FinishFold(const Step& step) {
    const TileFold fold = FoldOf(step);
    TileText value{fold.name, kRowAxis, step.expr->type};
    if (IsArgFold(step.fold)) {
      value = {fold.name + "_place", kRowAxis, ExprType::kInt};
    } else if (step.expr->type == ExprType::kBool) {
      value.code = fmt::format("({} != 0)", fold.name);
    }
    values_.Keep(step.buffer, value);
    StoreIfNeeded(step, value, out_);
  }

  // ---- Everything in one tile, or once per row.

  void WriteStraight(const Phase& phase) {
    values_.Begin(&out_, &out_, 0);
    for (const std::size_t s : phase.steps) {
      const Step& step = nest_.steps[s];
      TileText value = values_.Write(step.expr);
      if (step.kind == Step::Kind::kFold) {
        FoldTile(step, value);
        continue;
      }
      if (step.kind == Step::Kind::kScan) value = ScanTile(step, value);
      if (value.axes != 0) value = values_.Named(step.name, value);
      StoreIfNeeded(step, value, out_);
      values_.Keep(step.buffer, value);
    }
  }
  // Broadcasts a value to the full tile. A reduced value must be present once for each element it
  // counts for.
  [[nodiscard]] std::string FullTile(const TileText& value, std::string code) const {
    const bool full = (value.axes & kInnerAxis) != 0 || !index_.Inside(kInnerAxis).empty();
    return full ? code : fmt::format("tl.broadcast_to({}, (ROWS, COLUMNS))", code);
  }
  void FoldTile(const Step& step, const TileText& value) {
    NameFold(step);
    const TileFold fold = FoldOf(step);
    std::string code = FullTile(value, Guarded(fold, value.code, index_.Inside(kInnerAxis)));
    std::string position = Position(step);
    if (IsArgFold(step.fold)) {
      code = fmt::format("tl.broadcast_to({}, (ROWS, COLUMNS))", code);
      position = fmt::format("tl.broadcast_to({}, (ROWS, COLUMNS))", GuardedPlace(position));
    }
    ReduceFold(fold, code, position, helpers_, out_);
    FinishFold(step);
  }
  [[nodiscard]] std::string GuardedPlace(const std::string& position) const {
    const std::string inside = index_.Inside(kInnerAxis);
    return inside.empty() ? position
                          : fmt::format("tl.where({}, {}, {})", inside, position, kNoPlace);
  }
  [[nodiscard]] TileText ScanTile(const Step& step, const TileText& value) {
    TileFold fold{step.fold, step.expr->type, step.name, ""};
    const std::string code = FullTile(value, Guarded(fold, value.code, index_.Inside(kInnerAxis)));
    return {RunningText(fold, code, helpers_), kRowAxis | kInnerAxis, value.type};
  }

  // ---- A loop over tiles or taps.

  void WriteLoop(const Phase& phase) {
    PyLines before(1);
    PyLines body(2);
    values_.Begin(&before, &body, kInnerAxis);
    for (const std::size_t s : phase.steps) {
      const Step& step = nest_.steps[s];
      TileText value = values_.Write(step.expr);
      if (step.kind == Step::Kind::kFold) {
        AddInLoop(step, value, before, body);
        continue;
      }
      if (step.kind == Step::Kind::kScan) value = ScanInLoop(step, value, before, body);
      if (value.axes != 0) value = values_.Named(step.name, value);
      StoreIfNeeded(step, value, body);
      values_.KeepHere(step.buffer, value);
    }
    EmitLoop(before, body);
    AfterLoop(phase);
  }
  void EmitLoop(const PyLines& before, const PyLines& body) {
    out_.Append(before);
    OpenLoop();
    index_.Define(1, out_);
    out_.Append(body);
    out_.Close();
  }

  // ---- Two reductions in one pass over tiles.

  bool WriteOnePass(std::size_t p) {
    if (inner_ != Inner::kBlocks || p + 1 >= nest_.phases.size()) return false;
    const Phase& first = nest_.phases[p];
    const Phase& second = nest_.phases[p + 1];
    if (const std::optional<Spread> spread = SpreadOf(nest_, first, second);
        spread && first.steps.size() == 1) {
      WriteSpread(*spread);
    } else if (const std::optional<Powers> powers = PowersOf(nest_, first, second)) {
      WritePowers(*powers);
      if (second.steps.size() == 2) {
        const Step& kept = nest_.steps[second.steps[0]];
        values_.Recompute(kept.buffer, kept.expr);
      }
    } else {
      return false;
    }
    return true;
  }

  std::string LoopValue(const ExprPtr& expr, PyLines& before, PyLines& body) {
    values_.Begin(&before, &body, kInnerAxis);
    const TileText value = values_.Write(expr);
    return value.axes == 0 ? value.code : values_.Named("value", value).code;
  }
  void KeepFold(const Step& step, const std::string& name) {
    const TileText value{name, kRowAxis, ExprType::kFloat};
    values_.Keep(step.buffer, value);
    StoreIfNeeded(step, value, out_);
  }

  // Each position of the tile keeps the mean of the values it has seen and the squared distances
  // from that mean (Welford). At the end they are combined around the common center.
  void WriteSpread(const Spread& spread) {
    PyLines before(1);
    PyLines body(2);
    const std::string value = LoopValue(spread.value, before, body);
    const std::string inside = index_.Inside(kInnerAxis);
    const std::string mean = names_.New("mean");
    const std::string squares = names_.New("squares");
    const std::string delta = names_.New("delta");
    const std::string count = names_.New("count");
    for (const std::string& name : {mean, squares})
      before.Line(fmt::format("{} = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)", name));
    const std::string difference = fmt::format("{} - {}", value, mean);
    body.Line(fmt::format(
        "{} = {}", delta,
        inside.empty() ? difference : fmt::format("tl.where({}, {}, 0.0)", inside, difference)));
    body.Line(fmt::format("{0} += {1} * (1.0 / (start // COLUMNS + 1))", mean, delta));
    const std::string rest = fmt::format("{} * ({} - {})", delta, value, mean);
    body.Line(
        fmt::format("{} += {}", squares,
                    inside.empty() ? rest : fmt::format("tl.where({}, {}, 0.0)", inside, rest)));
    EmitLoop(before, body);
    const std::int64_t total = nest_.InnerCount();
    out_.Line(inside.empty()
                  ? fmt::format("{} = {} // COLUMNS * 1.0", count, total)
                  : fmt::format("{} = (({} - tl.arange(0, COLUMNS)[None, :]) // COLUMNS + 1) * 1.0",
                                count, total - 1));
    const Step& sum = nest_.steps[spread.sum];
    const Step& fold = nest_.steps[spread.fold];
    const std::string sum_name = names_.New(sum.name);
    out_.Line(fmt::format("{} = tl.sum({} * {}, axis=1, keep_dims=True)", sum_name, mean, count));
    KeepFold(sum, sum_name);
    values_.Begin(&out_, &out_, 0);
    const std::string center = values_.Named("center", values_.Write(spread.center)).code;
    const std::string fold_name = names_.New(fold.name);
    out_.Line(fmt::format("{} = tl.sum({} + {} * ({} - {}) * ({} - {}), axis=1, keep_dims=True)",
                          fold_name, squares, count, mean, center, mean, center));
    KeepFold(fold, fold_name);
  }

  // Each position of the tile keeps its maximum so far and the sum of exponentials relative to it.
  void WritePowers(const Powers& powers) {
    PyLines before(1);
    PyLines body(2);
    const Step& largest = nest_.steps[powers.largest];
    const Step& sum = nest_.steps[powers.sum];
    std::string value = LoopValue(powers.value, before, body);
    const std::string inside = index_.Inside(kInnerAxis);
    if (!inside.empty()) value = fmt::format("tl.where({}, {}, -float(\"inf\"))", inside, value);
    const std::string most = names_.New("most");
    const std::string total = names_.New("powers");
    const std::string delta = names_.New("delta");
    const std::string power = names_.New("power");
    uses_library_ = true;
    before.Line(fmt::format("{} = tl.full((ROWS, COLUMNS), -3.4e38, tl.float32)", most));
    before.Line(fmt::format("{} = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)", total));
    body.Line(fmt::format("{} = {} - {}", delta, value, most));
    body.Line(fmt::format("{} = libdevice.exp(-tl.abs({}))", power, delta));
    body.Line(
        fmt::format("{0} = tl.where({1} > 0, {0} * {2} + 1.0, {0} + {2})", total, delta, power));
    body.Line(fmt::format("{0} = {1}", most, ExtremeText(true, most, value, ExprType::kFloat)));
    EmitLoop(before, body);
    const TileFold fold{Fold::kMax, ExprType::kFloat, names_.New(largest.name), ""};
    ReduceFold(fold, most, "", helpers_, out_);
    KeepFold(largest, fold.name);
    const std::string sum_name = names_.New(sum.name);
    out_.Line(fmt::format("{} = tl.sum({} * libdevice.exp({} - {}), axis=1, keep_dims=True)",
                          sum_name, total, most, fold.name));
    KeepFold(sum, sum_name);
  }

  void OpenLoop() {
    const std::int64_t count = nest_.InnerCount();
    if (inner_ == Inner::kTaps) {
      const char* range = count <= kUnrolledTaps ? "tl.static_range" : "range";
      return out_.Open(fmt::format("for tap in {}({}):", range, count));
    }
    out_.Open(fmt::format("for start in range(0, {}, COLUMNS):", count));
    out_.Line(ColumnsFrom("start + tl.arange(0, COLUMNS)"));
  }
  void AddInLoop(const Step& step, const TileText& value, PyLines& before, PyLines& body) {
    NameFold(step);
    const TileFold fold = FoldOf(step);
    DeclareFold(fold, before);
    AddToFold(fold, Guarded(fold, value.code, index_.Inside(kInnerAxis)),
              IsArgFold(step.fold) ? GuardedPlace(Position(step)) : "", helpers_, body);
  }
  TileText ScanInLoop(const Step& step, const TileText& value, PyLines& before, PyLines& body) {
    TileFold fold{step.fold, step.expr->type, names_.New(step.name + "_before"), "(ROWS, 1)"};
    DeclareFold(fold, before);
    const std::string guarded = names_.New(step.name + "_value");
    body.Line(fmt::format("{} = {}", guarded,
                          FullTile(value, Guarded(fold, value.code, index_.Inside(kInnerAxis)))));
    const std::string running = names_.New(step.name + "_running");
    body.Line(fmt::format(
        "{} = {}", running,
        CombinedText(fold.fold, fold.type, fold.name, RunningText(fold, guarded, helpers_))));
    body.Line(fmt::format(
        "{} = {}", fold.name,
        CombinedText(fold.fold, fold.type, fold.name, ReducedText(fold, guarded, helpers_))));
    return {running, kRowAxis | kInnerAxis, value.type};
  }
  void AfterLoop(const Phase& phase) {
    for (const std::size_t s : phase.steps) {
      const Step& step = nest_.steps[s];
      if (step.kind == Step::Kind::kMap) values_.Recompute(step.buffer, step.expr);
      if (step.kind != Step::Kind::kFold) continue;
      const TileFold fold = FoldOf(step);
      if (Tiles()) ReduceFold(fold, fold.name, fold.name + "_place", helpers_, out_);
      FinishFold(step);
    }
  }

  const Program& program_;
  const Nest& nest_;
  Inner inner_;
  std::vector<Config> configs_;
  bool wide_;
  Names names_;
  TileIndex index_;
  TileValues values_;
  Helpers helpers_;
  bool uses_library_ = false;
  PyLines out_{1};
  std::map<const Step*, std::string> fold_names_;
};

}  // namespace

KernelText NestKernel(const Program& program, const Nest& nest, const std::string& name,
                      std::int64_t whole_row) {
  KernelText kernel = NestWriter(program, nest, whole_row).Write();
  kernel.name = name;
  return kernel;
}

Names NamesFor(const Program& program) {
  Names names;
  for (const Buffer& buffer : program.buffers) (void)names.New(buffer.name);
  for (const char* taken : {"row", "column", "tap", "at", "inside", "row_inside", "column_inside",
                            "start", "tl", "libdevice", "triton", "torch", "range"})
    (void)names.New(taken);
  return names;
}

bool NeedsWideIndex(std::int64_t elements) {
  return elements > (std::int64_t{1} << 31) - (std::int64_t{1} << 20);
}

bool NeedsWideIndex(const Program& program, const Nest& nest) {
  bool wide = false;
  const auto look = [&](int buffer) {
    wide =
        wide || NeedsWideIndex(Elements(program.buffers[static_cast<std::size_t>(buffer)].shape));
  };
  for (const Step& step : nest.steps) {
    look(step.buffer);
    VisitLoads(step.expr, [&](const Load& load, ExprType) { look(load.buffer); });
  }
  return wide || NeedsWideIndex(nest.OuterCount());
}

}  // namespace pragma::expert::triton
