// NestFrame: the state and helpers that the passes of one nest share while they are written: loops,
// maps and reductions.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/emit_nest.h"
#include "expert/cpp/fold_text.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/past_caches.h"

namespace pragma::expert {

class NestFrame {
 public:
  NestFrame(const NestFrame&) = delete;
  NestFrame& operator=(const NestFrame&) = delete;

 protected:
  static constexpr std::int64_t kAligned = kFloatsOfLine;
  // Default values of tunables: accumulators along a row, adjacent vectors down columns, and
  // elements of a long run that a thread takes at a time.
  static constexpr int kChains = 4;
  static constexpr int kColumns = 4;
  static constexpr int kBlock = 4096;
  static constexpr double kWorthThreads = 3e4;  // number of instructions below which threads cost
                                                // more than they gain

  NestFrame(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
            Writer& out)
      : program_(program),
        nest_(nest),
        choices_(choices),
        needs_(needs),
        out_(out),
        loops_(LoopNames(nest)),
        values_(program, nest, loops_, needs) {}
  ~NestFrame() = default;

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

  // Returns whether the nest is one pass that only reduces, without outer loops to divide among
  // threads. At most steps that run once may follow.
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

  // Declares a number that the tuner may change. Returns the name of its declaration, or the number
  // itself where no other value is possible.
  std::string Tunable(std::string_view what, int value, const std::vector<int>& values) {
    if (values.size() < 2) return std::to_string(value);
    std::string name = fmt::format("{}_{}", choices_.name, what);
    out_.Line(choices_.tuning.Declare({name, value, values}, needs_.facts.tunables));
    return name;
  }

  // BeginWork writes the code before the loops that threads share, and EndWork the code after them.
  void BeginWork(int loops) {
    parallel_ = loops > 0 && choices_.threads && WorthThreads();
    needs_.facts.shares_work = needs_.facts.shares_work || parallel_;
    const bool inside = parallel_ && Streams();  // the loop is inside a parallel region, in which
                                                 // each thread also does other work
    if (inside) out_.Line("#pragma omp parallel");
    if (inside || !nest_.rows.empty()) out_.Line("{");
    DeclareRows();
    if (!parallel_) return;
    const std::string collapse = loops > 1 ? fmt::format(" collapse({})", loops) : "";
    out_.Line(fmt::format("#pragma omp {}for{} schedule({})", inside ? "" : "parallel ", collapse,
                          choices_.schedule));
  }

  void DeclareRows() {
    for (const int row : nest_.rows) {
      const Buffer& buffer = program_.buffers[static_cast<std::size_t>(row)];
      out_.Line("// What a later pass reads again stays in the thread's cache, out of the output,");
      out_.Line("// which then is written once, past the caches.");
      out_.Line(fmt::format("alignas(64) {} {}[{}];", DTypeCppName(buffer.dtype), buffer.name,
                            Elements(buffer.shape)));
    }
  }

  // Each thread fences its own streaming stores, before other threads may read the results.
  void EndWork() {
    if (!Streams()) return;
    needs_.facts.streams = true;
    out_.Line("StreamEnd();");
    if (parallel_ || !nest_.rows.empty()) out_.Line("}");
  }

  void Loop(const std::string& name, const std::string& from, const std::string& to) {
    out_.Line(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{", name, from, to));
  }

  // Returns the outer loops except the one along which the lanes run.
  std::vector<std::size_t> OuterLoops() const {
    std::vector<std::size_t> loops;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i)
      if (!nest_.inner[i] && static_cast<int>(i) != nest_.lane) loops.push_back(i);
    return loops;
  }

  void Close(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out_.Line("}");
  }

  void CountUses(const Phase& phase) {
    for (const std::size_t s : phase.steps) values_.CountUses(nest_.steps[s].expr);
  }

  [[nodiscard]] bool Kept(int buffer) const { return nest_.forwarded.contains(buffer); }

  // Writes an element. It is given its own name where other steps read it, and is then stored to
  // its place in memory.
  void WriteMap(const Step& step, Writer& out) {
    Text value = values_.Write(step.expr);
    if (Reads(nest_, step.buffer)) {
      const std::string name = values_.NewName(step.name);
      out.Line(
          fmt::format("const {} {} = {};", ExpressionWriter::TypeName(value), name, value.code));
      value.code = name;
      values_.Forward(step.buffer, value);
    }
    if (!Kept(step.buffer)) Store(out, step, value);
  }

  [[nodiscard]] bool GoesPast(const Step& step) const {
    return expert::GoesPast(program_, nest_, step, choices_);
  }

  [[nodiscard]] bool Streams() const {
    return std::ranges::any_of(nest_.steps, [&](const Step& step) { return GoesPast(step); });
  }

  void Store(Writer& out, const Step& step, const Text& value) {
    if (!GoesPast(step)) return values_.StoreTo(out, step.buffer, step.place, value);
    needs_.pieces.insert(VectorPiece::kStreamLanes);
    out.Line(fmt::format("StreamLanes({}, {}, lanes);", values_.Place(step.buffer, step.place),
                         values_.AsVector(value)));
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

  void OpenVectors(Writer& out) {
    out.Line("for (int v = 0; v < V; ++v) {");
    out.Line("[[maybe_unused]] const std::int64_t c = first + v * kLanes;");
  }

  // ---- Accumulators of reductions and scans.

  [[nodiscard]] FoldForm FormOf(const Step& step) const {
    FoldForm form;
    form.fold = step.fold;
    form.type = step.expr->type;
    form.vector = nest_.lane >= 0;
    form.name = names_.at(step.buffer);
    form.chains = nest_.LaneInside() ? chains_ : "1";
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
    if (!Kept(step.buffer)) Store(body, step, running);
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
    Store(out_, step, result);
    if (form.columns) out_.Line("}");
  }

  const Program& program_;
  const Nest& nest_;
  const NestChoices& choices_;
  Needs& needs_;
  Writer& out_;
  std::vector<std::string> loops_;
  ExpressionWriter values_;
  std::map<int, std::string> names_;  // buffer -> accumulator
  bool parallel_ = false;
  std::string chains_ = "1";  // values of the tunables and loop bounds, as code
  std::string block_;
  std::string from_ = "0";
  std::string to_;
};

}  // namespace pragma::expert
