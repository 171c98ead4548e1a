// An evaluation as people read it.
#pragma once

#include <string>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "report/terminal.h"

namespace pragma {

// Status and reason, checks, error figures, times and speedups with their intervals, bounds,
// environment; only what is known. Ends with a newline.
[[nodiscard]] std::string EvaluationText(const Terminal& terminal, const Task& task,
                                         const Candidate& candidate, const Evaluation& evaluation);
// The table of times alone: kernel, eager, compile, bounds.
[[nodiscard]] std::string TimingText(const Terminal& terminal, const Evaluation& evaluation);

}  // namespace pragma
