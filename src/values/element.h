// Reads and writes tensor elements of any dtype as double.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/task.h"

namespace pragma {

template <class T>
[[nodiscard]] T LoadElement(const std::byte* data, std::size_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

[[nodiscard]] inline double BFloat16ToDouble(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
}

// Converts an IEEE 754 binary16 value.
[[nodiscard]] double Float16ToDouble(std::uint16_t bits);

// Rounds to nearest, ties to even. NaN and infinity stay as they are.
[[nodiscard]] std::uint16_t ToBFloat16(float value);

// Rounds `value` to the dtype and writes it as element `index`. Floating dtypes only.
void StoreElement(DType dtype, std::byte* data, std::size_t index, double value);

// Calls body(read) once with a reader `double read(const std::byte*, std::size_t)` for the dtype,
// so that loops are compiled per type.
template <class Body>
decltype(auto) WithReader(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat32:
      return body([](const std::byte* p, std::size_t i) {
        return static_cast<double>(LoadElement<float>(p, i));
      });
    case DType::kFloat64:
      return body([](const std::byte* p, std::size_t i) { return LoadElement<double>(p, i); });
    case DType::kBFloat16:
      return body([](const std::byte* p, std::size_t i) {
        return BFloat16ToDouble(LoadElement<std::uint16_t>(p, i));
      });
    case DType::kFloat16:
      return body([](const std::byte* p, std::size_t i) {
        return Float16ToDouble(LoadElement<std::uint16_t>(p, i));
      });
    case DType::kInt8:
      return body([](const std::byte* p, std::size_t i) {
        return static_cast<double>(LoadElement<std::int8_t>(p, i));
      });
    case DType::kInt16:
      return body([](const std::byte* p, std::size_t i) {
        return static_cast<double>(LoadElement<std::int16_t>(p, i));
      });
    case DType::kInt32:
      return body([](const std::byte* p, std::size_t i) {
        return static_cast<double>(LoadElement<std::int32_t>(p, i));
      });
    case DType::kInt64:
      return body([](const std::byte* p, std::size_t i) {
        return static_cast<double>(LoadElement<std::int64_t>(p, i));
      });
    case DType::kUInt8:
    case DType::kBool:
      return body([](const std::byte* p, std::size_t i) {
        return static_cast<double>(LoadElement<std::uint8_t>(p, i));
      });
  }
  return body([](const std::byte*, std::size_t) { return 0.0; });
}

}  // namespace pragma
