// Decides what must be decided before a new run starts, and checks whether it can be run at all.
#pragma once

#include "app/search_choice.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/judging.h"
#include "core/task.h"
#include "search/settings.h"

namespace pragma {

// Returns the settings that follow from the choice and from how kernels are judged alone. Two runs
// are comparable if these are equal.
[[nodiscard]] RunSettings SettingsOf(const SearchChoice& choice, const JudgingOptions& judging);
// Returns the settings of a new run on an opened task.
[[nodiscard]] RunSettings NewRunSettings(const SearchChoice& choice, const JudgingOptions& judging,
                                         const Workbench& bench, const TaskBench& task);
// Fails with kTask if the task cannot be checked at all (because it draws random numbers).
[[nodiscard]] Result<void> CheckSearchable(const Task& task);
// Fails with kUsage early, before anything is started, if a spec does not name a model
// (CheckModels) or if none of the chosen models can write for the target (CheckTarget).
[[nodiscard]] Result<void> CheckModels(const SearchChoice& choice, const AppContext& context);
[[nodiscard]] Result<void> CheckTarget(const SearchChoice& choice, const JudgingOptions& judging);
// Fails with kUnavailable if the target is a GPU and there is none, because a search compares
// times.
[[nodiscard]] Result<void> CheckDevice(const Workbench& bench, Language language);

}  // namespace pragma
