// Formats the objects of docs/design.md 11 that consist of more than one core value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/candidate.h"
#include "core/spent.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "report/islands_text.h"
#include "store/store.h"

namespace pragma {

struct Evaluation;
class SearchTree;

inline constexpr int kJsonSchema = 1;

// Returns {"schema", "task", "candidate", and all members of the evaluation}. If `bundle` (the
// sha256 of the evidence) is given, it is included.
[[nodiscard]] std::string EvaluateObject(const Task& task, const Candidate& candidate,
                                         const Evaluation& evaluation,
                                         const std::string& bundle = {});
// Returns the object `shown` with the member "runs" added, which has one evaluate object per
// repetition.
[[nodiscard]] std::string RepeatedObject(const std::string& shown,
                                         const std::vector<std::string>& runs);
// Returns {"schema", "evaluations": [one evaluate object per candidate, in order]}.
[[nodiscard]] std::string EvaluationsObject(const std::vector<std::string>& evaluations);

struct OptimizeSummary {
  std::string run;
  std::string best;  // an evaluate object; empty: null
  std::size_t attempts = 0;
  StopReason stopped = StopReason::kNone;
  std::string why;  // what ended the run, where `stopped` does not say all
  Spent spent;
  std::vector<std::string> left_out;  // what there was no time for
  std::vector<std::string> exported;  // paths of the files
  std::string bundle;                 // sha256 of the evidence of `best`; empty: null
  std::optional<IslandRows> islands;  // of a task that was divided
};
[[nodiscard]] std::string OptimizeObject(const OptimizeSummary& summary);

struct CallCounts {
  std::size_t asked = 0;   // replies in the record, each requested once
  std::size_t reused = 0;  // those of them that a resumed run took from the record
};
// The sha256 of bundles by node. Node 0 is the best, measured again.
using BundleNames = std::map<int, std::string>;
[[nodiscard]] std::string ShowObject(const RunRecord& run, const SearchTree& tree,
                                     const CallCounts& calls, const BundleNames& bundles);
[[nodiscard]] std::string RunsObject(const std::vector<RunRecord>& runs);

struct ReplaySummary {
  std::string run;  // id of the new run
  std::size_t attempts = 0;
  StopReason stopped = StopReason::kNone;
  std::string signature;
  bool same_tree = false;
  std::size_t reused = 0;
};
[[nodiscard]] std::string ReplayObject(const ReplaySummary& summary);

// Returns {"schema", "failure": {"kind", "message"}}, which --json prints instead of a result.
[[nodiscard]] std::string FailureObject(const Error& error);
// Returns an evaluate object of status "task_error": the reference itself fails.
[[nodiscard]] std::string TaskErrorObject(const std::string& task, const Error& error);
[[nodiscard]] std::string_view ErrorKindName(ErrorKind kind);

}  // namespace pragma
