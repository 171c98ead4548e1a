// Describes trials in words, for prompts. Untrusted text (from compilers and kernels) is cleaned,
// shortened and fenced.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"

namespace pragma {

struct Evaluation;
struct Trial;

// Returns `text` as valid UTF-8 without control characters, inside a fence longer than any fence in
// it.
[[nodiscard]] std::string Fenced(std::string_view text, std::string_view language);

// Returns a title such as "Attempt 3, made from attempt 1".
[[nodiscard]] std::string TrialTitle(const Trial& trial);

// Describes the result of an evaluation. For a passed kernel: times, speedups with their intervals,
// and errors. For a failed one: status, reason, figures, diagnostics with their source lines, and
// the log (at most `log_bytes`).
[[nodiscard]] std::string Verdict(const Evaluation& evaluation, std::size_t log_bytes);

// Returns the verdict in one or two lines, with the change that was tried.
[[nodiscard]] std::string ShortVerdict(const Trial& trial);

// Returns the likely causes of a failure, each with its remedy, the most specific first. The list
// is empty for a passed kernel.
[[nodiscard]] std::vector<std::string> LikelyCauses(const Evaluation& evaluation,
                                                    Language language);

}  // namespace pragma
