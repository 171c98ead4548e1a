#include "profile/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "knowledge/metrics_testing.h"
#include "profile/rule_evidence.h"
#include "profile/rule_expression.h"
#include "profile/rule_vocabulary.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

const std::string kSource = PRAGMA_SOURCE_DIR;

std::vector<std::string> Quoted(const std::string& text) {
  static const std::regex word("`([a-z0-9_]+)`");
  std::vector<std::string> words;
  for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it)
    words.push_back((*it)[1]);
  return words;
}

std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from) + from.size();
  return text.substr(begin, text.find(to, begin) - begin);
}

TEST(RuleVocabulary, HoldsTheClassesOfTheDesign) {
  const std::string text = ReadFile(kSource + "/docs/design.md").value();
  const std::string classes = Between(text, "Diagnosis classes (ids", "\n## ");
  const std::size_t gpu = classes.find("GPU:");
  EXPECT_THAT(CpuBottlenecks(), UnorderedElementsAreArray(Quoted(classes.substr(0, gpu))));
  EXPECT_THAT(GpuBottlenecks(), UnorderedElementsAreArray(Quoted(classes.substr(gpu))));
}

class ShippedRules : public testing::TestWithParam<std::string> {
 protected:
  const std::string path_ = kSource + "/knowledge/diagnosis/" + GetParam() + ".toml";
};

TEST_P(ShippedRules, HaveOneForEachClass) {
  const auto rules = LoadRules(path_, ShippedMetrics());
  ASSERT_TRUE(rules) << rules.error().message;
  std::vector<std::string> ids;
  for (const Rule& rule : rules->rules) {
    if (!rule.group) ids.push_back(rule.id);
  }
  EXPECT_THAT(ids,
              UnorderedElementsAreArray(GetParam() == "cpu" ? CpuBottlenecks() : GpuBottlenecks()));
}

TEST_P(ShippedRules, ShowAThresholdAndNameTechniquesThatExist) {
  std::set<std::string> known;
  for (const auto& file : std::filesystem::directory_iterator(kSource + "/knowledge/techniques")) {
    const toml::table table = toml::parse_file(file.path().string());
    for (const toml::node& entry : *table["entry"].as_array())
      known.insert((*entry.as_table())["id"].value_or(std::string()));
  }
  const auto rules = LoadRules(path_, ShippedMetrics());
  ASSERT_TRUE(rules) << rules.error().message;
  const std::regex technique("technique\\.[a-z0-9_]+");
  for (const Rule& rule : rules->rules) {
    for (const RuleAction& action : rule.actions) {
      EXPECT_THAT(action.text, HasSubstr("technique.")) << rule.id;
      for (std::sregex_iterator it(action.text.begin(), action.text.end(), technique), end;
           it != end; ++it)
        EXPECT_TRUE(known.contains(it->str())) << rule.id << ": " << it->str();
    }
    for (const RuleTrigger& trigger : rule.triggers) {
      std::string text;
      for (const EvidenceLine& line : trigger.evidence) text += RenderEvidence(line, {});
      EXPECT_TRUE(rule.group || text.contains("threshold")) << rule.id << ": " << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ShippedRules, testing::Values("cpu", "gpu"));

// Returns a valid rule with a part of its text replaced.
std::string Replaced(const std::string& what, const std::string& by) {
  std::string text = R"(
target = "cpu"
[thresholds]
limit = 0.8
[[define]]
name = "scalar"
value = "1 - vector_share"
[[rule]]
id = "not_vectorised"
[[rule.trigger]]
when = "scalar > 1 - limit"
mark = "E"
explains = "scalar"
evidence = "{vector_share:percent}, threshold {limit:percent}"
[[rule.action]]
text = "Use vectors."
)";
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string ProblemOf(const std::string& toml) {
  const auto rules = ParseRules(toml, "my.toml", ShippedMetrics());
  if (rules) return "it was accepted";
  EXPECT_EQ(rules.error().message.find('\n'), std::string::npos);
  return rules.error().message;
}

TEST(RuleFile, IsAcceptedWhenItIsRight) {
  const auto rules =
      ParseRules(Replaced("limit = 0.8", "limit = 0.7"), "my.toml", ShippedMetrics());
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_DOUBLE_EQ(rules->constants.at("limit").value, 0.7);
}

TEST(RuleFile, AnUnknownFieldIsNamedWithItsFileAndRule) {
  const std::string problem = ProblemOf(Replaced("explains =", "explain ="));
  EXPECT_THAT(problem, HasSubstr("my.toml: rule not_vectorised: trigger 1: "));
  EXPECT_THAT(problem, HasSubstr("there is no field \"explain\"; did you mean \"explains\"?"));
  EXPECT_THAT(ProblemOf(Replaced("target =", "aim = 1\ntarget =")), HasSubstr("\"aim\""));
}

TEST(RuleFile, AnExpressionThatCannotBeReadIsNamed) {
  for (const std::string bad : {"scalar > ", "scalar >> 2", "(scalar", "scalar = 1", "scalar, 2",
                                "\\\"text\\\"", "nosuch(scalar)", "clamp(scalar)", ""}) {
    const std::string problem = ProblemOf(Replaced("scalar > 1 - limit", bad));
    EXPECT_THAT(problem, HasSubstr("my.toml: rule not_vectorised: trigger 1: when")) << bad;
  }
}

TEST(RuleFile, AnUnknownTagIsNamedWithTheNearest) {
  EXPECT_THAT(ProblemOf(Replaced("1 - vector_share", "1 - vector_shar")),
              HasSubstr("my.toml: define scalar: value: \"vector_shar\" is not a tag"));
  EXPECT_THAT(ProblemOf(Replaced("{vector_share:", "{vektor_share:")),
              HasSubstr("evidence: \"vektor_share\""));
}

TEST(RuleFile, AnUnknownClassIsNamed) {
  EXPECT_THAT(ProblemOf(Replaced("id = \"not_vectorised\"", "id = \"not_vectorized\"")),
              HasSubstr("rule not_vectorized: id: \"not_vectorized\" is not a class"));
  EXPECT_THAT(ProblemOf(Replaced("target = \"cpu\"", "target = \"gpu\"")),
              HasSubstr("\"not_vectorised\" is not a class"));
}

TEST(RuleFile, OtherMistakesAreErrorsToo) {
  EXPECT_THAT(ProblemOf(Replaced("mark = \"E\"", "mark = \"Q\"")), HasSubstr("mark must be"));
  EXPECT_THAT(ProblemOf(Replaced("mark = \"E\"", "")), HasSubstr("mark is missing"));
  EXPECT_THAT(ProblemOf(Replaced("limit = 0.8", "limit = \"high\"")),
              HasSubstr("limit must be a number"));
  EXPECT_THAT(ProblemOf(Replaced("limit = 0.8", "cycles = 1")), HasSubstr("taken already"));
  EXPECT_THAT(ProblemOf(Replaced("id =", "parent = \"memory\"\nid =")),
              HasSubstr("no rule \"memory\""));
  EXPECT_THAT(ProblemOf(Replaced("id =", "site = \"where\"\nid =")), HasSubstr("site:"));
  EXPECT_THAT(ProblemOf(Replaced("{limit:percent}", "{limit:hex}")), HasSubstr("format \"hex\""));
  EXPECT_THAT(ProblemOf(Replaced("{limit:percent}", "{limit")), HasSubstr("not closed"));
  EXPECT_THAT(ProblemOf(Replaced("[[rule.action]]\ntext = \"Use vectors.\"", "")),
              HasSubstr("action:"));
  EXPECT_THAT(ProblemOf(Replaced("target = \"cpu\"", "target = ")), HasSubstr("my.toml: line 2"));
  EXPECT_THAT(ProblemOf("target = \"cpu\""), HasSubstr("no [[rule]]"));
  EXPECT_FALSE(LoadRules("/nonexistent/rules.toml", {}));
}

TEST(RuleExpression, NeedsAllItsNamesAndAFiniteResult) {
  const RuleExpression ratio = ParseExpression("loads / stores").value();
  EXPECT_EQ(ratio.names, (std::vector<std::string>{"loads", "stores"}));
  EXPECT_FALSE(EvaluateExpression(ratio, {{"loads", {.value = 1}}}));
  EXPECT_FALSE(EvaluateExpression(ratio, {{"loads", {.value = 1}}, {"stores", {.value = 0}}}));
  const RuleValues values{{"loads", {.value = 6, .sources = {"pmu"}}},
                          {"stores", {.value = 3, .sources = {"simulated"}}}};
  const RuleValue value = EvaluateExpression(ratio, values).value();
  EXPECT_DOUBLE_EQ(value.value, 2);
  EXPECT_EQ(value.sources, (std::vector<std::string>{"pmu", "simulated"}));
  EXPECT_TRUE(value.computed);
}

TEST(RuleEvidence, SaysASharedSourceOnceAndDifferentOnesEach) {
  const RuleValues values{{"loads", {.value = 2.36e6, .sources = {"exact count"}}},
                          {"stores", {.value = 1180000, .sources = {"exact count"}}},
                          {"l1_misses", {.value = 5, .sources = {"simulated"}}},
                          {"low", {.value = 0.05}}};
  EXPECT_EQ(RenderEvidence(ParseEvidence("{loads:count} loads (threshold {low:percent})").value(),
                           values),
            "2.36 M loads (threshold 5 %) (exact count)");
  EXPECT_EQ(RenderEvidence(ParseEvidence("{loads:count} and {l1_misses}").value(), values),
            "2.36 M (exact count) and 5 (simulated)");
  EXPECT_EQ(RenderEvidence(ParseEvidence("{loads / stores}; {cycles:count}").value(), values),
            "2; ? (estimated from exact count)");
}

}  // namespace
}  // namespace pragma
