// Helpers for tests of the expert: they make the pieces of a task's graph.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"

namespace pragma::expert {

[[nodiscard]] inline ScalarValue Int(std::int64_t value) {
  return {.kind = ScalarValue::Kind::kInt, .integer = value};
}
[[nodiscard]] inline ScalarValue Node(std::string name) {
  return {.kind = ScalarValue::Kind::kNode, .text = std::move(name)};
}
[[nodiscard]] inline TensorSpec Tensor(const std::string& name, std::vector<std::int64_t> shape) {
  return {name, name, TensorRole::kInput, DType::kFloat32, std::move(shape)};
}

}  // namespace pragma::expert
