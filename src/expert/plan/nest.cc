#include "expert/plan/nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/anchor_nests.h"
#include "expert/plan/join.h"
#include "expert/plan/lanes.h"

namespace pragma::expert {
namespace {

template <class T>
void Erase(std::vector<T>& items, std::size_t place) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
}

std::map<int, int> Readers(const std::vector<Nest>& nests) {
  std::map<int, int> readers;  // buffer -> number of nests that read it
  for (const Nest& nest : nests) {
    std::set<int> read;
    for (const Step& step : nest.steps)
      VisitLoads(step.expr, [&](const Load& load, ExprType) { read.insert(load.buffer); });
    for (const int buffer : read) ++readers[buffer];
  }
  return readers;
}

// Returns whether a value is read in a pass after the one that writes it. Such reads go through
// memory, except for results of reductions.
bool ReadLater(const Nest& nest, std::size_t writer) {
  if (nest.steps[writer].kind == Step::Kind::kFold || nest.outer[writer]) return false;
  bool seen = false;
  for (const Phase& phase : nest.phases) {
    for (const std::size_t s : phase.steps) {
      bool reads = false;
      VisitLoads(nest.steps[s].expr, [&](const Load& load, ExprType) {
        reads = reads || load.buffer == nest.steps[writer].buffer;
      });
      if (seen && reads) return true;
    }
    seen = seen || std::ranges::find(phase.steps, writer) != phase.steps.end();
  }
  return false;
}

// A generator stores only the result of the last step. So an epilogue ends at a step whose result
// is also read elsewhere.
void KeepEpiloguesReadable(const Program& program, std::vector<Nest>& nests) {
  const std::map<int, int> readers = Readers(nests);
  for (std::size_t n = 0; n < nests.size(); ++n) {
    for (std::size_t s = 0; s + 1 < nests[n].steps.size() && nests[n].anchored; ++s) {
      const auto count = readers.find(nests[n].steps[s].buffer);
      const Buffer& kept = program.buffers[static_cast<std::size_t>(nests[n].steps[s].buffer)];
      const bool alone = count != readers.end() && count->second < 2;
      if (alone && kept.kind == Buffer::Kind::kScratch) continue;
      std::vector<Nest> apart;
      for (std::size_t rest = s + 1; rest < nests[n].steps.size(); ++rest) {
        Step step = nests[n].steps[rest];
        DropUnitDims(step);
        if (apart.empty() || !Join(step, apart.back())) apart.push_back(Started(step));
      }
      nests[n].steps.resize(s + 1);
      nests[n].outer.resize(s + 1);
      nests.insert(nests.begin() + static_cast<std::ptrdiff_t>(n) + 1, apart.begin(), apart.end());
    }
  }
}

// Handles a result that the nest changes and writes again, element by element, to another buffer.
// The first write then goes to the place of the second, and the result needs no memory of its own.
void WriteInPlace(const Program& program, Nest& nest, const std::map<int, int>& readers) {
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    const Step& last = nest.steps[s];
    if (last.kind != Step::Kind::kMap || nest.outer[s]) continue;
    const Buffer& target = program.buffers[static_cast<std::size_t>(last.buffer)];
    for (std::size_t w = 0; w < s; ++w) {
      const Step& first = nest.steps[w];
      const int buffer = first.buffer;
      const Buffer& source = program.buffers[static_cast<std::size_t>(buffer)];
      if (first.kind != Step::Kind::kMap || nest.outer[w] || first.place != last.place ||
          source.kind != Buffer::Kind::kScratch || source.dtype != target.dtype ||
          buffer == last.buffer || !ReadLater(nest, w))
        continue;
      const auto count = readers.find(buffer);
      if (count == readers.end() || count->second != 1) continue;
      bool after = false;  // it is read after it has been overwritten
      for (std::size_t later = s + 1; later < nest.steps.size(); ++later)
        after = after || Loads(nest.steps[later].expr, buffer);
      if (after) continue;
      const int into = last.buffer;
      for (Step& step : nest.steps) {
        if (step.buffer == buffer) step.buffer = into;
        step.expr = WithLoads(step.expr, [&](const Expr& load) -> ExprPtr {
          auto moved = std::make_shared<Expr>(load);
          if (load.load.buffer == buffer) moved->load.buffer = into;
          return moved;
        });
      }
      break;
    }
  }
}

void FindForwarded(const Program& program, std::vector<Nest>& nests) {
  const std::map<int, int> before = Readers(nests);
  for (Nest& nest : nests)
    if (!nest.anchored && nest.repeat < 0) WriteInPlace(program, nest, before);
  const std::map<int, int> readers = Readers(nests);
  std::map<int, int> writers;
  for (const Nest& nest : nests)
    for (const Step& step : nest.steps) ++writers[step.buffer];
  for (Nest& nest : nests) {
    for (std::size_t s = 0; s < nest.steps.size(); ++s) {
      const int buffer = nest.steps[s].buffer;
      if (program.buffers[static_cast<std::size_t>(buffer)].kind != Buffer::Kind::kScratch)
        continue;
      const auto count = readers.find(buffer);
      // Values for the next iteration of a repeat must be in memory, and the buffer has contents
      // before the first iteration.
      if (nest.repeat >= 0 && writers.at(buffer) > 1) continue;
      if (Reads(nest, buffer) && count != readers.end() && count->second == 1 &&
          !ReadLater(nest, s))
        nest.forwarded.insert(buffer);
    }
  }
}

}  // namespace

void DropUnitDims(Step& step) {
  for (std::size_t i = step.shape.size(); i-- > 0;) {
    if (step.shape[i] != 1) continue;
    Erase(step.shape, i);
    step.folded.erase(step.folded.begin() + static_cast<std::ptrdiff_t>(i));
    ChangeForms(step, [i](AffineForm& form) { Erase(form.factor, i); });
  }
  // A reduction of one element is that element, or its position.
  if (step.kind == Step::Kind::kMap || std::ranges::find(step.folded, true) != step.folded.end())
    return;
  if (IsPosition(step)) step.expr = IndexOf(step.position);
  step.kind = Step::Kind::kMap;
}

void MergeDims(Nest& nest) {
  for (std::size_t i = nest.shape.size(); i-- > 1;) {
    if (nest.inner[i] != nest.inner[i - 1]) continue;
    bool fits = true;
    for (Step& step : nest.steps) {
      fits = fits && step.kind != Step::Kind::kScan;
      ChangeForms(step, [&](AffineForm& form) {
        fits = fits && form.factor[i - 1] == form.factor[i] * nest.shape[i];
      });
    }
    if (!fits) continue;
    nest.shape[i - 1] *= nest.shape[i];
    Erase(nest.shape, i);
    nest.inner.erase(nest.inner.begin() + static_cast<std::ptrdiff_t>(i));
    for (Step& step : nest.steps) {
      step.folded.erase(step.folded.begin() + static_cast<std::ptrdiff_t>(i));
      ChangeForms(step, [i](AffineForm& form) { Erase(form.factor, i - 1); });
      step.shape = nest.shape;
    }
  }
}

void MakePhases(Nest& nest) {
  std::map<int, std::size_t> folded_in;  // buffer -> phase
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    const Step& step = nest.steps[s];
    std::size_t first = 0;  // the first phase in which the step may run
    VisitLoads(step.expr, [&](const Load& load, ExprType) {
      if (const auto found = folded_in.find(load.buffer); found != folded_in.end())
        first = std::max(first, found->second);
    });
    if (nest.phases.empty() || nest.phases.back().outer != nest.outer[s] ||
        first >= nest.phases.size())
      nest.phases.push_back({nest.outer[s], {}});
    nest.phases.back().steps.push_back(s);
    // The result of a reduction is known only after its phase.
    if (step.kind == Step::Kind::kFold) folded_in[step.buffer] = nest.phases.size();
  }
}

std::string InWords(const Nest& nest) {
  std::vector<std::string> said;
  for (const Step& step : nest.steps)
    if (std::ranges::find(said, step.what) == said.end()) said.push_back(step.what);
  return fmt::format("{} over [{}]", fmt::join(said, ", "), fmt::join(nest.shape, ", "));
}

bool DependsOn(const ExprPtr& expr, std::size_t dimension) {
  return AnyForm(expr, [dimension](const AffineForm& form) { return form.factor[dimension] != 0; });
}

std::int64_t Nest::OuterCount() const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!inner[i]) count *= shape[i];
  return count;
}
std::int64_t Nest::InnerCount() const { return Elements(shape) / OuterCount(); }

void RemoveUnused(Program& program) {
  std::set<int> needed;
  for (std::size_t i = 0; i < program.buffers.size(); ++i)
    if (program.buffers[i].kind == Buffer::Kind::kOutput) needed.insert(static_cast<int>(i));
  std::vector<Step> kept;
  for (std::size_t before = 0; before < needed.size();) {  // repeats read what later steps write
    before = needed.size();
    kept.clear();
    for (std::size_t i = program.steps.size(); i-- > 0;) {
      const Step& step = program.steps[i];
      if (!needed.contains(step.buffer)) continue;
      VisitLoads(step.expr, [&](const Load& load, ExprType) { needed.insert(load.buffer); });
      kept.push_back(step);
    }
  }
  std::ranges::reverse(kept);
  program.steps = std::move(kept);
}

bool Writes(const Nest& nest, int buffer) {
  return std::ranges::any_of(nest.steps,
                             [buffer](const Step& step) { return step.buffer == buffer; });
}

bool Reads(const Nest& nest, int buffer) {
  return std::ranges::any_of(nest.steps,
                             [buffer](const Step& step) { return Loads(step.expr, buffer); });
}

std::vector<Nest> PlanNests(const Program& program) {
  std::vector<Nest> nests;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    Step step = program.steps[s];
    if (std::optional<Nest> nest = AnchorNest(program, step)) {
      nests.push_back(std::move(*nest));
      s += static_cast<std::size_t>(step.parts) - 1;
      continue;
    }
    const bool together = !nests.empty() && nests.back().repeat == step.repeat;
    if (together && nests.back().anchored) {
      if (JoinAnchor(program, step, nests.back())) continue;
    }
    DropUnitDims(step);
    if (!together || nests.back().anchored || !Join(step, nests.back()))
      nests.push_back(Started(step));
  }
  KeepEpiloguesReadable(program, nests);
  for (Nest& nest : nests) {
    if (nest.anchored) continue;
    MergeDims(nest);
    MakePhases(nest);
  }
  FindForwarded(program, nests);
  for (Nest& nest : nests)
    if (!nest.anchored) ChooseLane(program, nest);
  return nests;
}

}  // namespace pragma::expert
