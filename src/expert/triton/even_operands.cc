#include "expert/triton/even_operands.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/contraction.h"
#include "expert/plan/nest.h"

namespace pragma::expert::triton {
namespace {

// Smallest number of multiplications for which a copy's launch does not matter, and for each copied
// element.
constexpr std::int64_t kWorthCopying = std::int64_t{1} << 31;
constexpr std::int64_t kReuseOfCopies = 256;
constexpr std::int64_t kUnit = 8;  // elements of 16 bits in 16 bytes

// Returns the dimensions along which an operand varies, those with the longest strides first.
std::vector<std::size_t> DimsOf(const AffineForm& address) {
  std::vector<std::size_t> dims;
  for (std::size_t i = 0; i < address.factor.size(); ++i)
    if (address.factor[i] != 0) dims.push_back(i);
  std::ranges::stable_sort(
      dims, [&](std::size_t a, std::size_t b) { return address.factor[a] > address.factor[b]; });
  return dims;
}

// Returns whether the elements lie in lines that do not all begin at multiples of 16 bytes.
bool IsUneven(const Load& load, const Shape& shape, const std::vector<std::size_t>& dims) {
  if (!load.bounds.empty() || dims.size() < 2 || load.address.factor[dims.back()] != 1)
    return false;
  const auto is_odd = [&](std::size_t dim) {
    return shape[dim] > 1 && load.address.factor[dim] % kUnit != 0;
  };
  return std::any_of(dims.begin(), dims.end() - 1, is_odd);
}

// Inserts a copy of an operand before step `s`. Returns the load of the copy.
ExprPtr Copied(Program& program, std::size_t s, const ExprPtr& operand,
               const std::vector<std::size_t>& dims) {
  const Step& reader = program.steps[s];
  const Load& load = operand->load;
  Step copy;
  copy.what = "lines that begin at multiples of 16 bytes";
  copy.name = reader.name + "_even";
  copy.repeat = reader.repeat;
  AffineForm from = ZeroForm(dims.size());
  from.offset = load.address.offset;
  Shape padded;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    copy.shape.push_back(reader.shape[dims[i]]);
    from.factor[i] = load.address.factor[dims[i]];
  }
  padded = copy.shape;
  padded.back() = (padded.back() + kUnit - 1) / kUnit * kUnit;
  copy.folded.assign(dims.size(), false);
  copy.expr = LoadOf(load.buffer, from, operand->type);
  copy.place = ContiguousForm(padded);
  copy.buffer = static_cast<int>(program.buffers.size());
  const Buffer& source = program.buffers[static_cast<std::size_t>(load.buffer)];
  program.buffers.push_back({Buffer::Kind::kScratch, source.name + "_even", source.dtype, padded});
  AffineForm address = ZeroForm(reader.shape.size());
  for (std::size_t i = 0; i < dims.size(); ++i) address.factor[dims[i]] = copy.place.factor[i];
  const int buffer = copy.buffer;
  program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(s), std::move(copy));
  return LoadOf(buffer, address, operand->type);
}

bool IsWorthIt(const Program& program, const Step& step) {
  const std::optional<Contraction> form = ContractionOf(step);
  if (!form || !Has16Bits(program, *form) || HasBand(step)) return false;
  const std::int64_t rows = Elements(step.shape, form->rows);
  const std::int64_t columns = Elements(step.shape, form->columns);
  return Elements(step.shape) >= kWorthCopying &&
         rows * columns / (rows + columns) >= kReuseOfCopies;
}

}  // namespace

void EvenOperands(Program& program) {
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (!IsWorthIt(program, program.steps[s])) continue;
    std::vector<ExprPtr> args = program.steps[s].expr->args;
    for (ExprPtr& operand : args) {
      const std::vector<std::size_t> dims = DimsOf(operand->load.address);
      if (!IsUneven(operand->load, program.steps[s].shape, dims)) continue;
      operand = Copied(program, s, operand, dims);
      ++s;
    }
    program.steps[s].expr = Make(ExprOp::kMultiply, args);
  }
}

}  // namespace pragma::expert::triton
