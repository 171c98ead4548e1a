// Adds what a run may begin with besides the task: the best kernels of earlier runs in the same
// store.
#pragma once

#include "base/result.h"
#include "core/task.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {

// Acts only if the preset asks for "earlier". The best kernel that earlier runs of the same task
// found becomes a seed. If there is none, the best kernel of the most similar other task becomes
// the example that the first prompts show. If there is neither, nothing changes.
[[nodiscard]] Result<void> AddEarlierKernels(const Store& store, const Task& task,
                                             RunSettings& settings);

}  // namespace pragma
