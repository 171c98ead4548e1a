// BenchRow: the result of one cell of a benchmark, that is, of one task with one strategy, model
// and repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/suite.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "verify/paper_timing.h"

namespace pragma {

struct BenchCell {
  SuiteTask task;
  std::string strategy;
  std::string model;  // value of --model; empty: that of the settings
  int repeat = 1;     // 1, 2, ...
  std::string arm;    // BenchArm::name
};

// The state of a run after an attempt, with totals since its beginning.
struct CurvePoint {
  int attempt = 0;
  Status status = Status::kTaskError;  // status of this attempt
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;
  std::optional<double> best;  // speedup of the best so far against eager, as measured in the run
};
[[nodiscard]] std::vector<CurvePoint> CurveOf(const SearchTree& tree);

struct BenchRow {
  BenchCell cell;
  std::string run;                 // empty: the run never began
  std::optional<Evaluation> best;  // measured again; none: no attempt passed
  std::size_t attempts = 0;
  StopReason stopped = StopReason::kNone;
  Spent spent;
  bool kept = false;    // taken from the store, because the run had ended before
  std::string bundle;   // sha256 of the best's evidence; empty: none
  std::string problem;  // why there is no run: the task itself fails
  std::string category;
  std::string lint;       // sound, weak, degenerate; empty: unknown
  std::string signature;  // signature of the search tree; empty: no search
  std::vector<CurvePoint> curve;
  std::optional<PaperTiming> paper;  // only if requested; `best` timed next to the baselines
  std::string paper_subject;         // what was timed of `best`: "ModelNew" or "kernel"
  std::string solution;              // text of ModelNew, if KernelBench's files were requested

  [[nodiscard]] bool solved() const { return best && best->passed(); }
};

}  // namespace pragma
