// EvaluationRequest: everything an evaluation needs, from flags or from a request file, so that a
// campaign can hand evaluations to other machines (docs/design.md 10).
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/tuning.h"
#include "core/candidate.h"
#include "verify/verifier.h"

namespace pragma {

struct EvaluationRequest {
  std::filesystem::path task;         // file
  bool task_given_as_text = false;    // the file is a copy that belongs to this request
  std::vector<Candidate> candidates;  // judged in order on one warm reference; at least one
  std::optional<Candidate> against;   // the present best, to be timed against as well
  Measure measure = Measure::kEagerAndCompile;
  std::string target;  // empty: cpu
  std::string mode;    // empty: as the settings say; likewise below
  std::string cache;
  int threads = 0;
  std::string run_limit;   // duration, checked
  std::string task_limit;  // likewise
  std::string shapes;      // JSON, checked
  bool strict_nan = false;
  int repeat = 1;  // of each candidate
  bool sanitize = false;
  TuneChoice tune;
  bool drop_in = false;  // also time ModelNew against Model

  // What is measured at most, the drop-in figure with it.
  [[nodiscard]] Measure most() const {
    return drop_in ? std::max(measure, Measure::kEager) : measure;
  }
};

// A request file:
//   {"schema": 1,
//    "task": {"path": FILE} or {"name": NAME, "source": TEXT},
//    "candidate": {"path": FILE} or a candidate object ({"language", "files": {NAME: TEXT},
//    "flags", ...}), "against": likewise, optional, "measure": "nothing" | "eager" | "compile"
//    (default), "target", "mode", "cache", "threads", "repeat", "run_limit",
//    "task_limit" (as the flags), "shapes" (a list, docs/shapes.md), "dropin", "sanitize",
//    "strict_nan" (true or false), "tune_seconds", "retune" (true or false): optional}
// Paths are relative to the request file's folder; a task given as text is written into `scratch`.
[[nodiscard]] Result<EvaluationRequest> ParseRequest(std::string_view text,
                                                     const std::filesystem::path& folder,
                                                     const std::filesystem::path& scratch);

// The request file of the candidate `at` alone, complete: paths are absolute, texts are inside.
[[nodiscard]] Result<std::string> RequestText(const EvaluationRequest& request, std::size_t at);

// A reference that measures on one target has nothing to compare kernels of another with: kUsage
// unless all candidates are for `target`.
[[nodiscard]] Result<void> CheckTarget(const EvaluationRequest& request, Target target);

// kUsage unless it is a file that can be read.
[[nodiscard]] Result<void> CheckTaskFile(const std::filesystem::path& task);

}  // namespace pragma
