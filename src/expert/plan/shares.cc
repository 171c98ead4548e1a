#include "expert/plan/shares.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/image_steps.h"
#include "expert/plan/nest.h"
#include "expert/plan/slices.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kWorthSharing = std::int64_t{1} << 15;  // elements, over all iterations
constexpr std::int64_t kLineFloats = 16;                       // of a cache line, and of a vector

// Returns where each image begins in each buffer, or nullopt where the nests do not treat so many
// images separately. Two threads must not write to one element.
std::optional<std::map<int, std::int64_t>> StepsOf(std::span<const Nest> nests,
                                                   std::int64_t images) {
  ImageSteps all(images, kLineFloats);
  for (const Nest& nest : nests)
    if (!all.Add(nest)) return std::nullopt;
  for (const Nest& nest : nests)
    for (const Step& step : nest.steps)
      if (all.steps().at(step.buffer) == 0) return std::nullopt;
  return all.steps();
}

// Returns the size of the first dimension that all nests have in common.
std::int64_t CommonSize(std::span<const Nest> nests) {
  std::int64_t common = 0;
  for (const Nest& nest : nests) {
    const bool loops = !nest.anchored && !nest.shape.empty() && !nest.steps[0].routine;
    common = std::gcd(common, loops ? nest.shape[0] : 1);
  }
  return common;
}

// Returns the number of images for which one thread runs all iterations at a time: a whole share,
// or less where the threads would not finish together.
std::int64_t ImagesAtOnce(std::int64_t images, int threads) {
  for (std::int64_t count = images; count > 1; --count) {
    const std::int64_t parts = images / count;
    if (images % count == 0 && (parts % threads == 0 || parts >= 4 * threads)) return count;
  }
  return 1;
}

}  // namespace

void ShareRepeat(Slices& repeat, std::vector<Nest>& nests, const KernelTarget& target) {
  const std::span own(nests.begin() + static_cast<std::ptrdiff_t>(repeat.first),
                      nests.begin() + static_cast<std::ptrdiff_t>(repeat.last) + 1);
  std::int64_t work = 0;
  for (const Nest& nest : own) work += Elements(nest.shape) * repeat.images;
  if (target.threads < 2 || work < kWorthSharing) return;
  for (std::int64_t images = CommonSize(own); images > 1; --images) {
    if (CommonSize(own) % images != 0) continue;
    const std::optional<std::map<int, std::int64_t>> step = StepsOf(own, images);
    if (!step) continue;
    const std::int64_t at_once = ImagesAtOnce(images, target.threads);
    repeat.share = Share{images, at_once, *step};
    for (Nest& nest : own) {
      nest.shape[0] = nest.shape[0] / images * at_once;
      for (Step& nest_step : nest.steps) nest_step.shape = nest.shape;
      nest.one_thread = true;
    }
    return;
  }
}

}  // namespace pragma::expert
