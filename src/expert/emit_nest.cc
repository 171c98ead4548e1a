#include "expert/emit_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expert/affine.h"
#include "expert/emit_expression.h"
#include "expert/expression.h"
#include "expert/nest.h"
#include "expert/nest_parts.h"
#include "expert/nest_spread.h"
#include "expert/program.h"
#include "expert/spread.h"
#include "expert/vector_preamble.h"
#include "expert/writer.h"

namespace pragma {
namespace {

constexpr std::int64_t kFewOuter = 16;  // fewer outer iterations than this are shared out in blocks

// Passes along rows and down columns.
class NestWriter final : public NestSpread {
 public:
  NestWriter(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
             Writer& out)
      : NestSpread(program, nest, choices, needs, out) {}

  void Write() {
    if (nest_.lane >= 0) needs_.vectors = true;
    DeclareTunables();
    if (FoldsEverything()) return WriteSharedFold();
    if (nest_.lane >= 0 && !nest_.LaneInside()) return WriteColumns();
    WriteRows();
  }

 private:
  void DeclareTunables() {
    const bool folds =
        std::ranges::any_of(nest_.phases, [&](const Phase& phase) { return Folds(phase); });
    const bool parts = FoldsEverything() || std::ranges::any_of(nest_.phases, [&](const Phase& p) {
                         return !p.outer && NeedsParts(p);
                       });
    if (nest_.LaneInside() && folds) chains_ = Tunable("CHAINS", kChains, {1, 2, 4, 8});
    if (SharesLaneOut() || (parts && CutsLane()) || SpreadCutsLane())
      block_ = Tunable("BLOCK", kBlock, {1024, 4096, 16384});
  }

  // ---- Rows: vectors run along an inner dimension, or there are none.

  void WriteRows() {
    const std::vector<std::size_t> outer = OuterLoops();
    const bool blocks = SharesLaneOut();
    BeginWork(static_cast<int>(outer.size()) + (blocks ? 1 : 0));
    for (const std::size_t i : outer) Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    if (blocks) {
      const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
      OpenBlocks(size);
    }
    if (outer.empty() && !blocks) out_.Line("{");
    for (std::size_t p = 0; p < nest_.phases.size(); ++p) {
      const Phase& phase = nest_.phases[p];
      if (const std::optional<Spread> spread = SpreadAt(p)) {
        WriteSpread(phase, *spread);
        ++p;
      } else {
        phase.outer || NothingInside() ? WriteOuter(phase) : WriteRowPass(phase);
      }
    }
    Close(outer.size() + (blocks ? 1 : 0) + (outer.empty() && !blocks ? 1 : 0));
    EndWork();
  }

  // Maps of one element: there is no pass that anything could stand before.
  [[nodiscard]] bool NothingInside() const { return nest_.lane < 0 && nest_.InnerCount() == 1; }

  // A long run in a nest that only maps is cut, so that threads can share it.
  [[nodiscard]] bool SharesLaneOut() const {
    if (nest_.lane < 0 || nest_.phases.size() != 1 || nest_.OuterCount() >= kFewOuter) return false;
    const bool maps = std::ranges::all_of(
        nest_.steps, [](const Step& step) { return step.kind == Step::Kind::kMap; });
    return maps && nest_.shape[static_cast<std::size_t>(nest_.lane)] >= 2 * kBlock;
  }

  void WriteRowPass(const Phase& phase) {
    if (NeedsParts(phase)) return WriteInParts(phase, false);
    for (const std::size_t s : phase.steps) Declare(nest_.steps[s]);
    Writer body(out_.depth() + InnerLoops(phase) + (nest_.LaneInside() ? 1 : 0));
    values_.BeginPass(&out_, &body);
    const LoopLimits limits = LimitsOf(phase);
    values_.Assume(limits.assumed);
    CountUses(phase);
    for (const std::size_t s : phase.steps) WriteInside(nest_.steps[s], body);
    std::size_t open = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i] || static_cast<int>(i) == nest_.lane) continue;
      OpenInner(i, limits);
      ++open;
    }
    if (nest_.LaneInside()) {
      const std::string size = std::to_string(nest_.shape[static_cast<std::size_t>(nest_.lane)]);
      out_.Line(fmt::format(
          "ForLanes<{}>({}, {}, [&](std::int64_t e, {}, [[maybe_unused]] auto lanes) INLINE {{",
          Folds(phase) ? chains_ : "1", from_, to_.empty() ? size : to_,
          Folds(phase) ? "int u" : "int"));
    }
    out_.Append(body);
    if (nest_.LaneInside()) out_.Line("});");
    Close(open);
    values_.Assume({});
    for (const std::size_t s : phase.steps) values_.Forget(nest_.steps[s].buffer);
    for (const std::size_t s : phase.steps) Finish(nest_.steps[s]);
  }

  // ---- Inner loops that stay inside the bounds of what they load.

  struct LoopLimits {
    std::vector<Bound> assumed;
    std::map<std::size_t, std::pair<std::string, std::string>> of;  // dimension -> from, to
  };

  // Where skipping what lies outside changes nothing: it would only add zeros, or compare with the
  // least of all. One fold alone, so that the loops are its own.
  [[nodiscard]] LoopLimits LimitsOf(const Phase& phase) {
    LoopLimits limits;
    if (phase.steps.size() != 1) return limits;
    const Step& step = nest_.steps[phase.steps[0]];
    const Load* load = SkippableLoad(step);
    if (load == nullptr) return limits;
    for (const Bound& bound : load->bounds) {
      int inner = -1;
      bool fits = nest_.lane < 0 || bound.form.factor[static_cast<std::size_t>(nest_.lane)] == 0;
      for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
        if (!nest_.inner[i] || bound.form.factor[i] == 0) continue;
        fits = fits && inner < 0;
        inner = static_cast<int>(i);
      }
      const auto dimension = static_cast<std::size_t>(std::max(inner, 0));
      if (!fits || inner < 0 || limits.of.contains(dimension)) continue;
      limits.assumed.push_back(bound);
      AffineForm rest = bound.form;
      rest.factor[dimension] = 0;
      const std::string start = FormText(rest, loops_);
      const std::int64_t step_size = bound.form.factor[dimension];
      needs_.pieces.insert(VectorPiece::kLimits);
      limits.of[dimension] = {fmt::format("FirstInside({}, {}, {})", start, step_size, bound.limit),
                              fmt::format("EndInside({}, {}, {}, {})", start, step_size,
                                          bound.limit, nest_.shape[dimension])};
    }
    return limits;
  }

  [[nodiscard]] static const Load* SkippableLoad(const Step& step) {
    if (step.kind != Step::Kind::kFold) return nullptr;
    const Expr& expr = *step.expr;
    if (expr.op == ExprOp::kLoad) {
      const double outside = expr.load.outside;
      const bool same = (step.fold == Fold::kSum && outside == 0) ||
                        ((step.fold == Fold::kMax || step.fold == Fold::kArgMax) &&
                         outside == -std::numeric_limits<double>::infinity());
      return same ? &expr.load : nullptr;
    }
    if (expr.op != ExprOp::kMultiply || step.fold != Fold::kSum) return nullptr;
    const Expr& factor = *expr.args[0];
    const bool zero = factor.op == ExprOp::kLoad && factor.load.outside == 0;
    return zero ? &factor.load : nullptr;
  }

  void OpenInner(std::size_t i, const LoopLimits& limits) {
    const auto limit = limits.of.find(i);
    if (limit == limits.of.end()) return Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    const std::string end = loops_[i] + "_end";
    out_.Line(fmt::format("for (std::int64_t {0} = {1}, {2} = {3}; {0} < {2}; ++{0}) {{", loops_[i],
                          limit->second.first, end, limit->second.second));
  }

  // ---- Columns: vectors run along an outer dimension, side by side.

  void WriteColumns() {
    const std::vector<std::size_t> outer = OuterLoops();
    const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
    constexpr std::int64_t kFloats = 16;  // in a vector, at most
    std::vector<int> counts{1, 2, 4, 8, 16};
    std::erase_if(counts, [&](int count) { return count > 1 && count * kFloats > size; });
    const std::string vectors = Tunable("COLUMNS", std::min(kColumns, counts.back()), counts);
    BeginWork(static_cast<int>(outer.size()) + 1);
    for (const std::size_t i : outer) Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    out_.Line(fmt::format("for (std::int64_t block = 0; block < {}; block += {} * kLanes) {{", size,
                          vectors));
    out_.Line(
        fmt::format("ForColumns<{}>(block, {}, [&](std::int64_t first, auto vectors, "
                    "[[maybe_unused]] auto lanes) INLINE {{",
                    vectors, size));
    out_.Line("constexpr int V = decltype(vectors)::value;");
    for (const Phase& phase : nest_.phases)
      phase.outer ? WriteColumnOuter(phase) : WriteColumnPass(phase);
    out_.Line("});");
    Close(outer.size() + 1);
    EndWork();
  }

  void WriteColumnOuter(const Phase& phase) {
    for (const std::size_t s : phase.steps) {
      const Step& step = nest_.steps[s];
      Writer body(out_.depth() + 1);
      values_.BeginPass(&body, &body);
      values_.CountUses(step.expr);
      const Text value = values_.Write(step.expr);
      Text kept = value;
      if (ReadHere(step.buffer)) {
        kept.code = values_.NewName(step.name);
        kept.vector = true;
        out_.Line(fmt::format("Vec {}[V];", kept.code));
        kept.code += "[v]";
      }
      OpenVectors(out_);
      out_.Append(body);
      if (kept.code != value.code) {
        out_.Line(fmt::format("{} = {};", kept.code, values_.AsVector(value)));
        values_.Forward(step.buffer, kept);
      }
      if (!Kept(step.buffer)) Store(out_, step, kept);
      out_.Line("}");
    }
  }

  void WriteColumnPass(const Phase& phase) {
    for (const std::size_t s : phase.steps) Declare(nest_.steps[s]);
    Writer body(out_.depth() + InnerLoops(phase) + 1);
    values_.BeginPass(&out_, &body);
    const LoopLimits limits = LimitsOf(phase);
    values_.Assume(limits.assumed);
    CountUses(phase);
    for (const std::size_t s : phase.steps) WriteInside(nest_.steps[s], body);
    std::size_t open = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i]) continue;
      OpenInner(i, limits);
      ++open;
    }
    OpenVectors(out_);
    out_.Append(body);
    out_.Line("}");
    Close(open);
    values_.Assume({});
    for (const std::size_t s : phase.steps) values_.Forget(nest_.steps[s].buffer);
    for (const std::size_t s : phase.steps) Finish(nest_.steps[s]);
  }
};

}  // namespace

void EmitNest(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
              Writer& out) {
  NestWriter(program, nest, choices, needs, out).Write();
}

}  // namespace pragma
