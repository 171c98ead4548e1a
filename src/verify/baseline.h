// Figures of a task's Torch sides that are worth keeping between runs.
#pragma once

#include <optional>

#include "task/torch_server.h"

namespace pragma {

// cli or search hands it to the store.
struct TaskBaseline {
  Allocator eager = Allocator::kDefault;  // the faster setting for eager
  double eager_ms = 0;
  std::optional<Allocator> compile;  // the faster setting for torch.compile, once measured
};

}  // namespace pragma
