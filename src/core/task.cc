#include "core/task.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

namespace pragma {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::string_view cpp;
  std::size_t size;
};

constexpr std::array<DTypeRow, 10> kDTypes{{
    {DType::kFloat32, "float32", "float", 4},
    {DType::kFloat64, "float64", "double", 8},
    {DType::kBFloat16, "bfloat16", "pragma_bf16", 2},
    {DType::kFloat16, "float16", "_Float16", 2},
    {DType::kInt8, "int8", "std::int8_t", 1},
    {DType::kInt16, "int16", "std::int16_t", 2},
    {DType::kInt32, "int32", "std::int32_t", 4},
    {DType::kInt64, "int64", "std::int64_t", 8},
    {DType::kUInt8, "uint8", "std::uint8_t", 1},
    {DType::kBool, "bool", "bool", 1},
}};

const DTypeRow& Row(DType dtype) { return kDTypes.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::size_t DTypeSize(DType dtype) { return Row(dtype).size; }
std::string_view DTypeName(DType dtype) { return Row(dtype).name; }
std::string_view DTypeCppName(DType dtype) { return Row(dtype).cpp; }

std::optional<DType> DTypeFromName(std::string_view name) {
  const auto* row = std::ranges::find(kDTypes, name, &DTypeRow::name);
  if (row == kDTypes.end()) return std::nullopt;
  return row->dtype;
}

bool IsFloating(DType dtype) { return dtype <= DType::kFloat16; }

std::string_view TensorRoleName(TensorRole role) {
  constexpr std::array<std::string_view, 5> kNames{"input", "parameter", "buffer", "constant",
                                                   "output"};
  return kNames.at(static_cast<std::size_t>(role));
}

std::size_t TensorSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1},
                         [](std::size_t product, std::int64_t size) {
                           return product * static_cast<std::size_t>(size);
                         });
}

std::size_t TensorSpec::bytes() const { return elements() * DTypeSize(dtype); }

std::size_t Task::set_bytes() const {
  std::size_t total = 0;
  for (const TensorSpec& tensor : arguments) total += tensor.bytes();
  for (const TensorSpec& tensor : outputs) total += tensor.bytes();
  return total;
}

}  // namespace pragma
