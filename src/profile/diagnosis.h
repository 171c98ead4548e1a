// Diagnosis: applies rules to metrics, to find the few causes that explain most of the time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile.h"
#include "profile/rules.h"

namespace pragma {

// One line's share of a figure, which is samples ("hottest") or a metric's count (its tag).
struct LineFigure {
  std::string figure;
  int line = 0;  // line of kernel.cpp
  double value = 0;
};
using SiteFigures = std::vector<LineFigure>;

enum class RuleOutcome : std::uint8_t { kFired, kNotFired, kUnassessable };

// The outcome of one rule, for engineers who tune thresholds.
struct RuleVerdict {
  std::string rule;
  RuleOutcome outcome = RuleOutcome::kUnassessable;
  int trigger = -1;            // index of the trigger that decided
  std::string mark;            // mark of that trigger
  double explains = 0;         // share of the time, 0 to 0.95, if the rule fired
  std::string reason;          // why it did not fire, or which value is missing
  std::vector<Metric> values;  // values of all names in the trigger's expressions
};
[[nodiscard]] std::string_view NameOf(RuleOutcome outcome);

// Returns the verdict of every rule in the file's order, including groups and rules that are not
// reported.
[[nodiscard]] std::vector<RuleVerdict> Explain(const RuleSet& rules,
                                               const std::vector<Metric>& metrics);

// Returns at most rules.report_at_most diagnoses, the one that explains most first.
[[nodiscard]] std::vector<Diagnosis> Diagnose(const RuleSet& rules,
                                              const std::vector<Metric>& metrics,
                                              const SiteFigures& sites = {});

}  // namespace pragma
