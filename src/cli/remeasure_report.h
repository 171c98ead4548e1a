// RemeasureReport compares a recorded run with the same kernels, judged anew on this machine.
#pragma once

#include <optional>
#include <string>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "report/terminal.h"
#include "search/recording.h"
#include "search/replay.h"

namespace pragma {

// The best kernel by the fresh figures, measured once more on its own.
struct FreshBest {
  int node = 0;
  Candidate candidate;
  Evaluation evaluation;
};

struct RemeasureReport {
  const Recording* recording = nullptr;
  const Task* task = nullptr;
  RemeasureResult result;
  std::optional<FreshBest> best;
  double start_seconds = 0;  // until the reference was warm
  double total_seconds = 0;
};

// Formats both figures side by side, the best kernel in full, and where the time went. The text
// fits into 80 columns.
[[nodiscard]] std::string RemeasureText(const Terminal& terminal, const RemeasureReport& report);
// Returns {"schema", "run", "task", "trials": [{"node", "recorded", "fresh"}], "best",
// "interrupted", "seconds"}.
[[nodiscard]] std::string RemeasureObject(const RemeasureReport& report);

}  // namespace pragma
