// Diagnosis: from metrics, by rules, to the few causes that explain most of the time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile.h"
#include "profile/rules.h"

namespace pragma {

// One line's part of a figure: samples ("hottest") or a metric's count (its tag).
struct LineFigure {
  std::string figure;
  int line = 0;  // of kernel.cpp
  double value = 0;
};
using SiteFigures = std::vector<LineFigure>;

enum class RuleOutcome : std::uint8_t { kFired, kNotFired, kUnassessable };

// What became of one rule, for people who tune thresholds.
struct RuleVerdict {
  std::string rule;
  RuleOutcome outcome = RuleOutcome::kUnassessable;
  int trigger = -1;            // index of the one that decided
  std::string mark;            // of that trigger
  double explains = 0;         // share of the time, 0 to 0.95, when fired
  std::string reason;          // why not, or what is missing
  std::vector<Metric> values;  // of all names in the trigger's expressions
};
[[nodiscard]] std::string_view NameOf(RuleOutcome outcome);

// Every rule in the file's order, groups and unreported ones too.
[[nodiscard]] std::vector<RuleVerdict> Explain(const RuleSet& rules,
                                               const std::vector<Metric>& metrics);

// At most rules.report_at_most, the one that explains most first.
[[nodiscard]] std::vector<Diagnosis> Diagnose(const RuleSet& rules,
                                              const std::vector<Metric>& metrics,
                                              const SiteFigures& sites = {});

}  // namespace pragma
