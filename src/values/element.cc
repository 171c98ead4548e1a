#include "values/element.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/task.h"

namespace pragma {
namespace {

__extension__ typedef _Float16 Half;  // NOLINT(modernize-use-using): an extension needs the keyword

template <class T>
void Store(std::byte* data, std::size_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

double Float16ToDouble(std::uint16_t bits) {
  const int exponent = (bits >> 10U) & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

std::uint16_t ToBFloat16(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) return static_cast<std::uint16_t>(bits >> 16U);
  bits += 0x7FFFU + ((bits >> 16U) & 1U);
  return static_cast<std::uint16_t>(bits >> 16U);
}

void StoreElement(DType dtype, std::byte* data, std::size_t index, double value) {
  switch (dtype) {
    case DType::kFloat32: return Store(data, index, static_cast<float>(value));
    case DType::kFloat64: return Store(data, index, value);
    case DType::kBFloat16: return Store(data, index, ToBFloat16(static_cast<float>(value)));
    case DType::kFloat16: return Store(data, index, static_cast<Half>(value));
    default: return;
  }
}

}  // namespace pragma
