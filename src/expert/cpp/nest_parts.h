// NestParts: reductions over many elements. They are cut into parts whose results are added up, by
// one thread or by all.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_ahead.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"

namespace pragma::expert {

class NestParts : public NestAhead {
 protected:
  using NestAhead::NestAhead;
  ~NestParts() = default;

  void WriteOuter(const Phase& phase) {
    values_.BeginPass(&out_, &out_);
    CountUses(phase);
    for (const std::size_t s : phase.steps) WriteMap(nest_.steps[s], out_);
  }

  // ---- Long reductions in parts. Each part starts anew and is added to a total, so that rounding
  // errors do not grow with the length, and so that threads can share the parts.

  static constexpr std::int64_t kLongFold = 1 << 14;

  [[nodiscard]] std::vector<const Step*> FoldsOf(const Phase& phase) const {
    std::vector<const Step*> folds;
    for (const std::size_t s : phase.steps)
      if (nest_.steps[s].kind == Step::Kind::kFold) folds.push_back(&nest_.steps[s]);
    return folds;
  }

  [[nodiscard]] bool NeedsParts(const Phase& phase) const {
    return SumsOver(nest_, phase, kLongFold);
  }

  [[nodiscard]] std::size_t FirstInner() const {
    std::size_t first = 0;
    while (!nest_.inner[first]) ++first;
    return first;
  }
  // Returns whether parts are blocks of the only inner dimension. Otherwise they are steps of the
  // first one.
  [[nodiscard]] bool CutsLane() const { return static_cast<int>(FirstInner()) == nest_.lane; }

  void WriteSharedFold() {
    WriteInParts(nest_.phases[0], choices_.threads);
    for (std::size_t p = 1; p < nest_.phases.size(); ++p) WriteOuter(nest_.phases[p]);
  }

  void WriteInParts(const Phase& phase, bool parallel) {
    const std::vector<const Step*> folds = FoldsOf(phase);
    std::map<int, std::string> totals;
    std::string clauses;
    for (const Step* step : folds) {
      totals[step->buffer] = names_[step->buffer] = values_.NewName(step->name);
      out_.Line(DeclareShared(FormOf(*step)));
      clauses +=
          fmt::format(" reduction({} : {})", ReductionClause(step->fold), names_[step->buffer]);
    }
    const std::size_t first = FirstInner();
    const bool cut = CutsLane();
    needs_.facts.shares_work = needs_.facts.shares_work || parallel;
    if (parallel) out_.Line("#pragma omp parallel for" + clauses + " schedule(static)");
    OpenParts(first, cut);
    for (const Step* step : folds) {
      names_[step->buffer] = values_.NewName(step->name + "_part");
      for (const std::string& line : DeclareFold(FormOf(*step))) out_.Line(line);
    }
    WriteSharedBody(phase, first, cut);
    for (const Step* step : folds) {
      const FoldForm form = FormOf(*step);
      if (form.vector) needs_.pieces.insert(VectorPiece::kLanes);
      out_.Line(AddToShared(form, totals[step->buffer], FoldResult(form)));
    }
    out_.Line("}");
    from_ = "0";
    to_.clear();
    for (const std::size_t s : phase.steps) values_.Forget(nest_.steps[s].buffer);
    for (const Step* step : folds) FinishTotal(*step, totals[step->buffer]);
  }

  // Opens the loop over parts: the first inner dimension, or blocks of the only one.
  void OpenParts(std::size_t first, bool cut) {
    const std::int64_t size = nest_.shape[first];
    if (!cut) return Loop(loops_[first], "0", std::to_string(size));
    OpenBlocks(size);
  }

  void OpenBlocks(std::int64_t size) {
    out_.Line(
        fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", size, block_));
    from_ = "begin";
    to_ = fmt::format("(begin + {0} < {1} ? begin + {0} : {1})", block_, size);
  }

  void FinishTotal(const Step& step, const std::string& total) {
    const std::string type = ExpressionWriter::TypeName({"", false, step.expr->type});
    Text value{values_.NewName(step.name + "_all"), false, step.expr->type};
    out_.Line(fmt::format("const {0} {1} = static_cast<{0}>({2});", type, value.code, total));
    values_.Forward(step.buffer, value);
    if (!Kept(step.buffer)) values_.StoreTo(out_, step.buffer, step.place, value);
  }

  void WriteSharedBody(const Phase& phase, std::size_t first, bool cut) {
    Writer body(out_.depth() + 1);
    values_.BeginPass(&body, &body);
    CountUses(phase);
    for (const std::size_t s : phase.steps) WriteInside(nest_.steps[s], body);
    std::size_t open = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (!nest_.inner[i] || static_cast<int>(i) == nest_.lane || (i == first && !cut)) continue;
      Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
      ++open;
    }
    if (nest_.LaneInside()) {
      const std::string size = std::to_string(nest_.shape[static_cast<std::size_t>(nest_.lane)]);
      out_.Line(fmt::format(
          "ForLanes<{}>({}, {}, [&](std::int64_t e, int u, [[maybe_unused]] auto lanes) INLINE {{",
          chains_, from_, to_.empty() ? size : to_));
    }
    out_.Append(body);
    if (nest_.LaneInside()) out_.Line("});");
    Close(open);
  }
};

}  // namespace pragma::expert
