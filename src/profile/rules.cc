#include "profile/rules.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "profile/rule_evidence.h"
#include "profile/rule_vocabulary.h"

namespace pragma {
namespace {

using Words = std::vector<std::string>;

std::string Suggestion(std::string_view word, const Words& known) {
  const std::string near = Nearest(word, known);
  return near.empty() ? "known are " + Join(known, ", ") : "did you mean \"" + near + "\"?";
}

// One table of the file, and its description for error messages.
class Table final {
 public:
  Table(const toml::table& table, std::string place) : table_(table), place_(std::move(place)) {}

  [[nodiscard]] std::unexpected<Error> Wrong(const std::string& problem) const {
    return Fail(ErrorKind::kUsage, place_ + ": " + problem);
  }
  [[nodiscard]] Result<void> OnlyFields(const Words& known) const {
    for (const auto& [key, node] : table_) {
      if (!IsOneOf(key.str(), known))
        return Wrong(
            fmt::format("there is no field \"{}\"; {}", key.str(), Suggestion(key.str(), known)));
    }
    return {};
  }
  [[nodiscard]] bool Contains(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] Result<std::string> Text(std::string_view key) const {
    if (!Contains(key)) return Wrong(fmt::format("{} is missing", key));
    if (const auto value = table_[key].value_exact<std::string>(); value && !value->empty())
      return *value;
    return Wrong(fmt::format("{} must be a text that is not empty", key));
  }
  [[nodiscard]] Result<std::string> TextOrNone(std::string_view key) const {
    return Contains(key) ? Text(key) : Result<std::string>{};
  }
  [[nodiscard]] Result<bool> FlagOrFalse(std::string_view key) const {
    if (!Contains(key)) return false;
    if (const auto value = table_[key].value_exact<bool>()) return *value;
    return Wrong(fmt::format("{} must be true or false", key));
  }
  [[nodiscard]] Result<double> Number(std::string_view key) const {
    if (table_[key].is_number()) return table_[key].value_or(0.0);
    return Wrong(fmt::format("{} must be a number", key));
  }
  // Reads one text or an array of texts.
  [[nodiscard]] Result<Words> Texts(std::string_view key) const {
    const toml::array* array = table_[key].as_array();
    if (array == nullptr) return Words{TRY(Text(key))};
    Words texts;
    for (const toml::node& node : *array) {
      if (!node.is_string()) return Wrong(fmt::format("{} must hold texts", key));
      texts.push_back(node.as_string()->get());
    }
    return texts;
  }
  // Reads an array of tables. In errors each table is identified by its number or by its
  // `name_key`.
  [[nodiscard]] Result<std::vector<Table>> Tables(std::string_view key,
                                                  std::string_view name_key = {}) const {
    std::vector<Table> tables;
    if (!Contains(key)) return tables;
    const toml::array* array = table_[key].as_array();
    if (array == nullptr) return Wrong(fmt::format("{} must be written [[{}]]", key, key));
    for (const toml::node& node : *array) {
      if (!node.is_table()) return Wrong(fmt::format("{} must be written [[{}]]", key, key));
      const toml::table& table = *node.as_table();
      const std::string number = std::to_string(tables.size() + 1);
      const std::string label = name_key.empty() ? number : table[name_key].value_or(number);
      tables.emplace_back(table, fmt::format("{}: {} {}", place_, key, label));
    }
    return tables;
  }
  [[nodiscard]] Result<std::vector<std::pair<std::string, double>>> Numbers(
      std::string_view key) const {
    std::vector<std::pair<std::string, double>> numbers;
    if (!Contains(key)) return numbers;
    if (!table_[key].is_table()) return Wrong(fmt::format("{} must be written [{}]", key, key));
    const Table inner(*table_[key].as_table(), fmt::format("{}: {}", place_, key));
    for (const auto& [name, node] : inner.table_)
      numbers.emplace_back(name.str(), TRY(inner.Number(name.str())));
    return numbers;
  }

 private:
  const toml::table& table_;
  std::string place_;
};

// Reads one file, and knows the names that its expressions may use.
class RuleReader final {
 public:
  explicit RuleReader(const MetricTable& metrics)
      : tags_(metrics.tags()), names_(tags_.begin(), tags_.end()) {}
  Result<RuleSet> Read(const Table& file);

 private:
  [[nodiscard]] Result<void> CheckNames(const Table& table, std::string_view key,
                                        const RuleExpression& expression) const;
  [[nodiscard]] Result<RuleExpression> Expression(const Table& table, std::string_view key,
                                                  const std::string& text) const;
  [[nodiscard]] Result<RuleExpression> Field(const Table& table, std::string_view key) const;
  [[nodiscard]] Result<void> AddName(const Table& table, const std::string& name);
  [[nodiscard]] Result<void> ReadConstants(const Table& file);
  [[nodiscard]] Result<void> ReadDefinition(const Table& table);
  [[nodiscard]] Result<void> ReadLimits(const Table& file);
  [[nodiscard]] Result<RuleTrigger> ReadTrigger(const Table& table) const;
  [[nodiscard]] Result<RuleAction> ReadAction(const Table& table) const;
  [[nodiscard]] Result<void> ReadEvidence(const Table& table, RuleTrigger& trigger) const;
  [[nodiscard]] Result<void> CheckRule(const Table& table, const Rule& rule) const;
  [[nodiscard]] Result<void> ReadRule(const Table& table);

  Words tags_;
  std::set<std::string, std::less<>> names_;
  Words classes_;
  RuleSet set_;
};

Result<void> RuleReader::CheckNames(const Table& table, std::string_view key,
                                    const RuleExpression& expression) const {
  for (const std::string& name : expression.names) {
    if (names_.contains(name)) continue;
    const std::string near = Nearest(name, Words(names_.begin(), names_.end()));
    return table.Wrong(
        fmt::format("{}: \"{}\" is not a tag of docs/metrics.md, nor defined above{}", key, name,
                    near.empty() ? "" : "; did you mean " + near + "?"));
  }
  return {};
}

Result<RuleExpression> RuleReader::Expression(const Table& table, std::string_view key,
                                              const std::string& text) const {
  Result<RuleExpression> expression = ParseExpression(text);
  if (!expression) return table.Wrong(fmt::format("{}: {}", key, expression.error().message));
  TRY(CheckNames(table, key, *expression));
  return expression;
}

Result<RuleExpression> RuleReader::Field(const Table& table, std::string_view key) const {
  const std::string text = TRY(table.Text(key));
  return Expression(table, key, text);
}

Result<void> RuleReader::AddName(const Table& table, const std::string& name) {
  if (!names_.insert(name).second)
    return table.Wrong(fmt::format("the name \"{}\" is taken already", name));
  return {};
}

Result<void> RuleReader::ReadConstants(const Table& file) {
  for (const std::string_view key : {"thresholds", "costs"}) {
    for (const auto& [name, value] : TRY(file.Numbers(key))) {
      TRY(AddName(file, name));
      set_.constants[name] = {.value = value};
    }
  }
  return {};
}

Result<void> RuleReader::ReadDefinition(const Table& table) {
  TRY(table.OnlyFields({"name", "value", "otherwise", "note"}));
  RuleDefinition definition{.name = TRY(table.Text("name"))};
  for (const std::string& text : TRY(table.Texts("value")))
    definition.values.push_back(TRY(Expression(table, "value", text)));
  if (table.Contains("otherwise")) definition.otherwise = TRY(table.Number("otherwise"));
  TRY(AddName(table, definition.name));
  set_.definitions.push_back(std::move(definition));
  return {};
}

Result<void> RuleReader::ReadLimits(const Table& file) {
  if (file.Contains("report_from")) set_.report_from = TRY(file.Number("report_from"));
  if (file.Contains("report_at_most"))
    set_.report_at_most =
        static_cast<int>(std::clamp(TRY(file.Number("report_at_most")), 1.0, 9.0));
  if (file.Contains("largest_speedup"))
    set_.largest_speedup = std::max(1.0, TRY(file.Number("largest_speedup")));
  if (file.Contains("best_possible")) set_.best_possible = TRY(Field(file, "best_possible"));
  return {};
}

Result<void> RuleReader::ReadEvidence(const Table& table, RuleTrigger& trigger) const {
  for (const std::string& text : TRY(table.Texts("evidence"))) {
    Result<EvidenceLine> line = ParseEvidence(text);
    if (!line) return table.Wrong("evidence: " + line.error().message);
    for (const EvidencePart& part : *line) {
      if (part.expression) TRY(CheckNames(table, "evidence", *part.expression));
    }
    trigger.evidence.push_back(*std::move(line));
  }
  return {};
}

Result<RuleTrigger> RuleReader::ReadTrigger(const Table& table) const {
  TRY(table.OnlyFields({"when", "mark", "explains", "evidence", "decides", "note"}));
  RuleTrigger trigger;
  trigger.when = TRY(Field(table, "when"));
  trigger.mark = TRY(table.Text("mark"));
  if (!IsOneOf(trigger.mark, Words{"P", "N", "G", "E"}))
    return table.Wrong("mark must be P, N, G or E, the origin of the threshold");
  trigger.explains =
      table.Contains("explains") ? TRY(Field(table, "explains")) : TRY(ParseExpression("0"));
  if (table.Contains("evidence")) TRY(ReadEvidence(table, trigger));
  trigger.decides = TRY(table.FlagOrFalse("decides"));
  return trigger;
}

Result<RuleAction> RuleReader::ReadAction(const Table& table) const {
  TRY(table.OnlyFields({"when", "text"}));
  RuleAction action{.text = TRY(table.Text("text"))};
  if (table.Contains("when")) action.when = TRY(Field(table, "when"));
  return action;
}

Result<void> RuleReader::CheckRule(const Table& table, const Rule& rule) const {
  if (!rule.group && !IsOneOf(rule.id, classes_))
    return table.Wrong(fmt::format("id: \"{}\" is not a class of docs/design.md 11; {}", rule.id,
                                   Suggestion(rule.id, classes_)));
  const auto named = [](const std::string& id) {
    return [&id](const Rule& other) { return other.id == id; };
  };
  if (std::ranges::any_of(set_.rules, named(rule.id)))
    return table.Wrong("id: there is another rule of this name above");
  if (!rule.parent.empty() && std::ranges::none_of(set_.rules, named(rule.parent)))
    return table.Wrong(fmt::format("parent: there is no rule \"{}\" above", rule.parent));
  if (rule.triggers.empty()) return table.Wrong("trigger: at least one [[rule.trigger]] is needed");
  if (!rule.site.empty() && !IsOneOf(rule.site, Words{"none", "hottest"}) &&
      !IsOneOf(rule.site, tags_))
    return table.Wrong("site: \"" + rule.site + "\" is not hottest, none or a metric's tag");
  if (rule.group) return {};
  if (rule.actions.empty()) return table.Wrong("action: at least one [[rule.action]] is needed");
  if (std::ranges::any_of(rule.triggers, [](const auto& t) { return t.evidence.empty(); }))
    return table.Wrong("evidence: each trigger of a rule that is reported needs some");
  return {};
}

Result<void> RuleReader::ReadRule(const Table& table) {
  TRY(table.OnlyFields({"id", "parent", "group", "alone", "trigger", "action", "site", "note"}));
  Rule rule{.id = TRY(table.Text("id"))};
  rule.parent = TRY(table.TextOrNone("parent"));
  rule.group = TRY(table.FlagOrFalse("group"));
  rule.alone = TRY(table.FlagOrFalse("alone"));
  rule.site = TRY(table.TextOrNone("site"));
  rule.note = TRY(table.TextOrNone("note"));
  for (const Table& trigger : TRY(table.Tables("trigger")))
    rule.triggers.push_back(TRY(ReadTrigger(trigger)));
  for (const Table& action : TRY(table.Tables("action")))
    rule.actions.push_back(TRY(ReadAction(action)));
  TRY(CheckRule(table, rule));
  set_.rules.push_back(std::move(rule));
  return {};
}

Result<RuleSet> RuleReader::Read(const Table& file) {
  TRY(file.OnlyFields({"target", "thresholds", "costs", "define", "rule", "report_from",
                       "report_at_most", "largest_speedup", "best_possible"}));
  const std::string target = TRY(file.Text("target"));
  if (!IsOneOf(target, Words{"cpu", "gpu"})) return file.Wrong("target must be cpu or gpu");
  classes_ = target == "cpu" ? CpuBottlenecks() : GpuBottlenecks();
  TRY(ReadConstants(file));
  for (const Table& table : TRY(file.Tables("define", "name"))) TRY(ReadDefinition(table));
  TRY(ReadLimits(file));
  for (const Table& table : TRY(file.Tables("rule", "id"))) TRY(ReadRule(table));
  if (set_.rules.empty()) return file.Wrong("there is no [[rule]]");
  return std::move(set_);
}

}  // namespace

Result<RuleSet> ParseRules(std::string_view toml, const std::string& name,
                           const MetricTable& metrics) {
  try {
    const toml::table table = toml::parse(toml);
    return RuleReader(metrics).Read(Table(table, name));
  } catch (const toml::parse_error& error) {
    return Fail(ErrorKind::kUsage, fmt::format("{}: line {}: {}", name, error.source().begin.line,
                                               error.description()));
  }
}

Result<RuleSet> LoadRules(const std::filesystem::path& path, const MetricTable& metrics) {
  const std::string text = TRY(ReadFile(path));
  return ParseRules(text, path.string(), metrics);
}

}  // namespace pragma
