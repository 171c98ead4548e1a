// BenchReport: the rows of a comparison in the form that its HTML report needs (docs/report.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/timing.h"
#include "report/html_page.h"

namespace pragma {

// The best kernel after an attempt.
struct BestMark {
  int attempt = 0;
  std::int64_t tokens = 0;     // total so far
  std::optional<double> best;  // its speedup over eager; none: nothing has passed yet
};

// One repeat of one task with one strategy and model.
struct BenchReportRow {
  std::string task;
  std::string category;
  std::string lint;  // sound, weak, degenerate; empty: unknown
  std::string strategy;
  std::string model;
  int repeat = 1;
  std::string run;  // id in the store; may be empty
  bool passed = false;
  std::string problem;  // why there is no result; empty: there is one
  std::string stopped;
  std::optional<Interval> eager;  // speedup of the reported best
  std::optional<Interval> compile;
  std::int64_t attempts = 0;
  std::int64_t tokens = 0;
  double usd = 0;
  double seconds = 0;
  std::vector<BestMark> curve;
};

struct BenchReport {
  std::string name;
  bool interrupted = false;
  std::vector<BenchReportRow> rows;
};

[[nodiscard]] PageContent BenchPageContent(const BenchReport& report);

}  // namespace pragma
