#include "task/set_layout.h"

#include <cstddef>

#include "core/task.h"

namespace pragma {
namespace {

std::size_t Aligned(std::size_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

SetLayout Layout(const Task& task, bool wide_outputs) {
  SetLayout layout;
  for (const TensorSpec& tensor : task.arguments) {
    layout.argument_offsets.push_back(layout.argument_bytes);
    layout.argument_bytes += Aligned(tensor.bytes());
  }
  for (const TensorSpec& tensor : task.outputs) {
    const bool wide = wide_outputs && IsFloating(tensor.dtype);
    layout.output_offsets.push_back(layout.output_bytes);
    layout.output_bytes += Aligned(wide ? tensor.elements() * sizeof(double) : tensor.bytes());
  }
  return layout;
}

}  // namespace

SetLayout PackedLayout(const Task& task) { return Layout(task, false); }
SetLayout ExpectedLayout(const Task& task) { return Layout(task, true); }

}  // namespace pragma
