// Loops over many elements that run on all processors of this machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace pragma {

// Number of elements that one thread takes at a time. The parts do not depend on the number of
// processors, so sums over them are the same on every machine.
inline constexpr std::size_t kPart = std::size_t{1} << 20U;

// Calls body(i) once for each i below `count`, several at a time and in any order. `body` must not
// throw. Returns when all calls are done.
void ForEachIndex(std::size_t count, const std::function<void(std::size_t)>& body);

// Splits [0, count) into parts of kPart elements and returns body(begin, end) of each part, in
// order. `Value` must be default-constructible.
template <class Value, class Body>
[[nodiscard]] std::vector<Value> ByParts(std::size_t count, Body body) {
  std::vector<Value> values((count + kPart - 1) / kPart);
  ForEachIndex(values.size(), [&](std::size_t part) {
    values[part] = body(part * kPart, std::min((part + 1) * kPart, count));
  });
  return values;
}

// Returns whether holds(i) is true for every i below `count`.
template <class Holds>
[[nodiscard]] bool AllOf(std::size_t count, Holds holds) {
  const std::vector<char> parts = ByParts<char>(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!holds(i)) return char{0};
    }
    return char{1};
  });
  return std::ranges::all_of(parts, [](char part) { return part != 0; });
}

}  // namespace pragma
