#include "expert/plan/past_caches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/nest.h"
#include "expert/plan/nest_choices.h"

namespace pragma::expert {
namespace {

// Returns the step that writes the buffer last, provided that earlier steps write the elements in
// the same places from which they are read. Otherwise returns the number of steps.
std::size_t LastInPlace(const Nest& nest, int buffer) {
  const std::size_t none = nest.steps.size();
  std::size_t last = none;
  int writers = 0;
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    if (nest.steps[s].buffer != buffer) continue;
    if (nest.steps[s].kind != Step::Kind::kMap || nest.outer[s]) return none;
    last = s;
    ++writers;
  }
  if (writers < 2) return none;
  const AffineForm& place = nest.steps[last].place;
  bool fits = true;
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    fits = fits && (nest.steps[s].buffer != buffer || nest.steps[s].place == place);
    VisitLoads(nest.steps[s].expr, [&](const Load& load, ExprType) {
      if (load.buffer != buffer) return;
      fits = fits && s <= last && load.address == place && load.bounds.empty() &&
             load.indirect.empty();
    });
  }
  for (std::size_t i = 0; i < nest.shape.size(); ++i)
    fits = fits && (!nest.inner[i] || place.factor[i] != 0);
  return fits ? last : none;
}

// Returns the offset of an element in its row.
AffineForm PlaceInRow(const Nest& nest) {
  AffineForm place = ZeroForm(nest.shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = nest.shape.size(); i-- > 0;) {
    if (!nest.inner[i]) continue;
    place.factor[i] = stride;
    stride *= nest.shape[i];
  }
  return place;
}

int AddRow(Program& program, const Nest& nest, int buffer) {
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(program.buffers,
                               [&](const Buffer& other) { return other.name == name; });
  };
  std::string name = program.buffers[static_cast<std::size_t>(buffer)].name + "_row";
  while (taken(name)) name += "_";
  program.buffers.push_back({Buffer::Kind::kScratch, name, DType::kFloat32, {nest.InnerCount()}});
  return static_cast<int>(program.buffers.size()) - 1;
}

// Redirects to the row all writes except those of the last step, and all loads.
void MoveIntoRow(Nest& nest, int buffer, std::size_t last, int row) {
  const AffineForm place = PlaceInRow(nest);
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    Step& step = nest.steps[s];
    if (step.buffer == buffer && s != last) {
      step.buffer = row;
      step.place = place;
    }
    step.expr = WithLoads(step.expr, [&](const Expr& load) -> ExprPtr {
      auto moved = std::make_shared<Expr>(load);
      if (load.load.buffer != buffer) return moved;
      moved->load.buffer = row;
      moved->load.address = place;
      return moved;
    });
  }
  nest.rows.insert(row);
}

}  // namespace

bool GoesPast(const Program& program, const Nest& nest, const Step& step,
              const NestChoices& choices) {
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(step.buffer)];
  const auto bytes = Elements(buffer.shape) * static_cast<std::int64_t>(DTypeSize(buffer.dtype));
  bool past = buffer.kind == Buffer::Kind::kOutput && buffer.dtype == DType::kFloat32 &&
              !Reads(nest, step.buffer) && bytes >= choices.stream_bytes && nest.lane >= 0 &&
              step.place.offset % kFloatsOfLine == 0;
  for (std::size_t i = 0; i < nest.shape.size() && past; ++i) {
    const std::int64_t factor = step.place.factor[i];
    past = static_cast<int>(i) == nest.lane ? factor == 1 : factor % kFloatsOfLine == 0;
  }
  return past;
}

std::optional<HeldRows> HoldRows(const Program& program, const Nest& nest,
                                 const NestChoices& choices) {
  // The cache also holds the data from which the row is made, and the next row of those data. The
  // row is on the thread's stack, which may be small.
  constexpr std::int64_t kMostBytes = std::int64_t{256} << 10;
  if (!nest.LaneInside() ||
      nest.InnerCount() * kFloatBytes > std::min(kMostBytes, choices.private_cache_bytes / 4))
    return std::nullopt;
  std::optional<HeldRows> held;
  std::set<int> written;
  for (const Step& step : nest.steps) written.insert(step.buffer);
  for (const int buffer : written) {
    const std::size_t last = LastInPlace(nest, buffer);
    if (last == nest.steps.size()) continue;
    HeldRows more = held ? *held : HeldRows{program, nest};
    MoveIntoRow(more.nest, buffer, last, AddRow(more.program, nest, buffer));
    if (GoesPast(more.program, more.nest, more.nest.steps[last], choices)) held = std::move(more);
  }
  return held;
}

}  // namespace pragma::expert
