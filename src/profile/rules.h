// Diagnosis rules as data: which metrics indicate which bottleneck, and how much of the time it can
// explain. docs/diagnosis.md describes how to write a rule.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/metric_table.h"
#include "profile/rule_expression.h"

namespace pragma {

// A piece of an evidence line: literal text, or an expression to show in a format.
struct EvidencePart {
  std::string text;
  std::optional<RuleExpression> expression;
  std::string format;  // number, percent, count, ms, us or bytes
};
using EvidenceLine = std::vector<EvidencePart>;

// One way to recognise a cause. The metrics that are available decide which one is used.
struct RuleTrigger {
  RuleExpression when;
  std::string mark;         // origin of the threshold: P, N, G or E
  RuleExpression explains;  // share of the time
  std::vector<EvidenceLine> evidence;
  // If this trigger can be assessed and does not hold, the triggers after it are not evaluated.
  bool decides = false;
};

struct RuleAction {
  std::optional<RuleExpression> when;  // none: always
  std::string text;
};

struct Rule {
  std::string id;      // a class of docs/design.md 11; a group has a free name
  std::string parent;  // rule that must fire too; empty: none
  bool group = false;  // only a parent of other rules, never reported
  bool alone = false;  // when it fires, nothing else is reported
  std::vector<RuleTrigger> triggers;
  std::vector<RuleAction> actions;  // the first one that holds is given
  std::string site;                 // figure whose largest line is named: hottest, a tag, or none
  std::string note;
};

// A value that is computed before the rules are evaluated.
struct RuleDefinition {
  std::string name;
  std::vector<RuleExpression> values;  // the first that can be computed counts
  std::optional<double> otherwise;     // value if none can be computed
};

struct RuleSet {
  RuleValues constants;                     // thresholds and costs
  std::vector<RuleDefinition> definitions;  // each may use those before it
  std::vector<Rule> rules;
  double report_from = 0;                       // minimum share that is reported
  int report_at_most = 3;                       // maximum number of diagnoses
  double largest_speedup = 20;                  // maximum that is ever predicted
  std::optional<RuleExpression> best_possible;  // speedup that the task's bound allows
};

// Rules may use the tags of `metrics`. An error reports the first problem, in one line with file,
// rule and field.
[[nodiscard]] Result<RuleSet> LoadRules(const std::filesystem::path& path,
                                        const MetricTable& metrics);
[[nodiscard]] Result<RuleSet> ParseRules(std::string_view toml, const std::string& name,
                                         const MetricTable& metrics);

}  // namespace pragma
