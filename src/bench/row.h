// BenchRow: what became of one cell of a benchmark: one task with one strategy, model and repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/suite.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "verify/paper_timing.h"

namespace pragma {

struct BenchCell {
  SuiteTask task;
  std::string strategy;
  std::string model;  // as given by --model; empty: the settings' own
  int repeat = 1;     // 1, 2, ...
  std::string arm;    // BenchArm::name
};

// Where a run stood after an attempt; sums from its beginning.
struct CurvePoint {
  int attempt = 0;
  Status status = Status::kTaskError;  // of this attempt
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;
  std::optional<double> best;  // speed-up of the best so far against eager, as measured in the run
};
[[nodiscard]] std::vector<CurvePoint> CurveOf(const SearchTree& tree);

struct BenchRow {
  BenchCell cell;
  std::string run;                 // empty: it never began
  std::optional<Evaluation> best;  // measured again; none: nothing passed
  std::size_t attempts = 0;
  std::string stopped;
  Spent spent;
  bool kept = false;    // taken from the store: the run had ended before
  std::string bundle;   // sha256 of the best's evidence; empty: there is none
  std::string problem;  // why there is no run: the task itself fails
  std::string category;
  std::string lint;       // sound, weak, degenerate; empty: unknown
  std::string signature;  // of the search tree; empty: no search
  std::vector<CurvePoint> curve;
  std::optional<PaperTiming> paper;  // only where it was asked for; `best` beside the baselines
  std::string paper_subject;         // what of `best` it timed: "ModelNew" or "kernel"
  std::string solution;              // text of ModelNew, where KernelBench's files were asked for

  [[nodiscard]] bool solved() const { return best && best->passed(); }
};

}  // namespace pragma
