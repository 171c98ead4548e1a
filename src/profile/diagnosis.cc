#include "profile/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/profile.h"
#include "profile/rule_evidence.h"
#include "profile/rule_expression.h"
#include "profile/rules.h"

namespace pragma {
namespace {

// A cause is never said to explain all of the time.
constexpr double kLargestShare = 0.95;

// The values of names and, for names without a value, the metrics that are missing.
struct Scope {
  RuleValues values;
  std::map<std::string, std::set<std::string>> missing;
};

std::set<std::string> RootsMissing(const RuleExpression& expression, const Scope& scope) {
  std::set<std::string> roots;
  for (const std::string& name : MissingNames(expression, scope.values)) {
    const auto found = scope.missing.find(name);
    if (found == scope.missing.end()) {
      roots.insert(name);
    } else {
      roots.insert(found->second.begin(), found->second.end());
    }
  }
  return roots;
}

void Define(const RuleDefinition& definition, Scope& scope) {
  for (const RuleExpression& expression : definition.values) {
    if (auto value = EvaluateExpression(expression, scope.values)) {
      scope.values[definition.name] = *std::move(value);
      return;
    }
  }
  if (definition.otherwise) {
    scope.values[definition.name] = {.value = *definition.otherwise, .computed = true};
    return;
  }
  // The last alternative needs the fewest metrics.
  std::set<std::string> roots;
  if (!definition.values.empty()) roots = RootsMissing(definition.values.back(), scope);
  scope.missing[definition.name] = std::move(roots);
}

Scope MakeScope(const RuleSet& rules, const std::vector<Metric>& metrics) {
  Scope scope{.values = rules.constants};
  for (const Metric& metric : metrics) {
    if (std::isfinite(metric.value))
      scope.values[metric.tag] = {.value = metric.value, .sources = {metric.source}};
  }
  for (const RuleDefinition& definition : rules.definitions) Define(definition, scope);
  return scope;
}

std::vector<Metric> ValuesOf(const RuleTrigger& trigger, const Scope& scope) {
  std::set<std::string> names(trigger.when.names.begin(), trigger.when.names.end());
  names.insert(trigger.explains.names.begin(), trigger.explains.names.end());
  std::vector<Metric> values;
  for (const std::string& name : names) {
    const auto found = scope.values.find(name);
    if (found == scope.values.end()) continue;
    values.push_back(
        {.tag = name, .value = found->second.value, .source = Join(found->second.sources, ", ")});
  }
  return values;
}

std::string MissingText(const std::set<std::string>& roots) {
  if (roots.empty()) return "a value cannot be computed (division by zero)";
  return "not measured: " + Join(std::vector<std::string>(roots.begin(), roots.end()), ", ");
}

RuleVerdict AskTrigger(const RuleTrigger& trigger, const Scope& scope) {
  RuleVerdict verdict{.mark = trigger.mark, .values = ValuesOf(trigger, scope)};
  const auto when = EvaluateExpression(trigger.when, scope.values);
  const auto explains = EvaluateExpression(trigger.explains, scope.values);
  if (!when || !explains) {
    std::set<std::string> roots = RootsMissing(trigger.when, scope);
    roots.merge(RootsMissing(trigger.explains, scope));
    verdict.reason = MissingText(roots);
    return verdict;
  }
  if (when->value == 0) {
    verdict.outcome = RuleOutcome::kNotFired;
    verdict.reason = "does not hold: " + trigger.when.text;
    return verdict;
  }
  verdict.outcome = RuleOutcome::kFired;
  verdict.explains = std::clamp(explains->value, 0.0, kLargestShare);
  return verdict;
}

// Returns the verdict of the first trigger that fires. Otherwise it is the verdict of the first
// that could be assessed, or else of the last, which needs the fewest metrics.
RuleVerdict AskTriggers(const Rule& rule, const Scope& scope) {
  RuleVerdict answer;
  for (std::size_t i = 0; i < rule.triggers.size(); ++i) {
    RuleVerdict verdict = AskTrigger(rule.triggers[i], scope);
    verdict.trigger = static_cast<int>(i);
    const bool assessed = verdict.outcome != RuleOutcome::kUnassessable;
    const bool fired = verdict.outcome == RuleOutcome::kFired;
    const bool better = i == 0 || (!assessed && verdict.outcome == answer.outcome) ||
                        verdict.outcome < answer.outcome;
    if (better) answer = std::move(verdict);
    if (fired || (assessed && rule.triggers[i].decides)) break;
  }
  answer.rule = rule.id;
  return answer;
}

void AskParent(const Rule& rule, const std::vector<RuleVerdict>& before, RuleVerdict& verdict) {
  if (verdict.outcome != RuleOutcome::kFired) return;
  const auto parent = std::ranges::find(before, rule.parent, &RuleVerdict::rule);
  if (parent == before.end() || parent->outcome == RuleOutcome::kFired) return;
  verdict.outcome = parent->outcome;
  verdict.explains = 0;
  verdict.reason = "its parent " + parent->rule + ": " + parent->reason;
}

std::vector<RuleVerdict> AskAll(const RuleSet& rules, const Scope& scope) {
  std::vector<RuleVerdict> verdicts;
  for (const Rule& rule : rules.rules) {
    RuleVerdict verdict = AskTriggers(rule, scope);
    if (!rule.parent.empty()) AskParent(rule, verdicts, verdict);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

int HottestLine(const SiteFigures& sites, std::string_view figure) {
  const LineFigure* best = nullptr;
  for (const LineFigure& site : sites) {
    if (site.figure == figure && site.value > 0 && (best == nullptr || site.value > best->value))
      best = &site;
  }
  return best == nullptr ? 0 : best->line;
}

int LineOf(const Rule& rule, const SiteFigures& sites) {
  if (rule.site.empty() || rule.site == "none") return 0;
  const int line = HottestLine(sites, rule.site);
  return line != 0 ? line : HottestLine(sites, "hottest");
}

std::string ActionOf(const Rule& rule, const RuleValues& values) {
  for (const RuleAction& action : rule.actions) {
    if (!action.when) return action.text;
    const auto holds = EvaluateExpression(*action.when, values);
    if (holds && holds->value != 0) return action.text;
  }
  return rule.actions.empty() ? std::string() : rule.actions.back().text;
}

double PredictedSpeedup(const RuleSet& rules, const RuleValues& values, double score) {
  double limit = rules.largest_speedup;
  if (rules.best_possible) {
    const auto best = EvaluateExpression(*rules.best_possible, values);
    if (best) limit = std::clamp(best->value, 1.0, limit);
  }
  return std::min(1 / (1 - score), limit);
}

Diagnosis MakeDiagnosis(const RuleSet& rules, const Rule& rule, const RuleVerdict& verdict,
                        const Scope& scope) {
  Diagnosis diagnosis{.bottleneck = rule.id, .score = verdict.explains};
  const RuleTrigger& trigger = rule.triggers[static_cast<std::size_t>(verdict.trigger)];
  for (const EvidenceLine& line : trigger.evidence)
    diagnosis.evidence.push_back(RenderEvidence(line, scope.values));
  diagnosis.action = ActionOf(rule, scope.values);
  diagnosis.predicted_speedup = PredictedSpeedup(rules, scope.values, verdict.explains);
  return diagnosis;
}

// Returns the indices of the rules to report, the one that explains most first.
std::vector<std::size_t> Ranked(const RuleSet& rules, const std::vector<RuleVerdict>& verdicts) {
  std::vector<std::size_t> ranked;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].outcome != RuleOutcome::kFired || rules.rules[i].group) continue;
    if (rules.rules[i].alone) return {i};
    if (verdicts[i].explains >= rules.report_from) ranked.push_back(i);
  }
  std::ranges::stable_sort(ranked, [&verdicts](std::size_t a, std::size_t b) {
    return verdicts[a].explains > verdicts[b].explains;
  });
  const auto most = static_cast<std::size_t>(std::max(rules.report_at_most, 0));
  if (ranked.size() > most) ranked.resize(most);
  return ranked;
}

}  // namespace

std::string_view NameOf(RuleOutcome outcome) {
  switch (outcome) {
    case RuleOutcome::kFired: return "fired";
    case RuleOutcome::kNotFired: return "not";
    case RuleOutcome::kUnassessable: break;
  }
  return "unassessable";
}

std::vector<RuleVerdict> Explain(const RuleSet& rules, const std::vector<Metric>& metrics) {
  return AskAll(rules, MakeScope(rules, metrics));
}

std::vector<Diagnosis> Diagnose(const RuleSet& rules, const std::vector<Metric>& metrics,
                                const SiteFigures& sites) {
  const Scope scope = MakeScope(rules, metrics);
  const std::vector<RuleVerdict> verdicts = AskAll(rules, scope);
  std::vector<Diagnosis> diagnoses;
  for (const std::size_t i : Ranked(rules, verdicts)) {
    diagnoses.push_back(MakeDiagnosis(rules, rules.rules[i], verdicts[i], scope));
    diagnoses.back().line = LineOf(rules.rules[i], sites);
  }
  return diagnoses;
}

}  // namespace pragma
