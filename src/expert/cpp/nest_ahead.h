// NestAhead: software prefetch. A pass that works on data in the caches leaves the memory idle.
// That is a good time to prefetch the data with which the next outer iteration begins, which the
// hardware prefetcher cannot predict.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/task.h"
#include "expert/cpp/emit_nest.h"
#include "expert/cpp/fold_text.h"
#include "expert/cpp/nest_frame.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"
#include "expert/plan/traffic.h"

namespace pragma::expert {

class NestAhead : public NestFrame {
 protected:
  using NestFrame::NestFrame;
  ~NestAhead() = default;

  // Returns the number of adjacent vectors in a nest that reads columns from memory. It is large,
  // so that long stretches of each row are read and few pages are open at a time. It is limited by
  // the cache that the stretches of all rows need where they are read again, and by the work that
  // all threads need.
  [[nodiscard]] int WideColumns() const {
    const std::vector<std::size_t> passes = InnerPasses();
    if (passes.empty() || AheadOf(nest_.phases[passes[0]]).empty()) return kColumns;
    const std::int64_t vectors = nest_.OuterCount() / kAligned;
    std::int64_t most =
        std::min<std::int64_t>(kMostColumns, vectors / (2 * choices_.threads_count));
    if (passes.size() > 1)
      most = std::min(most, choices_.private_cache_bytes / 4 / WorkingSet(program_, nest_));
    int columns = kColumns;
    while (2 * columns <= most) columns *= 2;
    return columns;
  }

  // Returns whether this pass prefetches the data of the next iteration. It is the pass with the
  // most arithmetic among those behind the first one, provided that the data of both iterations fit
  // in the caches.
  [[nodiscard]] bool LooksAhead(const Phase& phase) const {
    const std::vector<std::size_t> passes = InnerPasses();
    if (passes.size() < 2 || &phase != &nest_.phases[BusiestOf(passes)]) return false;
    if (passes.size() == 2 && SpreadAt(nest_, passes[0])) return false;
    return HasRoom() && !NextOf(nest_.phases[passes[0]]).empty();
  }

  void WriteAhead(Writer& body) {
    for (const Load* load : NextOf(nest_.phases[InnerPasses()[0]])) {
      AffineForm address = load->address;
      std::string step;
      if (nest_.LaneInside()) {
        address.offset += NextOuter(address);
      } else {
        step = fmt::format(" + {} * kLanes", columns_);
      }
      AskFor(body, load->buffer, address, step);
    }
  }

  // In a first pass down wide columns, prefetches the stretches of the rows to come.
  void WriteRowsAhead(const Phase& phase, Writer& body) {
    if (wide_ <= kColumns || &phase != &nest_.phases[InnerPasses()[0]]) return;
    constexpr std::int64_t kRows = 2;
    for (const Load* load : AheadOf(phase)) {
      AffineForm address = load->address;
      std::int64_t row = 0;  // stride of the innermost dimension that is reduced
      for (std::size_t i = 0; i < nest_.shape.size(); ++i)
        if (nest_.inner[i]) row = address.factor[i];
      address.offset += kRows * row;
      if (std::abs(row) > wide_ * kAligned) AskFor(body, load->buffer, address, "");
    }
  }

  // Declares how far ahead a pass along a row prefetches its own data: a tunable, in floats.
  // Measured with AVX2 and small pages, as a fraction of the time without prefetch: running sums
  // 0.84, positions of extremes 0.86, maps 0.9. In the first two every vector waits for the one
  // before, so the out-of-order window is full of waiting instructions and the processor reaches no
  // further loads by itself. Plain sums took 1.03 times as long, so they do not prefetch.
  void DeclareOwnAhead(const Phase& phase) {
    if (MayAskForOwn(phase))
      own_ahead_ = Tunable("AHEAD", Waits(phase) ? 1024 : 512, {0, 512, 1024});
  }

  [[nodiscard]] bool AsksForOwn(const Phase& phase) const {
    return !own_ahead_.empty() && MayAskForOwn(phase);
  }

  // Writes one prefetch per cache line. In the generated code, `u` counts the vectors of one
  // iteration of the unrolled loop.
  void WriteOwnAhead(const Phase& phase, Writer& body) {
    if (!AsksForOwn(phase)) return;
    body.Line(fmt::format("if ({} > 0 && u % kLineParts == 0) {{", own_ahead_));
    for (const Load* load : AheadOf(phase))
      AskFor(body, load->buffer, load->address, " + " + own_ahead_);
    body.Line("}");
  }

  void AskFor(Writer& body, int buffer, const AffineForm& address, const std::string& step) {
    needs_.pieces.insert(VectorPiece::kAhead);
    body.Line(fmt::format("Ahead({}{});", values_.Place(buffer, address), step));
  }

  // Returns the loads of a pass that read memory line after line, each address once.
  [[nodiscard]] std::vector<const Load*> AheadOf(const Phase& phase) const {
    std::vector<const Load*> loads;
    if (nest_.lane < 0) return loads;
    for (const std::size_t s : phase.steps)
      VisitLoads(nest_.steps[s].expr, [&](const Load& load, ExprType) {
        const bool known = std::ranges::any_of(loads, [&](const Load* other) {
          return other->buffer == load.buffer && other->address == load.address;
        });
        if (!known && ComesFromMemory(load)) loads.push_back(&load);
      });
    return loads;
  }

  // Returns those loads of a pass with whose data the next outer iteration begins.
  [[nodiscard]] std::vector<const Load*> NextOf(const Phase& phase) const {
    std::vector<const Load*> loads = AheadOf(phase);
    if (nest_.LaneInside())
      std::erase_if(loads, [&](const Load* load) { return NextOuter(load->address) == 0; });
    return loads;
  }

  [[nodiscard]] bool IsBeyondCaches(const Buffer& buffer) const {
    const auto bytes = Elements(buffer.shape) * static_cast<std::int64_t>(DTypeSize(buffer.dtype));
    return bytes > choices_.shared_cache_bytes;
  }

  static constexpr int kMostColumns = 128;
  std::string own_ahead_;      // prefetch distance of a pass for its own data, in floats, as code;
                               // empty: no prefetch
  int wide_ = kColumns;        // number of adjacent vectors
  std::string columns_ = "1";  // number of adjacent vectors, as code

 private:
  [[nodiscard]] std::vector<std::size_t> InnerPasses() const {
    std::vector<std::size_t> passes;
    for (std::size_t p = 0; p < nest_.phases.size(); ++p)
      if (!nest_.phases[p].outer) passes.push_back(p);
    return passes;
  }

  [[nodiscard]] bool Waits(const Phase& phase) const {
    return std::ranges::any_of(phase.steps, [&](std::size_t s) {
      const Step& step = nest_.steps[s];
      return step.kind == Step::Kind::kScan || IsPosition(step);
    });
  }

  [[nodiscard]] bool MayAskForOwn(const Phase& phase) const {
    const bool maps = std::ranges::all_of(
        phase.steps, [&](std::size_t s) { return nest_.steps[s].kind == Step::Kind::kMap; });
    const std::vector<std::size_t> passes = InnerPasses();
    return nest_.LaneInside() && !passes.empty() && &phase == &nest_.phases[passes[0]] &&
           (maps || Waits(phase)) && !AheadOf(phase).empty();
  }

  // Returns the cost of the part of an expression that is computed for each element. The rest is
  // computed before the loop.
  [[nodiscard]] double CostInside(const ExprPtr& expr) const {
    if (!values_.InnerVarying(expr)) return 0;
    double cost = Cost(expr);
    for (const ExprPtr& arg : expr->args) cost += CostInside(arg) - Cost(arg);
    return cost;
  }

  // Returns the pass with the most arithmetic, and the last one among equals. The first pass is
  // excluded, as it reads memory itself.
  [[nodiscard]] std::size_t BusiestOf(const std::vector<std::size_t>& passes) const {
    const auto arithmetic = [&](std::size_t pass) {
      double sum = 0;
      for (const std::size_t s : nest_.phases[pass].steps) sum += CostInside(nest_.steps[s].expr);
      return sum;
    };
    std::size_t busiest = passes.back();
    for (std::size_t i = passes.size() - 1; i > 1; --i)
      if (arithmetic(passes[i - 1]) > arithmetic(busiest)) busiest = passes[i - 1];
    return busiest;
  }

  [[nodiscard]] bool HasRoom() const {
    constexpr std::int64_t kFewest = 4;  // iterations per thread below which there is no next one
                                         // worth prefetching
    if (nest_.OuterCount() < kFewest * choices_.threads_count) return false;
    const std::int64_t bytes = 2 * WorkingSet(program_, nest_) * (nest_.LaneInside() ? 1 : wide_);
    return bytes <= choices_.private_cache_bytes ||
           bytes * choices_.threads_count <= choices_.shared_cache_bytes / 2;
  }

  [[nodiscard]] bool ComesFromMemory(const Load& load) const {
    const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load.buffer)];
    return buffer.dtype == DType::kFloat32 && IsBeyondCaches(buffer) && load.bounds.empty() &&
           load.indirect.empty() && !Kept(load.buffer) &&
           load.address.factor[static_cast<std::size_t>(nest_.lane)] == 1;
  }

  // Returns the distance in elements to the next iteration of the innermost outer loop.
  [[nodiscard]] std::int64_t NextOuter(const AffineForm& address) const {
    const std::vector<std::size_t> outer = OuterLoops();
    return outer.empty() ? 0 : address.factor[outer.back()];
  }
};

}  // namespace pragma::expert
