// Diagnosis rules as data: which figures mean which bottleneck, and how much time it can explain.
// docs/diagnosis.md says how one is written.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/rule_expression.h"

namespace pragma {

// A piece of an evidence line: literal text, or an expression shown in a format.
struct EvidencePart {
  std::string text;
  std::optional<RuleExpression> expression;
  std::string format;  // number, percent, count, ms, us or bytes
};
using EvidenceLine = std::vector<EvidencePart>;

// One way to recognise a cause; which one is used depends on the metrics that there are.
struct RuleTrigger {
  RuleExpression when;
  std::string mark;         // origin of the threshold: P, N, G or E
  RuleExpression explains;  // share of the time
  std::vector<EvidenceLine> evidence;
  // If it can be assessed and does not hold, the triggers after it are not asked.
  bool decides = false;
};

struct RuleAction {
  std::optional<RuleExpression> when;  // none: always
  std::string text;
};

struct Rule {
  std::string id;      // a class of docs/design.md 11, or of a group any other word
  std::string parent;  // must fire too; empty: none
  bool group = false;  // only a parent of others, never reported
  bool alone = false;  // when it fires, nothing else is reported
  std::vector<RuleTrigger> triggers;
  std::vector<RuleAction> actions;  // the first that holds is given
  std::string site;  // the figure whose largest line is named: hottest, a tag, or none
  std::string note;
};

// A value computed before the rules are asked.
struct RuleDefinition {
  std::string name;
  std::vector<RuleExpression> values;  // the first that can be computed counts
  std::optional<double> otherwise;     // when none can be
};

struct RuleSet {
  RuleValues constants;                     // thresholds and costs
  std::vector<RuleDefinition> definitions;  // each may use those before it
  std::vector<Rule> rules;
  double report_from = 0;                       // least share that is reported
  int report_at_most = 3;                       // diagnoses
  double largest_speedup = 20;                  // that is ever predicted
  std::optional<RuleExpression> best_possible;  // speedup that the task's bound leaves
};

// The first thing that is wrong is the error: one line with file, rule and field.
[[nodiscard]] Result<RuleSet> LoadRules(const std::filesystem::path& path);
[[nodiscard]] Result<RuleSet> ParseRules(std::string_view toml, const std::string& name);

}  // namespace pragma
