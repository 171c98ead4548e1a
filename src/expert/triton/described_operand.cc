#include "expert/triton/described_operand.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/contraction.h"
#include "expert/plan/nest.h"

namespace pragma::expert::triton {
namespace {

// Smallest number of multiplications. In a smaller product, making the descriptors takes longer
// than they save: on an H200 2048^3 takes 0.95 times as long as by pointers, 4096^3 0.99 to 0.84
// times, and 2048 x 512 x 2048 1.3 times.
constexpr std::int64_t kWorthDescribing = std::int64_t{1} << 32;
// So many results make a tile for each processor (132 of 128 x 128). With fewer, a product of less
// than kSurelyWorth multiplications is taken in smaller tiles, by pointers.
constexpr std::int64_t kResultsForAll = std::int64_t{132} * 128 * 128;
constexpr std::int64_t kSurelyWorth = std::int64_t{1} << 34;
// The same for a product whose sizes are no multiples of a load's elements, where each element
// would have a mask of its own.
constexpr std::int64_t kWorthDescribingUneven = std::int64_t{1} << 31;
constexpr std::int64_t kElementsOfLoad = 8;
constexpr std::int64_t kAlignment = 16;  // bytes, of the first element and of every stride

// Returns the stride of dimensions that are counted as one index, or nullopt where they have no
// common stride. No dimensions have stride 0.
std::optional<std::int64_t> CommonStride(const AffineForm& form, const Shape& shape,
                                         const std::vector<std::size_t>& dims) {
  for (std::size_t i = 1; i < dims.size(); ++i)
    if (form.factor[dims[i - 1]] != form.factor[dims[i]] * shape[dims[i]]) return std::nullopt;
  return dims.empty() ? 0 : form.factor[dims.back()];
}

std::optional<DescribedOperand> DescribedOne(const Program& program, const Nest& nest,
                                             const ExprPtr& operand, const Contraction& form,
                                             const std::vector<std::size_t>& row_dims,
                                             int depth_block) {
  const Load& load = operand->load;
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(load.buffer)];
  const auto bytes = static_cast<std::int64_t>(DTypeSize(buffer.dtype));
  const auto row = CommonStride(load.address, nest.shape, row_dims);
  const auto depth = CommonStride(load.address, nest.shape, form.depth);
  const auto batch = CommonStride(load.address, nest.shape, form.batch);
  if (!row || !depth || !batch || !load.bounds.empty()) return std::nullopt;
  if (*row != 1 && *depth != 1) return std::nullopt;

  DescribedOperand found;
  found.buffer = load.buffer;
  found.offset = load.address.offset;
  found.depth_is_contiguous = *depth == 1;
  found.stride = found.depth_is_contiguous ? *row : *depth;
  const std::int64_t rows = Elements(nest.shape, row_dims);
  const std::int64_t steps = Elements(nest.shape, form.depth);
  const std::int64_t batches = Elements(nest.shape, form.batch);
  found.length = found.depth_is_contiguous ? steps : rows;
  found.lines = found.depth_is_contiguous ? rows : steps;
  if (found.stride < found.length || *batch % found.stride != 0) return std::nullopt;
  if (found.stride * bytes % kAlignment != 0 || found.offset * bytes % kAlignment != 0)
    return std::nullopt;
  found.batch_lines = *batch / found.stride;
  // A block that reaches past the last step of the depth would read the next batch.
  if (found.batch_lines != 0 && !found.depth_is_contiguous && steps % depth_block != 0)
    return std::nullopt;
  if (found.batch_lines != 0) found.lines += (batches - 1) * found.batch_lines;
  if (found.lines > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return found;
}

bool IsWorthDescribing(const Shape& shape, const Contraction& form) {
  std::int64_t results = 1;
  for (const auto* dims : {&form.batch, &form.rows, &form.columns})
    results *= Elements(shape, *dims);
  const std::int64_t depth = Elements(shape, form.depth);
  const std::int64_t multiplications = results * depth;
  const bool uneven =
      Elements(shape, form.columns) % kElementsOfLoad != 0 || depth % kElementsOfLoad != 0;
  if (uneven) return multiplications >= kWorthDescribingUneven;
  return multiplications >= (results < kResultsForAll ? kSurelyWorth : kWorthDescribing);
}

}  // namespace

std::string DescribedOperand::Definition(const std::string& name, const std::string& source,
                                         const std::string& rows_block) const {
  const std::string from = offset == 0 ? source : fmt::format("{} + {}", source, offset);
  const std::string block = depth_is_contiguous ? fmt::format("[{}, BLOCK_K]", rows_block)
                                                : fmt::format("[BLOCK_K, {}]", rows_block);
  return fmt::format("{} = tl.make_tensor_descriptor({}, [{}, {}], [{}, 1], {})", name, from, lines,
                     length, stride, block);
}

std::string DescribedOperand::Load(const std::string& name, const std::string& row,
                                   bool depth_first) const {
  std::string line = depth_is_contiguous ? row : "start";
  if (batch_lines != 0) line = fmt::format("batch * {} + {}", batch_lines, line);
  const std::string along = depth_is_contiguous ? "start" : row;
  const bool turned = depth_first == depth_is_contiguous;
  return fmt::format("{}.load([{}, {}]){}", name, line, along, turned ? ".T" : "");
}

std::optional<DescribedProduct> Described(const Program& program, const Nest& nest,
                                          const Contraction& form, int depth_block) {
  if (!IsWorthDescribing(nest.shape, form) || HasBand(nest.steps[0])) return std::nullopt;
  const auto left = DescribedOne(program, nest, form.left, form, form.rows, depth_block);
  const auto right = DescribedOne(program, nest, form.right, form, form.columns, depth_block);
  if (!left || !right) return std::nullopt;
  return DescribedProduct{*left, *right};
}

}  // namespace pragma::expert::triton
