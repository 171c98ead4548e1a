#include "expert/cpp/nest_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/task.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/past_caches.h"
#include "expert/plan/spread.h"
#include "expert/plan/traffic.h"

namespace pragma::expert {
namespace {

std::vector<std::size_t> InnerPasses(const Nest& nest) {
  std::vector<std::size_t> passes;
  for (std::size_t p = 0; p < nest.phases.size(); ++p)
    if (!nest.phases[p].outer) passes.push_back(p);
  return passes;
}

bool IsFirstPass(const Nest& nest, const Phase& phase) {
  const std::vector<std::size_t> passes = InnerPasses(nest);
  return !passes.empty() && &phase == &nest.phases[passes[0]];
}

// Returns whether every vector of a pass waits for the one before.
bool WaitsForEach(const Nest& nest, const Phase& phase) {
  return std::ranges::any_of(phase.steps, [&](std::size_t s) {
    const Step& step = nest.steps[s];
    return step.kind == Step::Kind::kScan || IsPosition(step);
  });
}

bool MayAskForOwn(const NestContext& context, const Phase& phase) {
  const Nest& nest = context.nest;
  return nest.LaneInside() && IsFirstPass(nest, phase) &&
         (OnlyMaps(nest, phase) || WaitsForEach(nest, phase)) && !AheadOf(context, phase).empty();
}

// Returns the distance in elements to the next iteration of the innermost outer loop.
std::int64_t NextOuter(const Nest& nest, const AffineForm& address) {
  const std::vector<std::size_t> outer = OuterLoops(nest);
  return outer.empty() ? 0 : address.factor[outer.back()];
}

// Returns those loads of a pass with whose data the next outer iteration begins.
std::vector<const Load*> NextOf(const NestContext& context, const Phase& phase) {
  std::vector<const Load*> loads = AheadOf(context, phase);
  if (context.nest.LaneInside())
    std::erase_if(loads,
                  [&](const Load* load) { return NextOuter(context.nest, load->address) == 0; });
  return loads;
}

// Returns the cost of the part of an expression that is computed for each element. The rest is
// computed before the loop.
double CostInside(const NestContext& context, const ExprPtr& expr) {
  if (!context.values.InnerVarying(expr)) return 0;
  double cost = Cost(expr);
  for (const ExprPtr& arg : expr->args) cost += CostInside(context, arg) - Cost(arg);
  return cost;
}

// Returns the pass with the most arithmetic, and the last one among equals. The first pass is
// excluded, as it reads memory itself.
std::size_t BusiestOf(const NestContext& context, const std::vector<std::size_t>& passes) {
  const auto arithmetic = [&](std::size_t pass) {
    double sum = 0;
    for (const std::size_t s : context.nest.phases[pass].steps)
      sum += CostInside(context, context.nest.steps[s].expr);
    return sum;
  };
  std::size_t busiest = passes.back();
  for (std::size_t i = passes.size() - 1; i > 1; --i)
    if (arithmetic(passes[i - 1]) > arithmetic(busiest)) busiest = passes[i - 1];
  return busiest;
}

bool HasRoomForNext(const NestContext& context) {
  constexpr std::int64_t kFewest = 4;  // iterations per thread below which there is no next one
                                       // worth prefetching
  const NestChoices& choices = context.choices;
  if (context.nest.OuterCount() < kFewest * choices.threads_count) return false;
  const std::int64_t bytes = 2 * WorkingSet(context.program, context.nest) *
                             (context.nest.LaneInside() ? 1 : context.numbers.wide);
  return bytes <= choices.private_cache_bytes ||
         bytes * choices.threads_count <= choices.shared_cache_bytes / 2;
}

bool LooksAhead(const NestContext& context, const Phase& phase) {
  const Nest& nest = context.nest;
  const std::vector<std::size_t> passes = InnerPasses(nest);
  if (passes.size() < 2 || &phase != &nest.phases[BusiestOf(context, passes)]) return false;
  if (passes.size() == 2 && SpreadAt(nest, passes[0])) return false;
  return HasRoomForNext(context) && !NextOf(context, nest.phases[passes[0]]).empty();
}

bool ComesFromMemory(const NestContext& context, const Load& load) {
  const Nest& nest = context.nest;
  const Buffer& buffer = context.program.buffers[static_cast<std::size_t>(load.buffer)];
  return buffer.dtype == DType::kFloat32 && IsBeyondCaches(context, buffer) &&
         load.bounds.empty() && load.indirect.empty() && !nest.forwarded.contains(load.buffer) &&
         load.address.factor[static_cast<std::size_t>(nest.lane)] == 1;
}

}  // namespace

int WideColumns(const NestContext& context) {
  constexpr int kUsual = NestNumbers::kUsualColumns;
  const Nest& nest = context.nest;
  const std::vector<std::size_t> passes = InnerPasses(nest);
  if (passes.empty() || AheadOf(context, nest.phases[passes[0]]).empty()) return kUsual;
  const std::int64_t vectors = nest.OuterCount() / kFloatsOfLine;
  std::int64_t most =
      std::min<std::int64_t>(kWidestColumns, vectors / (2 * context.choices.threads_count));
  if (passes.size() > 1)
    most =
        std::min(most, context.choices.private_cache_bytes / 4 / WorkingSet(context.program, nest));
  int columns = kUsual;
  while (2 * columns <= most) columns *= 2;
  return columns;
}

void WriteAhead(NestContext& context, const Phase& phase, Writer& body) {
  const Nest& nest = context.nest;
  if (!LooksAhead(context, phase)) return;
  for (const Load* load : NextOf(context, nest.phases[InnerPasses(nest)[0]])) {
    AffineForm address = load->address;
    std::string step;
    if (nest.LaneInside()) {
      address.offset += NextOuter(nest, address);
    } else {
      step = fmt::format(" + {} * kLanes", context.numbers.columns);
    }
    AskFor(context, body, load->buffer, address, step);
  }
}

void WriteRowsAhead(NestContext& context, const Phase& phase, Writer& body) {
  const Nest& nest = context.nest;
  const int wide = context.numbers.wide;
  if (wide <= NestNumbers::kUsualColumns || !IsFirstPass(nest, phase)) return;
  constexpr std::int64_t kRows = 2;
  for (const Load* load : AheadOf(context, phase)) {
    AffineForm address = load->address;
    std::int64_t row = 0;  // stride of the innermost dimension that is reduced
    for (std::size_t i = 0; i < nest.shape.size(); ++i)
      if (nest.inner[i]) row = address.factor[i];
    address.offset += kRows * row;
    if (std::abs(row) > wide * kFloatsOfLine) AskFor(context, body, load->buffer, address, "");
  }
}

// Measured with AVX2 and small pages, as a fraction of the time without prefetch: running sums
// 0.84, positions of extremes 0.86, maps 0.9. In the first two every vector waits for the one
// before, so the out-of-order window is full of waiting instructions and the processor reaches no
// further loads by itself. Plain sums took 1.03 times as long, so they do not prefetch.
void DeclareOwnAhead(NestContext& context, const Phase& phase) {
  if (!MayAskForOwn(context, phase)) return;
  const int usual = WaitsForEach(context.nest, phase) ? 1024 : 512;
  context.numbers.ahead = DeclareNumber(context, "AHEAD", usual, {0, 512, 1024});
}

bool AsksForOwn(const NestContext& context, const Phase& phase) {
  return !context.numbers.ahead.empty() && MayAskForOwn(context, phase);
}

void WriteOwnAhead(NestContext& context, const Phase& phase, Writer& body) {
  if (!AsksForOwn(context, phase)) return;
  const std::string& ahead = context.numbers.ahead;
  body.Line(fmt::format("if ({} > 0 && u % kLineParts == 0) {{", ahead));
  for (const Load* load : AheadOf(context, phase))
    AskFor(context, body, load->buffer, load->address, " + " + ahead);
  body.Line("}");
}

void AskFor(NestContext& context, Writer& body, int buffer, const AffineForm& address,
            const std::string& step) {
  context.needs.pieces.insert(VectorPiece::kAhead);
  body.Line(fmt::format("Ahead({}{});", context.values.Place(buffer, address), step));
}

std::vector<const Load*> AheadOf(const NestContext& context, const Phase& phase) {
  std::vector<const Load*> loads;
  if (context.nest.lane < 0) return loads;
  for (const std::size_t s : phase.steps)
    VisitLoads(context.nest.steps[s].expr, [&](const Load& load, ExprType) {
      const bool known = std::ranges::any_of(loads, [&](const Load* other) {
        return other->buffer == load.buffer && other->address == load.address;
      });
      if (!known && ComesFromMemory(context, load)) loads.push_back(&load);
    });
  return loads;
}

bool IsBeyondCaches(const NestContext& context, const Buffer& buffer) {
  const auto bytes = Elements(buffer.shape) * static_cast<std::int64_t>(DTypeSize(buffer.dtype));
  return bytes > context.choices.shared_cache_bytes;
}

}  // namespace pragma::expert
