#include "verify/structure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/task.h"
#include "task/set_layout.h"
#include "values/element.h"

namespace pragma {
namespace {

constexpr std::size_t kFewValues = 16;
constexpr std::size_t kManyElements = 64;
constexpr double kSumTolerance = 1e-3;

// Collects up to kFewValues distinct values. More are not kept.
class DistinctValues final {
 public:
  void Add(double value) {
    if (full_) return;
    const auto end = values_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (std::find(values_.begin(), end, value) != end) return;
    if (count_ == kFewValues) {
      full_ = true;
    } else {
      values_[count_++] = value;
    }
  }
  [[nodiscard]] bool few() const { return !full_; }
  [[nodiscard]] bool one() const { return !full_ && count_ <= 1; }

 private:
  std::array<double, kFewValues> values_{};
  std::size_t count_ = 0;
  bool full_ = false;
};

template <class Reader>
bool IsSymmetric(const TensorSpec& tensor, const std::byte* data, Reader read) {
  const std::size_t rank = tensor.shape.size();
  if (rank < 2) return false;
  const auto n = static_cast<std::size_t>(tensor.shape[rank - 1]);
  if (n < 2 || tensor.shape[rank - 2] != tensor.shape[rank - 1]) return false;
  // The first matrix is enough: a random draw is never symmetric by chance.
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (read(data, i * n + j) != read(data, j * n + i)) return false;
    }
  }
  return true;
}

template <class Reader>
bool RowsSumToOne(const TensorSpec& tensor, const std::byte* data, Reader read) {
  const std::size_t row = tensor.shape.empty() ? 0 : static_cast<std::size_t>(tensor.shape.back());
  if (row < 2) return false;
  for (std::size_t begin = 0; begin < tensor.elements(); begin += row) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + row; ++i) {
      const double value = read(data, i);
      if (value < 0) return false;
      sum += value;
    }
    if (!(std::abs(sum - 1) <= kSumTolerance)) return false;
  }
  return true;
}

template <class Reader>
TensorStructure Detect(const TensorSpec& tensor, const std::byte* data, Reader read) {
  TensorStructure structure;
  DistinctValues distinct;
  double squares = 0;
  std::size_t zeros = 0;
  const std::size_t count = tensor.elements();
  for (std::size_t i = 0; i < count; ++i) {
    const double value = read(data, i);
    distinct.Add(value);
    squares += value * value;
    zeros += value == 0 ? 1 : 0;
    structure.non_finite = structure.non_finite || !std::isfinite(value);
  }
  structure.rms = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(count, 1)));
  structure.constant = distinct.one();
  structure.few_values = distinct.few() && !distinct.one() && count >= kManyElements;
  structure.some_zeros = zeros > 0 && zeros < count;
  structure.symmetric = !structure.constant && IsSymmetric(tensor, data, read);
  structure.rows_sum_to_one = !structure.constant && RowsSumToOne(tensor, data, read);
  return structure;
}

}  // namespace

TensorStructure DetectStructure(const TensorSpec& tensor, const std::byte* data) {
  return WithReader(tensor.dtype, [&](auto read) { return Detect(tensor, data, read); });
}

void MirrorMatrices(const TensorSpec& tensor, std::byte* data) {
  const auto n = static_cast<std::size_t>(tensor.shape.back());
  WithReader(tensor.dtype, [&](auto read) {
    for (std::size_t begin = 0; begin < tensor.elements(); begin += n * n) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          StoreElement(tensor.dtype, data, begin + j * n + i, read(data, begin + i * n + j));
        }
      }
    }
  });
}

std::vector<TensorStructure> DetectStructures(const Task& task, std::span<const std::byte> packed) {
  const SetLayout layout = PackedLayout(task);
  std::vector<TensorStructure> structures;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const TensorSpec& tensor = task.arguments[i];
    structures.push_back(IsFloating(tensor.dtype)
                             ? DetectStructure(tensor, packed.data() + layout.argument_offsets[i])
                             : TensorStructure{});
  }
  return structures;
}

}  // namespace pragma
