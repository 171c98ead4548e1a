#include "expert/emit_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/affine.h"
#include "expert/emit_expression.h"
#include "expert/expression.h"
#include "expert/fold_text.h"
#include "expert/nest.h"
#include "expert/program.h"
#include "expert/scalar_text.h"
#include "expert/vector_preamble.h"
#include "expert/writer.h"

namespace pragma {
namespace {

constexpr std::int64_t kAligned = 16;  // floats
constexpr double kWorthThreads = 3e4;  // instructions of a nest below which threads cost more

constexpr std::int64_t kFewOuter = 16;  // fewer outer iterations than this are shared out in blocks

// What one nest is written with.
class NestWriter final {
 public:
  NestWriter(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
             Writer& out)
      : program_(program),
        nest_(nest),
        choices_(choices),
        needs_(needs),
        out_(out),
        loops_(LoopNames(nest)),
        values_(program, nest, loops_, needs) {}

  void Write() {
    if (nest_.lane >= 0) needs_.vectors = true;
    if (FoldsEverything()) return WriteSharedFold();
    if (nest_.lane >= 0 && !nest_.LaneInside()) return WriteColumns();
    WriteRows();
  }

 private:
  static std::vector<std::string> LoopNames(const Nest& nest) {
    constexpr const char* kOuter[] = {"i", "j", "k", "l", "m", "n", "o", "p"};
    constexpr const char* kInner[] = {"r", "s", "t", "u2", "w", "y", "z"};
    std::vector<std::string> names;
    std::size_t outer = 0;
    std::size_t inner = 0;
    for (std::size_t i = 0; i < nest.shape.size(); ++i) {
      if (static_cast<int>(i) == nest.lane) {
        names.emplace_back(nest.inner[i] ? "e" : "c");
      } else {
        names.emplace_back(nest.inner[i] ? kInner[inner++ % 7] : kOuter[outer++ % 8]);
      }
    }
    return names;
  }

  // One pass that only folds, and no outer loops to share out; then at most what is done once.
  [[nodiscard]] bool FoldsEverything() const {
    if (nest_.OuterCount() != 1 || static_cast<double>(nest_.InnerCount()) < kWorthThreads)
      return false;
    for (std::size_t s = 0; s < nest_.steps.size(); ++s) {
      const Step& step = nest_.steps[s];
      if (nest_.outer[s]) continue;
      if (step.kind != Step::Kind::kFold || IsPosition(step)) return false;
    }
    return std::ranges::count_if(nest_.phases, [](const Phase& phase) { return !phase.outer; }) ==
           1;
  }

  [[nodiscard]] bool WorthThreads() const {
    double cost = 0;
    for (const Step& step : nest_.steps)
      cost += (Cost(step.expr) + 1) * static_cast<double>(Elements(nest_.shape));
    return cost / (nest_.lane >= 0 ? 4 : 1) > kWorthThreads;
  }

  void Parallel(int loops) {
    if (loops == 0 || !choices_.threads || !WorthThreads()) return;
    const std::string collapse = loops > 1 ? fmt::format(" collapse({})", loops) : "";
    out_.Line(fmt::format("#pragma omp parallel for{} schedule({})", collapse, choices_.schedule));
  }

  void Loop(const std::string& name, const std::string& from, const std::string& to) {
    out_.Line(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", name, from, to));
  }

  // The outer loops but that of the lanes; how many there are.
  std::vector<std::size_t> OuterLoops() const {
    std::vector<std::size_t> loops;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i)
      if (!nest_.inner[i] && static_cast<int>(i) != nest_.lane) loops.push_back(i);
    return loops;
  }

  void Close(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out_.Line("}");
  }

  // ---- Rows: vectors run along an inner dimension, or there are none.

  void WriteRows() {
    const std::vector<std::size_t> outer = OuterLoops();
    const bool blocks = SharesLaneOut();
    Parallel(static_cast<int>(outer.size()) + (blocks ? 1 : 0));
    for (const std::size_t i : outer) Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    if (blocks) {
      const std::int64_t size = nest_.shape[static_cast<std::size_t>(nest_.lane)];
      out_.Line(fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", size,
                            choices_.block));
      from_ = "begin";
      to_ = size % choices_.block == 0
                ? fmt::format("begin + {}", choices_.block)
                : fmt::format("(begin + {0} < {1} ? begin + {0} : {1})", choices_.block, size);
    }
    if (outer.empty() && !blocks) out_.Line("{");
    for (const Phase& phase : nest_.phases) phase.outer ? WriteOuter(phase) : WriteRowPass(phase);
    EndStreams();
    Close(outer.size() + (blocks ? 1 : 0) + (outer.empty() && !blocks ? 1 : 0));
  }

  // A long run in a nest that only maps is cut, so that threads can share it.
  [[nodiscard]] bool SharesLaneOut() const {
    if (nest_.lane < 0 || nest_.phases.size() != 1 || nest_.OuterCount() >= kFewOuter) return false;
    const bool maps = std::ranges::all_of(
        nest_.steps, [](const Step& step) { return step.kind == Step::Kind::kMap; });
    return maps && nest_.shape[static_cast<std::size_t>(nest_.lane)] >= 2 * choices_.block;
  }

  void CountUses(const Phase& phase) {
    for (const std::size_t s : phase.steps) values_.CountUses(nest_.steps[s].expr);
  }

  void WriteOuter(const Phase& phase) {
    values_.BeginPass(&out_, &out_);
    CountUses(phase);
    for (const std::size_t s : phase.steps) WriteMap(nest_.steps[s], out_);
  }

  [[nodiscard]] bool Kept(int buffer) const { return nest_.forwarded.contains(buffer); }

  // The element under its own name where other steps read it, then its place in memory.
  void WriteMap(const Step& step, Writer& out) {
    Text value = values_.Write(step.expr);
    if (ReadHere(step.buffer)) {
      const std::string name = values_.NewName(step.name);
      out.Line(
          fmt::format("const {} {} = {};", ExpressionWriter::TypeName(value), name, value.code));
      value.code = name;
      values_.Forward(step.buffer, value);
    }
    if (!Kept(step.buffer)) Store(out, step, value);
  }

  // An output that no cache would hold goes past them, where all its vectors are aligned.
  void Store(Writer& out, const Step& step, const Text& value) {
    const Buffer& buffer = program_.buffers[static_cast<std::size_t>(step.buffer)];
    const auto bytes = Elements(buffer.shape) * static_cast<std::int64_t>(DTypeSize(buffer.dtype));
    bool past = buffer.kind == Buffer::Kind::kOutput && !ReadHere(step.buffer) &&
                bytes >= choices_.stream_bytes && nest_.lane >= 0 &&
                step.place.offset % kAligned == 0 && value.vector;
    for (std::size_t i = 0; i < nest_.shape.size() && past; ++i) {
      const std::int64_t factor = step.place.factor[i];
      past = static_cast<int>(i) == nest_.lane ? factor == 1 : factor % kAligned == 0;
    }
    if (!past) return values_.StoreTo(out, step.buffer, step.place, value);
    needs_.pieces.insert(VectorPiece::kStreamLanes);
    streams_ = true;
    out.Line(fmt::format("StreamLanes({}, {}, lanes);", values_.Place(step.buffer, step.place),
                         values_.AsVector(value)));
  }

  // Before other threads may read.
  void EndStreams() {
    if (std::exchange(streams_, false)) out_.Line("StreamEnd();");
  }

  [[nodiscard]] bool ReadHere(int buffer) const {
    bool read = false;
    for (const Step& step : nest_.steps)
      VisitLoads(step.expr,
                 [&](const Load& load, ExprType) { read = read || load.buffer == buffer; });
    return read;
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
          Folds(phase) ? choices_.chains : 1, from_, to_.empty() ? size : to_,
          Folds(phase) ? "int u" : "int"));
    }
    out_.Append(body);
    if (nest_.LaneInside()) out_.Line("});");
    Close(open);
    values_.Assume({});
    for (const std::size_t s : phase.steps) values_.Forget(nest_.steps[s].buffer);
    for (const std::size_t s : phase.steps) Finish(nest_.steps[s]);
  }

  [[nodiscard]] bool Folds(const Phase& phase) const {
    return std::ranges::any_of(
        phase.steps, [&](std::size_t s) { return nest_.steps[s].kind == Step::Kind::kFold; });
  }

  [[nodiscard]] int InnerLoops(const Phase&) const {
    int count = 0;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i)
      if (nest_.inner[i] && static_cast<int>(i) != nest_.lane) ++count;
    return count;
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
    int vectors = choices_.columns;
    while (vectors > 1 && vectors * 16 > size) vectors /= 2;
    Parallel(static_cast<int>(outer.size()) + 1);
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
    EndStreams();
    Close(outer.size() + 1);
  }

  void OpenVectors(Writer& out) {
    out.Line("for (int v = 0; v < V; ++v) {");
    out.Line("[[maybe_unused]] const std::int64_t c = first + v * kLanes;");
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

  // ---- What folds and scans keep while they run.

  [[nodiscard]] FoldForm FormOf(const Step& step) const {
    FoldForm form;
    form.fold = step.fold;
    form.type = step.expr->type;
    form.vector = nest_.lane >= 0;
    form.name = names_.at(step.buffer);
    form.chains = nest_.LaneInside() ? choices_.chains : 1;
    form.running = step.kind == Step::Kind::kScan;
    if (form.running && form.vector && nest_.LaneInside())
      needs_.pieces.insert(VectorPiece::kScans);
    form.columns = nest_.lane >= 0 && !nest_.LaneInside();
    return form;
  }

  void Declare(const Step& step) {
    if (step.kind == Step::Kind::kMap) return;
    names_[step.buffer] = values_.NewName(step.name);
    const FoldForm form = FormOf(step);
    for (const std::string& line : DeclareFold(form)) out_.Line(line);
  }

  void WriteInside(const Step& step, Writer& body) {
    if (step.kind == Step::Kind::kMap) return WriteMap(step, body);
    const FoldForm form = FormOf(step);
    const Text value = values_.Write(step.expr);
    const std::string code = form.vector ? values_.AsVector(value) : value.code;
    std::string position;
    if (IsPosition(step)) {
      position = FormText(step.position, loops_);
      if (form.vector) {
        needs_.pieces.insert(VectorPiece::kPositions);
        position = values_.AsVector(values_.Position(step.position));
      }
    }
    for (const std::string& line : AddToFold(form, code, position)) body.Line(line);
    if (step.kind != Step::Kind::kScan) return;
    const Text running{form.columns ? form.name + "[v]" : form.name, form.vector, form.type};
    values_.Forward(step.buffer, running);
    if (!Kept(step.buffer)) values_.StoreTo(body, step.buffer, step.place, running);
  }

  void Finish(const Step& step) {
    if (step.kind != Step::Kind::kFold) return;
    const FoldForm form = FormOf(step);
    Text result{form.name, form.columns, step.expr->type};
    if (IsPosition(step)) result.type = ExprType::kInt;
    if (form.columns) {
      result.code += IsPosition(step) ? "_at[v]" : "[v]";
    } else {
      if (form.vector) needs_.pieces.insert(VectorPiece::kLanes);
      result.code = values_.NewName(step.name + "_all");
      out_.Line(fmt::format("const {} {} = {};", ExpressionWriter::TypeName(result), result.code,
                            FoldResult(form)));
    }
    values_.Forward(step.buffer, result);
    if (Kept(step.buffer)) return;
    if (form.columns) OpenVectors(out_);
    values_.StoreTo(out_, step.buffer, step.place, result);
    if (form.columns) out_.Line("}");
  }

  // ---- Long folds in parts: each part starts anew and is added to a total, so that rounding
  // errors do not grow with the length, and so that threads can share the parts out.

  static constexpr std::int64_t kLongFold = 1 << 14;

  [[nodiscard]] std::vector<const Step*> FoldsOf(const Phase& phase) const {
    std::vector<const Step*> folds;
    for (const std::size_t s : phase.steps)
      if (nest_.steps[s].kind == Step::Kind::kFold) folds.push_back(&nest_.steps[s]);
    return folds;
  }

  [[nodiscard]] bool NeedsParts(const Phase& phase) const {
    if (!nest_.LaneInside() || nest_.InnerCount() < kLongFold) return false;
    bool sums = false;
    for (const std::size_t s : phase.steps) {
      const Step& step = nest_.steps[s];
      if (step.kind == Step::Kind::kScan || IsPosition(step)) return false;
      sums = sums || (step.kind == Step::Kind::kFold && step.fold == Fold::kSum);
    }
    return sums;
  }

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
    std::size_t first = 0;
    while (!nest_.inner[first]) ++first;
    const bool cut = static_cast<int>(first) == nest_.lane;
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

  // The loop over parts: the first inner one, or blocks of the only one.
  void OpenParts(std::size_t first, bool cut) {
    const std::int64_t size = nest_.shape[first];
    if (!cut) return Loop(loops_[first], "0", std::to_string(size));
    out_.Line(fmt::format("for (std::int64_t begin = 0; begin < {}; begin += {}) {{", size,
                          choices_.block));
    from_ = "begin";
    to_ = fmt::format("(begin + {0} < {1} ? begin + {0} : {1})", choices_.block, size);
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
          choices_.chains, from_, to_.empty() ? size : to_));
    }
    out_.Append(body);
    if (nest_.LaneInside()) out_.Line("});");
    Close(open);
  }

  const Program& program_;
  const Nest& nest_;
  const NestChoices& choices_;
  Needs& needs_;
  Writer& out_;
  std::vector<std::string> loops_;
  ExpressionWriter values_;
  std::map<int, std::string> names_;  // buffer -> accumulator
  bool streams_ = false;
  std::string from_ = "0";
  std::string to_;
};

}  // namespace

void EmitNest(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
              Writer& out) {
  NestWriter(program, nest, choices, needs, out).Write();
}

}  // namespace pragma
