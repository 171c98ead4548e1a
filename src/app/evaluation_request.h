// EvaluationRequest holds everything that an evaluation needs, taken from flags or from a request
// file. With request files a campaign can pass evaluations to other machines (docs/design.md 10).
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/tuning.h"
#include "base/file.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/judging.h"
#include "verify/verifier.h"

namespace pragma {

struct EvaluationRequest {
  std::filesystem::path task;         // the task's file
  bool task_given_as_text = false;    // the file is a copy that belongs to this request
  std::vector<Candidate> candidates;  // judged in order on one warm reference; at least one
  std::optional<Candidate> against;   // the current best, which is timed as well
  Measure measure = Measure::kEagerAndCompile;
  // What the request says about how to judge. The rest comes from the settings.
  JudgingTexts judging;
  int repeat = 1;  // evaluations of each candidate
  bool sanitize = false;
  TuneChoice tune;
  bool call = false;  // also time ModelNew against Model

  // The most that is measured, including for the drop-in figure.
  [[nodiscard]] Measure most() const { return call ? std::max(measure, Measure::kEager) : measure; }
};

// Parses a request file:
//   {"schema": 1,
//    "task": {"path": FILE} or {"name": NAME, "source": TEXT},
//    "candidate": {"path": FILE} or a candidate object ({"language", "files": {NAME: TEXT},
//    "flags", ...}), "against": the same forms, optional, "measure": "nothing" | "eager" |
//    "compile" (default), the fields of core/judging.h (as the flags; "shapes" is a list,
//    docs/shapes.md), "repeat", "call", "sanitize", "tune_seconds", "retune" (true or false):
//    optional}
// Paths are relative to the request file's folder. A task given as text is written into `scratch`.
[[nodiscard]] Result<EvaluationRequest> ParseRequest(std::string_view text,
                                                     const std::filesystem::path& folder,
                                                     const std::filesystem::path& scratch);

// Returns a complete request file for the candidate at index `at` alone: paths are absolute, and
// texts are included.
[[nodiscard]] Result<std::string> RequestText(const EvaluationRequest& request, std::size_t at);

// Fails with kUsage unless all candidates are for `target`. A reference that measures on one target
// cannot be compared with kernels for another.
[[nodiscard]] Result<void> CheckTarget(const EvaluationRequest& request, Language language);

// Fails with kUsage unless `task` is a file that can be read.
[[nodiscard]] Result<void> CheckTaskFile(const std::filesystem::path& task);

}  // namespace pragma
