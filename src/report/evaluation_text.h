// Formats an evaluation for people.
#pragma once

#include <string>

#include "core/candidate.h"
#include "core/task.h"
#include "report/terminal.h"

namespace pragma {

struct Evaluation;

// Returns status and reason, checks, error figures, times and speedups with their intervals, bounds
// and environment, as far as they are known. Ends with a newline.
[[nodiscard]] std::string EvaluationText(const Terminal& terminal, const Task& task,
                                         const Candidate& candidate, const Evaluation& evaluation);
// Returns only the table of times: kernel, eager, compile, bounds.
[[nodiscard]] std::string TimingText(const Terminal& terminal, const Evaluation& evaluation);
// Returns a line that says why the figures are uncertain, or an empty text where they are not.
[[nodiscard]] std::string NoiseText(const Terminal& terminal, const Evaluation& evaluation);

}  // namespace pragma
