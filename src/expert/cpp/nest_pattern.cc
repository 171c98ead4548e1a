#include "expert/cpp/nest_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/cpp/anchored.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/writer.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/anchor_nests.h"

namespace pragma::expert {
namespace {

// Called for each step with the address of its result and with the address of each load.
using Touch = std::function<void(int buffer, std::int64_t offset)>;

void VisitAddresses(const Nest& nest, const Touch& touch) {
  for (const Step& step : nest.steps) {
    touch(step.buffer, step.place.offset);
    VisitLoads(step.expr,
               [&](const Load& load, ExprType) { touch(load.buffer, load.address.offset); });
  }
}

// Returns the buffers that the code of the nest names, in the order in which the steps use them.
std::vector<int> NamedBuffers(const Nest& nest) {
  std::vector<int> buffers;
  VisitAddresses(nest, [&](int buffer, std::int64_t) {
    const bool known = std::ranges::find(buffers, buffer) != buffers.end();
    if (!known && !nest.forwarded.contains(buffer)) buffers.push_back(buffer);
  });
  return buffers;
}

// Rounds down to a whole cache line, so that aligned addresses stay aligned.
std::int64_t LineOf(std::int64_t offset) {
  constexpr std::int64_t kLineFloats = 16;
  const std::int64_t rest = offset % kLineFloats;
  return offset - (rest < 0 ? rest + kLineFloats : rest);
}

}  // namespace

RebasedNest Rebased(const Nest& nest) {
  RebasedNest rebased{nest, {}};
  VisitAddresses(nest, [&](int buffer, std::int64_t offset) {
    const auto [known, added] = rebased.start.emplace(buffer, LineOf(offset));
    if (!added) known->second = std::min(known->second, LineOf(offset));
  });
  const auto stays = [](const auto& start) { return start.second == 0; };
  if (std::ranges::all_of(rebased.start, stays)) return rebased;
  for (Step& step : rebased.nest.steps) {
    step.place.offset -= rebased.start.at(step.buffer);
    step.expr = WithLoads(step.expr, [&](const Expr& load) -> ExprPtr {
      auto moved = std::make_shared<Expr>(load);
      moved->load.address.offset -= rebased.start.at(load.load.buffer);
      return moved;
    });
  }
  return rebased;
}

NestPattern PatternOf(const Program& program, const Nest& nest, const KernelTarget& target,
                      const NestChoices& choices) {
  NestPattern pattern{"", NamedBuffers(nest)};
  Nest neutral = nest.anchored ? nest : Rebased(nest).nest;
  for (std::size_t s = 0; s < neutral.steps.size(); ++s)
    neutral.steps[s].name = fmt::format("step_{}", s);
  Program named{program.buffers, {}};
  for (Buffer& buffer : named.buffers) buffer.name = "other";
  for (std::size_t i = 0; i < pattern.buffers.size(); ++i) {
    Buffer& buffer = named.buffers[static_cast<std::size_t>(pattern.buffers[i])];
    buffer.name = fmt::format("buffer_{}", i);
    pattern.text += std::string(DTypeCppName(buffer.dtype)) + " ";
  }
  Needs needs;
  if (nest.anchored) {
    const AnchorText anchor = EmitAnchor(named, neutral, {target, "anchor", {}}, needs);
    pattern.text += anchor.function + anchor.call;
    return pattern;
  }
  NestChoices neutral_choices = choices;
  neutral_choices.name = "NEST";
  neutral_choices.tuning = {};  // the pattern has all values of its tunables
  Writer body;
  EmitNest(named, neutral, neutral_choices, needs, body);
  pattern.text += body.text();
  return pattern;
}

}  // namespace pragma::expert
