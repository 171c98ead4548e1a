#include "expert/triton/plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/join.h"
#include "expert/plan/nest.h"
#include "expert/triton/contraction.h"

namespace pragma::expert::triton {
namespace {

bool Has(const Nest& nest, Step::Kind kind) {
  return std::ranges::any_of(nest.steps, [kind](const Step& step) { return step.kind == kind; });
}

bool Reads(const Step& step, const Nest& nest) {
  bool reads = false;
  VisitLoads(step.expr, [&](const Load& load, ExprType) {
    for (const Step& writer : nest.steps) reads = reads || writer.buffer == load.buffer;
  });
  return reads;
}

// A product whose nonzero bands are known keeps its dimensions, because the bands refer to them.
Nest StartedProduct(Step step) {
  if (!HasBand(step)) DropUnitDims(step);
  Nest nest = Started(step);
  nest.anchored = true;
  return nest;
}

// A scan's result is available only while its loop runs.
bool MayShare(const Step& step, const Nest& nest) {
  if (step.kind == Step::Kind::kScan) return !Has(nest, Step::Kind::kFold);
  return step.kind == Step::Kind::kMap || !Has(nest, Step::Kind::kScan);
}

bool JoinLast(Step step, Nest& nest) {
  DropUnitDims(step);
  if (nest.anchored) return Reads(step, nest) && JoinOuter(step, nest);
  return MayShare(step, nest) && Join(step, nest);
}

// Marks scratch buffers that only one kernel uses, and that it also writes. They never leave its
// registers.
void FindForwarded(const Program& program, std::vector<Nest>& nests) {
  std::map<int, std::set<std::size_t>> users;
  for (std::size_t n = 0; n < nests.size(); ++n)
    for (const Step& step : nests[n].steps) {
      users[step.buffer].insert(n);
      VisitLoads(step.expr, [&](const Load& load, ExprType) { users[load.buffer].insert(n); });
    }
  for (Nest& nest : nests)
    for (const Step& step : nest.steps) {
      const Buffer& buffer = program.buffers[static_cast<std::size_t>(step.buffer)];
      if (buffer.kind == Buffer::Kind::kScratch && users[step.buffer].size() == 1)
        nest.forwarded.insert(step.buffer);
    }
}

}  // namespace

std::vector<Nest> PlanKernels(const Program& program, bool products) {
  std::vector<Nest> nests;
  for (const Step& step : program.steps) {
    if (Elements(step.shape) == 0) continue;
    if (products && ContractionOf(step)) {
      nests.push_back(StartedProduct(step));
    } else if (nests.empty() || !JoinLast(step, nests.back())) {
      Step alone = step;
      DropUnitDims(alone);
      nests.push_back(Started(alone));
    }
  }
  for (Nest& nest : nests) {
    if (!HasBand(nest.steps[0])) MergeDims(nest);
    if (!nest.anchored) MakePhases(nest);
  }
  FindForwarded(program, nests);
  return nests;
}

}  // namespace pragma::expert::triton
