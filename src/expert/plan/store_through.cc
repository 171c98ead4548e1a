#include "expert/plan/store_through.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/anchor_nests.h"

namespace pragma::expert {
namespace {

struct Uses {
  int writers = 0;
  int readers = 0;
  std::size_t writer = 0;
};

Uses UsesOf(const Program& program, int buffer) {
  Uses uses;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (step.buffer == buffer) {
      ++uses.writers;
      uses.writer = s;
    }
    VisitLoads(step.expr,
               [&](const Load& load, ExprType) { uses.readers += load.buffer == buffer; });
  }
  return uses;
}

// Returns the writer's unused dimension that has this stride in memory, or its rank.
std::size_t DimensionWith(const Step& writer, std::int64_t stride, const std::vector<bool>& used) {
  std::size_t i = 0;
  while (i < writer.shape.size() &&
         (used[i] || writer.folded[i] || writer.shape[i] == 1 || writer.place.factor[i] != stride))
    ++i;
  return i;
}

// Returns the copy's destination in terms of the writer's dimensions. Each dimension of the copy
// must traverse one or several dimensions of the writer over their whole extent, and backwards only
// one.
std::optional<AffineForm> PlaceThrough(const Step& writer, const Step& copy) {
  const AffineForm& from = copy.expr->load.address;
  AffineForm place = ZeroForm(writer.shape.size());
  place.offset = copy.place.offset;
  std::int64_t start = writer.place.offset;
  std::vector<bool> used(writer.shape.size(), false);
  for (std::size_t j = 0; j < copy.shape.size(); ++j) {
    const bool backwards = from.factor[j] < 0;
    std::int64_t left = copy.shape[j];
    std::int64_t stride = std::abs(from.factor[j]);
    std::int64_t step = copy.place.factor[j];
    if (backwards) {
      start += (left - 1) * stride;
      place.offset += (left - 1) * step;
      step = -step;
    }
    while (left > 1) {
      const std::size_t i = DimensionWith(writer, stride, used);
      if (i == writer.shape.size() || left % writer.shape[i] != 0) return std::nullopt;
      if (backwards && writer.shape[i] != left) return std::nullopt;
      used[i] = true;
      place.factor[i] = step;
      left /= writer.shape[i];
      stride *= writer.shape[i];
      step *= writer.shape[i];
    }
  }
  for (std::size_t i = 0; i < writer.shape.size(); ++i)
    if (!used[i] && !writer.folded[i] && writer.shape[i] != 1) return std::nullopt;
  if (start != from.offset) return std::nullopt;
  return place;
}

// Returns whether a writer can store to this place. A scan keeps the order of its own dimension.
// The output of a generator must be contiguous in one of its last two dimensions.
bool FitsWriter(const Step& writer, const AffineForm& place, bool generators) {
  if (!generators) return true;
  if (writer.convolution) return false;
  if (!writer.product) return true;
  const std::size_t rank = writer.shape.size();
  for (const std::int64_t factor : place.factor)
    if (factor < 0) return false;
  Shape merged(writer.shape.end() - 3, writer.shape.end());
  merged.insert(merged.begin(), Elements(writer.shape) / Elements(merged));
  if (!Reshape(place, writer.shape, merged)) return false;  // one stride from matrix to matrix
  return StoresLines(writer.shape, place, rank - 3, rank - 2);
}

bool IsCopy(const Program& program, const Step& step) {
  if (step.kind != Step::Kind::kMap || !IsPlainLoad(*step.expr) || step.repeat >= 0) return false;
  const Buffer& from = program.buffers[static_cast<std::size_t>(step.expr->load.buffer)];
  const Buffer& to = program.buffers[static_cast<std::size_t>(step.buffer)];
  return from.kind == Buffer::Kind::kScratch && from.dtype == to.dtype;
}

}  // namespace

void StoreThrough(Program& program, bool generators) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step copy = program.steps[s];
    if (!IsCopy(program, copy)) continue;
    const Uses uses = UsesOf(program, copy.expr->load.buffer);
    if (uses.writers != 1 || uses.readers != 1 || uses.writer >= s) continue;
    Step& writer = program.steps[uses.writer];
    const std::optional<AffineForm> place = PlaceThrough(writer, copy);
    if (writer.repeat >= 0 || writer.routine || !place || !FitsWriter(writer, *place, generators))
      continue;
    writer.place = *place;
    writer.buffer = copy.buffer;
    program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(s));
    --s;
  }
}

}  // namespace pragma::expert
