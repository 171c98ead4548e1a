// Trials in words, for prompts. Foreign text (compiler, kernel) is cleaned, shortened and fenced.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/trial.h"

namespace pragma {

// `text` in a fence longer than any inside it, without control characters, as valid UTF-8.
[[nodiscard]] std::string Fenced(std::string_view text, std::string_view language);

// "Attempt 3, made from attempt 1"
[[nodiscard]] std::string TrialTitle(const Trial& trial);

// What happened: times, speedups with intervals and errors of a passed kernel; status, reason,
// figures, diagnostics with their source lines and the log (at most `log_bytes`) of another.
[[nodiscard]] std::string Verdict(const Evaluation& evaluation, std::size_t log_bytes);

// The verdict on one line or two, with the change that was tried.
[[nodiscard]] std::string ShortVerdict(const Trial& trial);

// Likely causes of a failure, each with what helps, the most specific first; empty for a passed
// one.
[[nodiscard]] std::vector<std::string> LikelyCauses(const Evaluation& evaluation,
                                                    Language language);

}  // namespace pragma
