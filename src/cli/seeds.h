// What a run may begin with besides the task: the best kernels of earlier runs in the same store.
#pragma once

#include "base/result.h"
#include "core/task.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {

// Where the preset asks for "earlier": the best kernel that a run of the same task found becomes a
// seed; without one, the best kernel of the most similar other task becomes the example that first
// prompts show. Nothing where there is neither.
[[nodiscard]] Result<void> AddEarlierKernels(const Store& store, const Task& task,
                                             RunSettings& settings);

}  // namespace pragma
