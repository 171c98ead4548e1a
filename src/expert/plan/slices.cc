#include "expert/plan/slices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kStreamedFloats = 16;

std::set<int> BuffersOf(const Nest& nest) {
  std::set<int> buffers;
  for (const Step& step : nest.steps) {
    buffers.insert(step.buffer);
    VisitLoads(step.expr, [&](const Load& load, ExprType) { buffers.insert(load.buffer); });
  }
  return buffers;
}

// Returns the buffers that no nest outside uses and whose images follow each other contiguously.
std::set<int> InsideOf(const Program& program, const std::vector<Nest>& nests, const Slices& slices,
                       const std::set<int>& scattered) {
  std::set<int> inside;
  for (const auto& [buffer, step] : slices.step) {
    const Buffer& kept = program.buffers[static_cast<std::size_t>(buffer)];
    if (kept.kind == Buffer::Kind::kScratch && step * slices.images == Elements(kept.shape) &&
        !scattered.contains(buffer))
      inside.insert(buffer);
  }
  for (std::size_t n = 0; n < nests.size(); ++n) {
    if (n >= slices.first && n <= slices.last) continue;
    for (const int buffer : BuffersOf(nests[n])) inside.erase(buffer);
  }
  return inside;
}

std::int64_t BytesOf(const Program& program, const std::vector<Nest>& nests, const Slices& slices) {
  std::int64_t bytes = 0;
  for (const int buffer : slices.inside) {
    bool kept = true;  // in memory
    for (std::size_t n = slices.first; n <= slices.last; ++n)
      kept = kept && !nests[n].forwarded.contains(buffer);
    const Buffer& spec = program.buffers[static_cast<std::size_t>(buffer)];
    if (kept) bytes += Elements(spec.shape) * static_cast<std::int64_t>(DTypeSize(spec.dtype));
  }
  return bytes;
}

// Returns whether all threads have work in each nest of a slice with `at_once` images.
bool KeepsThreadsBusy(const std::vector<Nest>& nests, const Slices& slices, std::int64_t at_once,
                      int threads) {
  for (std::size_t n = slices.first; n <= slices.last; ++n) {
    const std::int64_t outer = nests[n].OuterCount() / slices.images * at_once;
    if (!nests[n].anchored && outer % threads != 0 && outer < 4 * threads) return false;
  }
  return true;
}

// Returns as many images as the caches hold, but at least as many as all threads need.
std::int64_t ImagesAtOnce(const std::vector<Nest>& nests, const Slices& slices, std::int64_t bytes,
                          const KernelTarget& target) {
  std::int64_t chosen = slices.images;
  for (std::int64_t count = slices.images; count >= 1; --count) {
    if (slices.images % count != 0) continue;
    if (!KeepsThreadsBusy(nests, slices, count, target.threads)) break;
    chosen = count;
    if (bytes / slices.images * count <= target.shared_cache_bytes / 2) break;
  }
  return chosen;
}

// Non-temporal stores must begin at a cache line, so slices may move a convolution's own output
// only by whole lines, unless it is in memory that holds one slice.
bool KeepsAlignment(const std::vector<Nest>& nests, const Slices& slices) {
  for (std::size_t n = slices.first; n <= slices.last; ++n) {
    const int output = nests[n].steps.back().buffer;
    if (nests[n].anchored && !slices.inside.contains(output) &&
        slices.step.at(output) % kStreamedFloats != 0)
      return false;
  }
  return true;
}

std::optional<Slices> RepeatFrom(const Program& program, const std::vector<Nest>& nests,
                                 std::size_t first) {
  const int number = nests[first].repeat;
  if (number < 0) return std::nullopt;
  const Repeat& repeat = program.repeats[static_cast<std::size_t>(number)];
  Slices slices{first, first, repeat.count, 1, repeat.step, {}, true};
  while (slices.last + 1 < nests.size() && nests[slices.last + 1].repeat == number) ++slices.last;
  return slices;
}

// The only anchor of a repeat keeps its scratch memory between iterations. So the packed form of a
// matrix that no iteration changes can be made once.
void KeepRightMatrix(const Slices& slices, std::vector<Nest>& nests) {
  const auto begin = nests.begin() + static_cast<std::ptrdiff_t>(slices.first);
  const auto end = nests.begin() + static_cast<std::ptrdiff_t>(slices.last) + 1;
  const auto anchor = std::find_if(begin, end, [](const Nest& nest) { return nest.anchored; });
  if (std::count_if(begin, end, [](const Nest& nest) { return nest.anchored; }) != 1 ||
      !anchor->steps[0].product)
    return;
  const int right = anchor->steps[0].product->right->load.buffer;
  anchor->keeps_right =
      !slices.step.contains(right) &&
      std::none_of(begin, end, [right](const Nest& nest) { return Writes(nest, right); });
}

std::int64_t WeightBytes(const Program& program, const Nest& nest) {
  if (!nest.anchored) return 0;
  const int weight = nest.steps[0].convolution->weight;
  return Elements(program.buffers[static_cast<std::size_t>(weight)].shape) * kFloatBytes;
}

// Returns whether each image's results are in memory of their own, so that no two threads write to
// one element.
bool WritesApart(const std::vector<Nest>& nests, const Slices& slices) {
  for (std::size_t n = slices.first; n <= slices.last; ++n)
    for (const Step& step : nests[n].steps)
      if (slices.step.at(step.buffer) == 0) return false;
  return true;
}

// Returns the longest run of nests from `first` on through which each thread can take images of its
// own, if it has several convolutions. All images read the weights, which must stay in the caches.
std::optional<Slices> ThreadSlicesFrom(const Program& program, const std::vector<Nest>& nests,
                                       std::size_t first, const KernelTarget& target) {
  Slices slices{first, first, nests[first].steps[0].convolution->batch, 1, {}, {}, false};
  slices.by_thread = true;
  const std::int64_t images = slices.images;
  if (images % target.threads != 0 && images < 4 * target.threads) return std::nullopt;
  ImageSteps all(images);
  std::int64_t weights = 0;
  std::size_t convolutions = 0;
  std::size_t last = first;
  for (std::size_t n = first; n < nests.size() && nests[n].repeat < 0; ++n) {
    const bool convolution = nests[n].anchored && nests[n].steps[0].convolution;
    ImageSteps more = all;
    if (nests[n].anchored != convolution || !more.Add(nests[n])) break;
    weights += WeightBytes(program, nests[n]);
    if (weights > target.shared_cache_bytes / 4) break;
    all = std::move(more);
    convolutions += convolution ? 1 : 0;
    last = n;
  }
  slices.last = last;
  slices.step = all.steps();
  slices.inside = InsideOf(program, nests, slices, all.scattered());
  const std::int64_t bytes = BytesOf(program, nests, slices);
  if (convolutions < 2 || bytes < target.threads * target.private_cache_bytes ||
      !WritesApart(nests, slices) || !KeepsAlignment(nests, slices))
    return std::nullopt;
  return slices;
}

std::optional<Slices> SlicesFrom(const Program& program, const std::vector<Nest>& nests,
                                 std::size_t first, const KernelTarget& target) {
  if (!nests[first].anchored || !nests[first].steps[0].convolution) return std::nullopt;
  if (nests[first].steps[0].convolution->batch < 2) return std::nullopt;
  if (std::optional<Slices> own = ThreadSlicesFrom(program, nests, first, target)) return own;
  Slices slices{first, first, nests[first].steps[0].convolution->batch, 1, {}, {}, false};
  ImageSteps all(slices.images);
  if (!all.Add(nests[first])) return std::nullopt;
  for (std::size_t n = first + 1; n < nests.size() && !nests[n].anchored && nests[n].repeat < 0;
       ++n) {
    ImageSteps more = all;
    if (!more.Add(nests[n])) break;
    all = std::move(more);
    slices.last = n;
  }
  slices.step = all.steps();
  slices.inside = InsideOf(program, nests, slices, all.scattered());
  const std::int64_t bytes = BytesOf(program, nests, slices);
  if (bytes < target.shared_cache_bytes || !KeepsAlignment(nests, slices)) return std::nullopt;
  slices.at_once = ImagesAtOnce(nests, slices, bytes, target);
  if (slices.at_once == slices.images) return std::nullopt;
  return slices;
}

void GiveToThreads(const Slices& slices, std::vector<Nest>& nests) {
  for (std::size_t n = slices.first; n <= slices.last; ++n) {
    nests[n].one_thread = true;
    nests[n].keeps_right = nests[n].anchored;  // its packed weights
  }
}

void LeaveOneSlice(Program& program, std::vector<Nest>& nests, const Slices& slices) {
  const std::int64_t parts = slices.images / slices.at_once;
  for (std::size_t n = slices.first; n <= slices.last; ++n) {
    Nest& nest = nests[n];
    nest.shape[0] /= parts;
    for (Step& step : nest.steps) {
      step.shape = nest.shape;
      if (step.convolution) step.convolution->batch = slices.at_once;
    }
  }
  for (const int buffer : slices.inside) {
    Shape& shape = program.buffers[static_cast<std::size_t>(buffer)].shape;
    if (shape[0] == slices.images) {
      shape[0] = slices.at_once;
    } else {
      shape = {slices.at_once, Elements(shape) / slices.images};
    }
  }
}

}  // namespace

std::vector<Slices> MakeSlices(Program& program, std::vector<Nest>& nests,
                               const KernelTarget& target) {
  std::vector<Slices> found;
  for (std::size_t n = 0; n < nests.size(); ++n) {
    std::optional<Slices> slices = RepeatFrom(program, nests, n);
    if (slices) {
      KeepRightMatrix(*slices, nests);
      ShareRepeat(*slices, nests, target);
    } else {
      slices = SlicesFrom(program, nests, n, target);
      if (!slices) continue;
      LeaveOneSlice(program, nests, *slices);
      if (slices->by_thread) GiveToThreads(*slices, nests);
    }
    n = slices->last;
    found.push_back(std::move(*slices));
  }
  return found;
}

}  // namespace pragma::expert
