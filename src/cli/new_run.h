// A new run: what is decided before it starts, and whether it can be held at all.
#pragma once

#include "base/result.h"
#include "cli/search_flags.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/task.h"
#include "search/settings.h"

namespace pragma {

// Settings of a new run on an opened task.
[[nodiscard]] RunSettings NewRunSettings(const SearchChoice& choice, const VerifyFlags& verify,
                                         const Workbench& bench, const TaskBench& task);
// kTask when the task cannot be checked at all (it draws random numbers).
[[nodiscard]] Result<void> CheckSearchable(const Task& task);
// kUsage early, before anything is started: a spec names no model, or nobody who was chosen can
// write for the target.
[[nodiscard]] Result<void> CheckModels(const SearchChoice& choice, const Context& context);
[[nodiscard]] Result<void> CheckTarget(const SearchChoice& choice, const VerifyFlags& verify);
// kUnavailable where the target is a GPU and there is none: a search compares times.
[[nodiscard]] Result<void> CheckDevice(const Workbench& bench, Target target);

}  // namespace pragma
