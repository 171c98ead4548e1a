// BenchReport: the rows of a comparison as its HTML report needs them (docs/report.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "report/html_page.h"

namespace pragma {

// The best after an attempt.
struct BestMark {
  int attempt = 0;
  std::int64_t tokens = 0;     // spent until then
  std::optional<double> best;  // its speedup over eager; none: nothing had passed yet
};

// One task with one strategy and model, once.
struct BenchReportRow {
  std::string task;
  std::string category;
  std::string lint;  // sound, weak, degenerate; empty: not known
  std::string strategy;
  std::string model;
  int repeat = 1;
  std::string run;  // id in the store; may be empty
  bool passed = false;
  std::string problem;  // why there is no result; empty: there is one
  std::string stopped;
  std::optional<Interval> eager;  // of the reported best
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
