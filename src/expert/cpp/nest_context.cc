#include "expert/cpp/nest_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/nest_choices.h"
#include "expert/plan/past_caches.h"

namespace pragma::expert {
namespace {

std::vector<std::string> LoopNames(const Nest& nest) {
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

std::vector<std::size_t> LoopsBesideLanes(const Nest& nest, bool inner) {
  std::vector<std::size_t> loops;
  for (std::size_t i = 0; i < nest.shape.size(); ++i)
    if (nest.inner[i] == inner && static_cast<int>(i) != nest.lane) loops.push_back(i);
  return loops;
}

}  // namespace

NestContext::NestContext(const Program& of, const Nest& what, const NestChoices& how, Needs& uses,
                         Writer& to)
    : program(of),
      nest(what),
      choices(how),
      needs(uses),
      out(to),
      loops(LoopNames(what)),
      values(of, what, loops, uses) {}

std::string DeclareNumber(NestContext& context, std::string_view what, int value,
                          const std::vector<int>& values) {
  if (values.size() < 2) return std::to_string(value);
  std::string name = fmt::format("{}_{}", context.choices.name, what);
  context.out.Line(
      context.choices.tuning.Declare({name, value, values}, context.needs.facts.tunables));
  return name;
}

void OpenLoop(NestContext& context, std::size_t dimension) {
  OpenLoop(context, dimension, "0", std::to_string(context.nest.shape[dimension]));
}

void OpenLoop(NestContext& context, std::size_t dimension, std::string_view from,
              std::string_view to) {
  context.out.Line(fmt::format("for (std::int64_t {0} = {1}; {0} < {2}; ++{0}) {{",
                               context.loops[dimension], from, to));
}

void CloseLoops(NestContext& context, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) context.out.Line("}");
}

void OpenVectors(Writer& out) {
  out.Line("for (int v = 0; v < V; ++v) {");
  out.Line("[[maybe_unused]] const std::int64_t c = first + v * kLanes;");
}

void OpenLanes(NestContext& context, std::string_view chains, std::string_view from,
               std::string_view to, std::string_view unroll) {
  context.out.Line(fmt::format(
      "ForLanes<{}>({}, {}, [&](std::int64_t e, {}, [[maybe_unused]] auto lanes) INLINE {{", chains,
      from, to, unroll));
}

std::vector<std::size_t> OuterLoops(const Nest& nest) { return LoopsBesideLanes(nest, false); }
std::vector<std::size_t> InnerLoops(const Nest& nest) { return LoopsBesideLanes(nest, true); }

std::int64_t LaneCount(const Nest& nest) { return nest.shape[static_cast<std::size_t>(nest.lane)]; }

bool HasFolds(const Nest& nest, const Phase& phase) {
  return std::ranges::any_of(
      phase.steps, [&](std::size_t s) { return nest.steps[s].kind == Step::Kind::kFold; });
}

bool OnlyMaps(const Nest& nest, const Phase& phase) {
  return std::ranges::all_of(phase.steps,
                             [&](std::size_t s) { return nest.steps[s].kind == Step::Kind::kMap; });
}

void CountUses(NestContext& context, const Phase& phase) {
  for (const std::size_t s : phase.steps) context.values.CountUses(context.nest.steps[s].expr);
}

void Forget(NestContext& context, const Phase& phase) {
  for (const std::size_t s : phase.steps) context.values.Forget(context.nest.steps[s].buffer);
}

void WriteMap(NestContext& context, const Step& step, Writer& out) {
  Text value = context.values.Write(step.expr);
  if (Reads(context.nest, step.buffer)) {
    const std::string name = context.values.NewName(step.name);
    out.Line(fmt::format("const {} {} = {};", ExpressionWriter::TypeName(value), name, value.code));
    value.code = name;
    context.values.Forward(step.buffer, value);
  }
  Store(context, out, step, value);
}

void WriteOnce(NestContext& context, const Phase& phase) {
  context.values.BeginPass(&context.out, &context.out);
  CountUses(context, phase);
  for (const std::size_t s : phase.steps) WriteMap(context, context.nest.steps[s], context.out);
}

void Store(NestContext& context, Writer& out, const Step& step, const Text& value) {
  if (context.nest.forwarded.contains(step.buffer)) return;
  if (!Streams(context, step)) return context.values.StoreTo(out, step.buffer, step.place, value);
  context.needs.pieces.insert(VectorPiece::kStreamLanes);
  out.Line(fmt::format("StreamLanes({}, {}, lanes);", context.values.Place(step.buffer, step.place),
                       context.values.AsVector(value)));
}

bool Streams(const NestContext& context, const Step& step) {
  return GoesPast(context.program, context.nest, step, context.choices);
}

}  // namespace pragma::expert
