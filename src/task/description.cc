// ParseTaskDescription: turns untrusted text (pragma_torch ran the task's code) into a Task that
// the rest of pragma may rely on: sizes can be added up and names are valid in C++.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "core/json.h"
#include "core/task.h"
#include "task/torch_server.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

constexpr std::array<std::string_view, 6> kCategories{
    "matmul", "activation", "normalization", "pooling_reduction", "convolution", "other"};
// Limit for all tensors of a task together. It is more than any machine has, and far from
// overflowing.
constexpr std::size_t kMaxBytes = std::size_t{1} << 46U;
constexpr std::size_t kMaxDimensions = 64;

std::unexpected<Error> Bad(const std::string& problem) {
  return Fail(ErrorKind::kTask, "description of the task: " + problem);
}

bool IsIdentifier(std::string_view name) {
  const auto inner = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, inner);
}

// Adds the tensor's bytes to `total`. Returns false when that is more than any task may have.
bool AddBytes(const TensorSpec& tensor, std::size_t& total) {
  std::size_t bytes = DTypeSize(tensor.dtype);
  if (tensor.shape.size() > kMaxDimensions) return false;
  for (const std::int64_t size : tensor.shape) {
    if (size < 0) return false;
    const auto factor = static_cast<std::size_t>(size);
    if (factor == 0) return true;
    if (factor > kMaxBytes || bytes > kMaxBytes / factor) return false;
    bytes *= factor;
  }
  total += bytes;
  return total <= kMaxBytes;
}

Result<void> CheckTensors(const Task& task) {
  std::set<std::string> names;
  std::size_t total = 0;
  for (const auto* tensors : {&task.arguments, &task.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (!IsIdentifier(tensor.name)) return Bad("\"" + tensor.name + "\" is not a C++ name");
      if (!names.insert(tensor.name).second) return Bad(tensor.name + " occurs twice");
      if (!AddBytes(tensor, total)) return Bad(tensor.name + " is too large");
    }
  }
  if (names.size() > PRAGMA_MAX_POINTERS) {
    return Bad(std::to_string(names.size()) + " tensors, more than the " +
               std::to_string(PRAGMA_MAX_POINTERS) + " a kernel can take");
  }
  return {};
}

// What forward changes is among the arguments, and the last outputs are its new contents.
Result<void> CheckUpdates(const Task& task) {
  if (task.updates.size() > task.outputs.size()) return Bad("more updates than outputs");
  const std::size_t returned = task.outputs.size() - task.updates.size();
  for (std::size_t i = 0; i < task.updates.size(); ++i) {
    const auto changed = std::ranges::find(task.arguments, task.updates[i], &TensorSpec::name);
    if (changed == task.arguments.end()) return Bad(task.updates[i] + " is not an argument");
    const TensorSpec& after = task.outputs[returned + i];
    if (after.dtype != changed->dtype || after.shape != changed->shape)
      return Bad(after.name + " is not like " + changed->name);
  }
  return {};
}

Result<void> CheckRoles(const Task& task) {
  if (task.outputs.empty()) return Bad("no output");
  if (!std::ranges::is_sorted(task.arguments, {}, &TensorSpec::role)) {
    return Bad("arguments are not in the order inputs, parameters, buffers, constants");
  }
  const auto is_output = [](const TensorSpec& t) { return t.role == TensorRole::kOutput; };
  if (std::ranges::any_of(task.arguments, is_output) ||
      !std::ranges::all_of(task.outputs, is_output)) {
    return Bad("an output is among the arguments, or the reverse");
  }
  return {};
}

Result<void> CheckGraph(const Task& task) {
  for (const GraphNode& node : task.graph) {
    if (node.results.size() != node.strides.size()) {
      return Bad("node " + node.name + " has results and strides of different number");
    }
    std::size_t ignored = 0;
    for (const TensorSpec& tensor : node.results) {
      if (!AddBytes(tensor, ignored)) return Bad("node " + node.name + " is too large");
    }
  }
  return {};
}

Result<void> CheckFigures(const Task& task) {
  if (std::ranges::find(kCategories, task.category) == kCategories.end()) {
    return Bad("\"" + task.category + "\" is not a category");
  }
  constexpr std::array<std::string_view, 4> kKinds{"tensor", "tuple", "list", "tree"};
  if (std::ranges::find(kKinds, task.output_kind) == kKinds.end()) {
    return Bad("\"" + task.output_kind + "\" is not a kind of output");
  }
  if (!std::isfinite(task.flops) || task.flops < 0) return Bad("the FLOPs are not a count");
  if (task.reduction_length < 1) return Bad("the reduction length is below 1");
  for (const auto* values : {&task.init_args, &task.call_args}) {
    for (const NamedValue& value : *values) {
      if (!IsIdentifier(value.name)) return Bad("\"" + value.name + "\" is not a C++ name");
    }
  }
  return {};
}

}  // namespace

Result<Task> ParseTaskDescription(std::string_view json) {
  Result<Task> read = TaskFromJson(json);
  if (!read) return Fail(ErrorKind::kTask, read.error().message);
  Task task = std::move(*read);
  TRY(CheckTensors(task));
  TRY(CheckRoles(task));
  TRY(CheckUpdates(task));
  TRY(CheckGraph(task));
  TRY(CheckFigures(task));
  task.sha256 = Sha256Hex(task.source);
  return task;
}

}  // namespace pragma
