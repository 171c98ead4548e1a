// BenchRow: the result of one cell of a benchmark.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/curve.h"
#include "bench/plan.h"
#include "core/evaluation.h"
#include "core/spent.h"
#include "core/stop_reason.h"
#include "verify/paper_timing.h"

namespace pragma {

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
