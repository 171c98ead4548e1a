#include "expert/plan/plan_nests.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/program.h"
#include "expert/plan/anchor_nests.h"
#include "expert/plan/contraction.h"
#include "expert/plan/forwarding.h"
#include "expert/plan/join.h"
#include "expert/plan/lanes.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

using Products = NestPolicy::Products;

bool HasKind(const Nest& nest, Step::Kind kind) {
  return std::ranges::any_of(nest.steps, [kind](const Step& step) { return step.kind == kind; });
}

bool ReadsAny(const Step& step, const Nest& nest) {
  return std::ranges::any_of(nest.steps,
                             [&](const Step& writer) { return Loads(step.expr, writer.buffer); });
}

// Starts the nest of a product in tiles. If its nonzero bands are known, it keeps its dimensions.
Nest TiledProduct(Step step, const NestPolicy& policy) {
  if (policy.merges_bands || !HasBand(step)) DropUnitDims(step);
  Nest nest = Started(step);
  nest.anchored = true;
  return nest;
}

// Returns whether a step multiplies a small matrix by a vector in every iteration of a loop, as a
// scan does with its state. Written as a fold, it joins the nest that makes the matrix, and each
// thread can take some of the rows through all iterations.
bool IsSmallInLoop(const Step& step) {
  constexpr std::int64_t kMostDepth = 128;
  if (!step.product || step.repeat < 0) return false;
  const std::size_t rank = step.shape.size();
  const bool vector = step.shape[rank - 2] == 1 || step.shape[rank - 3] == 1;
  return vector && step.shape[rank - 1] <= kMostDepth;
}

// Starts the nest of a step that is not written as loops. Returns nullopt for other steps.
std::optional<Nest> AnchorOf(const Program& program, const Step& step, const NestPolicy& policy) {
  if (IsSmallInLoop(step)) return std::nullopt;
  if (policy.products == Products::kGenerators) return AnchorNest(program, step);
  if (step.attention) return AttentionNest(step);
  if (policy.products == Products::kTiles && ContractionOf(step)) return TiledProduct(step, policy);
  return std::nullopt;
}

// Makes a step part of the epilogue. Returns false where that is not possible.
bool JoinEpilogue(const Program& program, Step step, Nest& nest, const NestPolicy& policy) {
  if (policy.products == Products::kGenerators) return JoinAnchor(program, step, nest);
  if (nest.steps[0].attention) return false;
  DropUnitDims(step);
  return ReadsAny(step, nest) && JoinOuter(step, nest);
}

bool MayShareLoops(const Step& step, const Nest& nest, const NestPolicy& policy) {
  if (!policy.recomputes || step.kind == Step::Kind::kMap) return true;
  return !HasKind(nest, step.kind == Step::Kind::kScan ? Step::Kind::kFold : Step::Kind::kScan);
}

bool JoinNest(const Program& program, Step step, Nest& nest, const NestPolicy& policy) {
  if (nest.repeat != step.repeat) return false;
  if (nest.anchored) return JoinEpilogue(program, std::move(step), nest, policy);
  DropUnitDims(step);
  return MayShareLoops(step, nest, policy) && JoinInner(step, nest);
}

// A generator stores only the result of the last step. So an epilogue ends at a step whose result
// is also read elsewhere.
void KeepEpiloguesReadable(const Program& program, std::vector<Nest>& nests) {
  const std::map<int, int> readers = ReadersOf(nests);
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
        if (apart.empty() || !JoinInner(step, apart.back())) apart.push_back(Started(step));
      }
      nests[n].steps.resize(s + 1);
      nests[n].outer.resize(s + 1);
      nests.insert(nests.begin() + static_cast<std::ptrdiff_t>(n) + 1, apart.begin(), apart.end());
    }
  }
}

// Returns whether the dimensions of a nest are free to be merged.
bool MayMerge(const Nest& nest, const NestPolicy& policy) {
  if (nest.anchored && policy.products == Products::kGenerators) return false;
  if (nest.steps[0].attention) return false;
  return policy.merges_bands || !HasBand(nest.steps[0]);
}

}  // namespace

std::vector<Nest> PlanNests(const Program& program, const NestPolicy& policy) {
  const bool generators = policy.products == Products::kGenerators;
  std::vector<Nest> nests;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    Step step = program.steps[s];
    if (!policy.keeps_empty && Elements(step.shape) == 0) continue;
    if (std::optional<Nest> nest = AnchorOf(program, step, policy)) {
      nests.push_back(std::move(*nest));
      if (generators) s += static_cast<std::size_t>(step.parts) - 1;
      continue;
    }
    if (!nests.empty() && JoinNest(program, step, nests.back(), policy)) continue;
    DropUnitDims(step);
    nests.push_back(Started(step));
  }
  if (generators) KeepEpiloguesReadable(program, nests);
  for (Nest& nest : nests) {
    if (MayMerge(nest, policy)) MergeDims(nest);
    if (!nest.anchored) MakePhases(nest);
  }
  policy.recomputes ? ForwardAlways(program, nests) : ForwardInPasses(program, nests);
  for (Nest& nest : nests)
    if (policy.vectors && !nest.anchored) ChooseLane(program, nest);
  return nests;
}

}  // namespace pragma::expert
