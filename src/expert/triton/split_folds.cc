#include "expert/triton/split_folds.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/contraction.h"
#include "expert/plan/join.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/tile_fold.h"

namespace pragma::expert::triton {
namespace {

// Number of elements that one program processes. A smaller reduction finishes before the host has
// launched the second kernel, with its scratch, that a split needs.
constexpr std::int64_t kWorthSplitting = std::int64_t{1} << 17;
constexpr std::int64_t kBlockOfProduct = 128;
constexpr std::int64_t kBlockOf16Bits = 64;  // of products that are read as they are stored
constexpr std::int64_t kSmallestDepth = 512;
// The same for products of 16 bits with few rows. The parts of a shorter one take longer to add
// than they save.
constexpr std::int64_t kSmallestDepthOfFewRows = 4096;
constexpr std::int64_t kSmallestRow = 2048;
constexpr std::int64_t kSmallestColumn = 64;
constexpr std::int64_t kColumnsTogether = 64;  // results of one program, side by side

// The number of programs that the step would have, the number that is enough, and the fewest
// elements to leave in each part.
struct Work {
  std::int64_t programs = 1;
  std::int64_t enough = kProcessors;
  std::int64_t smallest = 1;
};

std::int64_t FoldedCount(const Step& step) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < step.shape.size(); ++i)
    if (step.folded[i]) count *= step.shape[i];
  return count;
}

Work WorkOf(const Program& program, const Step& step, bool products) {
  if (const std::optional<Contraction> form = ContractionOf(step); form && products) {
    const std::int64_t block = Has16Bits(program, *form) ? kBlockOf16Bits : kBlockOfProduct;
    const bool few =
        Has16Bits(program, *form) && Elements(step.shape, form->rows) <= kFewRowsOfProduct;
    const auto blocks = [block](std::int64_t count) { return (count + block - 1) / block; };
    return {Elements(step.shape, form->batch) * blocks(Elements(step.shape, form->rows)) *
                blocks(Elements(step.shape, form->columns)),
            kProcessors / 2, few ? kSmallestDepthOfFewRows : kSmallestDepth};
  }
  const std::int64_t outer = Elements(step.shape) / FoldedCount(step);
  if (RunsDownColumns({step}, step.shape, step.folded))
    return {(outer + kColumnsTogether - 1) / kColumnsTogether, kProcessors, kSmallestColumn};
  return {outer, kProcessors, kSmallestRow};
}

// Returns the largest divisor of `count` that is not greater than `most`.
std::int64_t Divisor(std::int64_t count, std::int64_t most) {
  std::int64_t divisor = std::min(count, most);
  while (count % divisor != 0) --divisor;
  return divisor;
}

// Returns the number of parts into which each dimension is cut, starting with the outermost.
std::vector<std::int64_t> PartsOf(const Step& step, std::int64_t wanted) {
  std::vector<std::int64_t> parts(step.shape.size(), 1);
  for (std::size_t i = 0; i < step.shape.size() && wanted > 1; ++i) {
    if (!step.folded[i]) continue;
    parts[i] = Divisor(step.shape[i], wanted);
    wanted /= parts[i];
  }
  return parts;
}

// Returns the step that computes partial results. Each cut dimension becomes [parts, elements of a
// part], of which only the second is reduced.
Step Partial(const Step& step, const std::vector<std::int64_t>& parts) {
  Step partial = step;
  partial.product.reset();
  partial.convolution.reset();
  partial.shape.clear();
  partial.folded.clear();
  for (std::size_t i = 0; i < step.shape.size(); ++i) {
    if (parts[i] > 1) {
      partial.shape.push_back(parts[i]);
      partial.folded.push_back(false);
    }
    partial.shape.push_back(step.shape[i] / parts[i]);
    partial.folded.push_back(step.folded[i]);
  }
  ChangeForms(partial, [&](AffineForm& form) {
    AffineForm cut;
    cut.offset = form.offset;
    for (std::size_t i = 0; i < step.shape.size(); ++i) {
      if (parts[i] > 1) cut.factor.push_back(form.factor[i] * (step.shape[i] / parts[i]));
      cut.factor.push_back(form.factor[i]);
    }
    form = cut;
  });
  return partial;
}

// Returns where the partial results lie, as a form over [results..., parts...]. Those of a row's
// reduction lie side by side. Those of a product are whole matrices, one after the other, so that
// blocks of results are stored in lines.
AffineForm PlaceOfParts(const Shape& kept, const Shape& cut, bool product) {
  Shape shape = kept;
  shape.insert(shape.end(), cut.begin(), cut.end());
  if (!product) return ContiguousForm(shape);
  Shape turned = cut;
  turned.insert(turned.end(), kept.begin(), kept.end());
  AffineForm form = ContiguousForm(turned);
  std::ranges::rotate(form.factor, form.factor.begin() + static_cast<std::ptrdiff_t>(cut.size()));
  return form;
}

void SplitStep(Program& program, std::size_t s, const std::vector<std::int64_t>& parts) {
  const Step step = program.steps[s];
  Step partial = Partial(step, parts);
  // The shape of the partial results: results, then parts, [outer..., parts...].
  Shape kept;
  Shape cut;
  for (std::size_t i = 0; i < step.shape.size(); ++i) {
    kept.push_back(step.folded[i] ? 1 : step.shape[i]);
    if (parts[i] > 1) cut.push_back(parts[i]);
  }
  Shape shape = kept;
  shape.insert(shape.end(), cut.begin(), cut.end());
  const AffineForm place = PlaceOfParts(kept, cut, ContractionOf(step).has_value());

  Step whole = step;
  whole.product.reset();
  whole.convolution.reset();
  whole.shape = shape;
  whole.folded.assign(kept.size(), false);
  whole.folded.resize(shape.size(), true);
  whole.place.factor.resize(shape.size(), 0);
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i] == 1) whole.place.factor[i] = 0;

  const Buffer& target = program.buffers[static_cast<std::size_t>(step.buffer)];
  // Parts of a sum are not rounded to 16 bits.
  const bool narrow = target.dtype == DType::kFloat16 || target.dtype == DType::kBFloat16;
  Buffer buffer{Buffer::Kind::kScratch, target.name + "_parts",
                narrow ? DType::kFloat32 : target.dtype, shape};
  const auto number = static_cast<int>(program.buffers.size());
  whole.expr = LoadOf(number, place, step.expr->type);
  partial.buffer = number;
  partial.name = step.name + "_part";
  partial.place = ZeroForm(partial.shape.size());
  std::size_t next_part = kept.size();
  for (std::size_t i = 0, j = 0; i < step.shape.size(); ++i, ++j) {
    if (parts[i] > 1) partial.place.factor[j++] = place.factor[next_part++];
    if (!step.folded[i]) partial.place.factor[j] = place.factor[i];
  }
  program.buffers.push_back(std::move(buffer));
  program.steps[s] = std::move(partial);
  program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(s) + 1,
                       std::move(whole));
}

}  // namespace

void SplitFolds(Program& program, bool products) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (step.kind != Step::Kind::kFold || step.attention || IsArgFold(step.fold) || HasBand(step))
      continue;
    const Work work = WorkOf(program, step, products);
    if (Elements(step.shape) / std::max<std::int64_t>(work.programs, 1) < kWorthSplitting) continue;
    const std::int64_t wanted = std::min(4 * work.enough / std::max<std::int64_t>(work.programs, 1),
                                         FoldedCount(step) / work.smallest);
    if (work.programs >= work.enough || wanted < 2) continue;
    const std::vector<std::int64_t> parts = PartsOf(step, wanted);
    if (std::ranges::all_of(parts, [](std::int64_t count) { return count == 1; })) continue;
    SplitStep(program, s, parts);
    ++s;
  }
}

}  // namespace pragma::expert::triton
