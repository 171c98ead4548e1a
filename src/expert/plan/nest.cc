#include "expert/plan/nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/join.h"

namespace pragma::expert {
namespace {

template <class T>
void Erase(std::vector<T>& items, std::size_t place) {
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
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

}  // namespace pragma::expert
