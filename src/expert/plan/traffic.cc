#include "expert/plan/traffic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kLine = 16;  // floats in a cache line

// Bytes of one buffer that a pass touches.
struct Touched {
  std::int64_t all = 0;     // in the whole nest, each byte counted once
  std::int64_t inside = 0;  // in one iteration of the outer loops
  bool read = false;
  bool written = false;
};
using Pass = std::map<int, Touched>;

std::int64_t BytesOf(const Buffer& buffer) {
  return Elements(buffer.shape) * static_cast<std::int64_t>(DTypeSize(buffer.dtype));
}

// Counts what a pass touches of each buffer.
class PassCounter final {
 public:
  PassCounter(const Program& program, const Nest& nest) : program_(program), nest_(nest) {}

  [[nodiscard]] std::vector<Pass> Passes() const {
    if (nest_.anchored) return {Anchored()};
    std::vector<Pass> passes;
    for (std::size_t p = 0; p < nest_.phases.size(); ++p) {
      passes.emplace_back();
      AddPhase(nest_.phases[p], passes.back());
      if (SpreadAt(nest_, p))
        AddPhase(nest_.phases[++p], passes.back());  // both phases are one
                                                     // pass over memory
    }
    return passes;
  }

 private:
  [[nodiscard]] Pass Anchored() const {
    Pass pass;
    for (const Step& step : nest_.steps)
      VisitLoads(step.expr, [&](const Load& load, ExprType) {
        if (!nest_.forwarded.contains(load.buffer)) Whole(load.buffer, pass).read = true;
      });
    Whole(nest_.steps.back().buffer, pass).written = true;
    return pass;
  }

  Touched& Whole(int buffer, Pass& pass) const {
    Touched& touched = pass[buffer];
    touched.all = BytesOf(program_.buffers[static_cast<std::size_t>(buffer)]);
    return touched;
  }

  void AddPhase(const Phase& phase, Pass& pass) const {
    std::set<int> named;  // buffers made by a step of this pass, which later steps read from
                          // registers
    for (const std::size_t s : phase.steps) {
      const Step& step = nest_.steps[s];
      VisitLoads(step.expr, [&](const Load& load, ExprType) {
        if (!nest_.forwarded.contains(load.buffer) && !named.contains(load.buffer))
          AddForm(load.buffer, load.address, pass).read = true;
      });
      named.insert(step.buffer);
      if (!nest_.forwarded.contains(step.buffer))
        AddForm(step.buffer, step.place, pass).written = true;
    }
  }

  Touched& AddForm(int buffer, const AffineForm& form, Pass& pass) const {
    const Buffer& spec = program_.buffers[static_cast<std::size_t>(buffer)];
    const auto size = static_cast<std::int64_t>(DTypeSize(spec.dtype));
    std::int64_t all = 1;
    std::int64_t inside = 1;
    for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
      if (form.factor[i] == 0) continue;
      all *= nest_.shape[i];
      const bool lane = static_cast<int>(i) == nest_.lane;
      if (nest_.inner[i] || lane)
        inside *= nest_.inner[i] ? nest_.shape[i] : std::min(nest_.shape[i], kLine);
    }
    Touched& touched = pass[buffer];
    touched.all = std::max(touched.all, std::min(all * size, BytesOf(spec)));
    touched.inside = std::max(touched.inside, std::min(inside * size, BytesOf(spec)));
    return touched;
  }

  const Program& program_;
  const Nest& nest_;
};

// Merges what all passes touch.
Pass Together(const std::vector<Pass>& passes) {
  Pass together;
  for (const Pass& pass : passes)
    for (const auto& [buffer, touched] : pass) {
      Touched& sum = together[buffer];
      sum.all = std::max(sum.all, touched.all);
      sum.inside = std::max(sum.inside, touched.inside);
      sum.read = sum.read || touched.read;
    }
  return together;
}

std::int64_t WorkingSet(const Pass& together) {
  std::int64_t bytes = 0;
  for (const auto& [buffer, touched] : together)
    if (touched.read) bytes += touched.inside;
  return bytes;
}

// Returns the number of iterations of the outer loops. Each iteration has its share of the lanes.
std::int64_t Iterations(const Nest& nest) {
  if (nest.lane < 0 || nest.LaneInside()) return nest.OuterCount();
  return nest.OuterCount() / std::min(nest.shape[static_cast<std::size_t>(nest.lane)], kLine);
}

class Counter final {
 public:
  Counter(const Program& program, const KernelTarget& target)
      : program_(program), target_(target) {}

  void Add(const Nest& nest) {
    const std::vector<Pass> passes = PassCounter(program_, nest).Passes();
    const Pass together = Together(passes);
    const std::int64_t bytes = WorkingSet(together);
    const bool stays = nest.anchored || bytes <= target_.private_cache_bytes ||
                       bytes * target_.threads <= target_.shared_cache_bytes;
    std::set<int> here;  // buffers touched by an earlier pass that are still in a cache
    for (const Pass& pass : passes) {
      for (const auto& [buffer, touched] : pass) {
        // Data that every outer iteration touches again are fetched again where they do not stay in
        // a cache.
        const std::int64_t moved = stays ? touched.all : touched.inside * Iterations(nest);
        Charge(buffer, touched, moved, here);
      }
      if (!stays) continue;
      for (const auto& [buffer, touched] : pass) here.insert(buffer);
    }
    for (const auto& [buffer, touched] : together)
      if (Small(touched)) near_.insert(buffer);
  }

  [[nodiscard]] const PlannedBytes& bytes() const { return bytes_; }

 private:
  [[nodiscard]] bool Small(const Touched& touched) const {
    return touched.all <= target_.shared_cache_bytes / 2;
  }

  void Charge(int buffer, const Touched& touched, std::int64_t moved, const std::set<int>& here) {
    const Buffer& spec = program_.buffers[static_cast<std::size_t>(buffer)];
    if (touched.read && !here.contains(buffer) && !near_.contains(buffer)) bytes_.read += moved;
    if (!touched.written) return;
    const bool kept =
        here.contains(buffer) || (Small(touched) && spec.kind == Buffer::Kind::kScratch);
    if (!kept) bytes_.written += moved;
  }

  const Program& program_;
  const KernelTarget& target_;
  PlannedBytes bytes_;
  std::set<int> near_;  // buffers that an earlier nest left in the shared cache
};

}  // namespace

PlannedBytes BytesMoved(const Program& program, const std::vector<Nest>& nests,
                        const KernelTarget& target) {
  Counter counter(program, target);
  for (const Nest& nest : nests) counter.Add(nest);
  return counter.bytes();
}

std::int64_t WorkingSet(const Program& program, const Nest& nest) {
  return WorkingSet(Together(PassCounter(program, nest).Passes()));
}

}  // namespace pragma::expert
