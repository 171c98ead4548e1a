#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/task.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/evaluation_text.h"
#include "report/figures.h"
#include "report/json_text.h"
#include "report/run_text.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr Terminal kPipe{};
constexpr Terminal kNarrow{.interactive = true, .width = 40};

Evaluation Passed() {
  Evaluation evaluation{.status = Status::kPassed};
  evaluation.checks = {{"values", CheckVerdict::kPass, ""},
                       {"hard_bound", CheckVerdict::kNote, "no bound"}};
  evaluation.timing =
      Timing{.ms = {.median = 0.0123, .low = 0.0121, .high = 0.0127}, .samples = 40};
  evaluation.eager = Timing{.ms = {.median = 0.0246, .low = 0.024, .high = 0.025}};
  evaluation.speedup_eager = Interval{.median = 2.0, .low = 1.9, .high = 2.1};
  return evaluation;
}

TEST(Terminal, WidthCountsCharactersAndCutsBetweenThem) {
  EXPECT_EQ(DisplayWidth("größe"), 5U);
  EXPECT_EQ(CutToWidth(kPipe, "größe", 5), "größe");
  EXPECT_EQ(CutToWidth(kPipe, "größer", 5), "größ…");
  EXPECT_EQ(CutToWidth({.unicode = false}, "larger", 5), "la...");
}

TEST(Terminal, ForeignTextCannotSteerIt) {
  EXPECT_EQ(SafeText("a\x1b[2Jb\nc"), "a?[2Jb\nc");
  EXPECT_EQ(SafeLine("  a\n\t b\r"), "a b?");
  EXPECT_EQ(SafeText("\xff"), "\xEF\xBF\xBD");
}

TEST(Terminal, ColoursOnlyWhereTheyShow) {
  EXPECT_EQ(Styled(kPipe, Style::kGood, "ok"), "ok");
  EXPECT_EQ(Styled({.color = true}, Style::kGood, "ok"), "\x1b[32mok\x1b[0m");
}

TEST(Table, NumbersStandRightAndTextLeft) {
  Table table({{.title = "name"}, {.title = "n", .align = Align::kRight}});
  table.Add({{"a"}, {"1"}});
  table.Add({{"long one"}, {"100"}});
  EXPECT_EQ(table.Render({.unicode = false}),
            "name        n\n"
            "-------------\n"
            "a           1\n"
            "long one  100\n");
}

TEST(Table, ShrinksToTheTerminal) {
  Table table({{.title = "a"}, {.title = "b", .shrinks = true}});
  table.Add({{"0123456789"}, {std::string(100, 'x')}});
  const std::string text = table.Render(kNarrow);
  EXPECT_THAT(text, HasSubstr("0123456789  xxx"));
  EXPECT_THAT(text, HasSubstr("…"));
  EXPECT_LE(DisplayWidth(text.substr(text.rfind("01"))), 41U);
}

TEST(Table, FactsAreWrappedNotCut) {
  const std::string text =
      RenderFacts(kNarrow, {{"name", "one two three four five six seven eight nine"}});
  EXPECT_EQ(text,
            "name  one two three four five six seven\n"
            "      eight nine\n");
}

TEST(Figures, OneUnitForAllThree) {
  EXPECT_EQ(FormatMillis({.median = 1.234, .low = 0.9, .high = 1.5}), "1.23 ms [0.90, 1.50]");
  EXPECT_EQ(FormatMillis({.median = 0.0123, .low = 0.0121, .high = 0.0127}),
            "12.3 us [12.1, 12.7]");
  EXPECT_EQ(FormatMillis({.median = 5000, .low = 4900, .high = 5100}), "5.00 s [4.90, 5.10]");
  EXPECT_EQ(FormatSpeedup(std::nullopt), "-");
  EXPECT_EQ(FormatSpeedup(Interval{.median = 1.844, .low = 1.8, .high = 1.9}),
            "1.84x [1.80, 1.90]");
}

TEST(Figures, AnIntervalThatHoldsOneIsNeitherGoodNorBad) {
  EXPECT_EQ(SpeedupStyle(Interval{.median = 1.1, .low = 1.01, .high = 1.2}), Style::kGood);
  EXPECT_EQ(SpeedupStyle(Interval{.median = 1.1, .low = 0.9, .high = 1.2}), Style::kPlain);
  EXPECT_EQ(SpeedupStyle(Interval{.median = 0.9, .low = 0.8, .high = 0.95}), Style::kBad);
}

TEST(Figures, TimeTokensMoney) {
  EXPECT_EQ(FormatElapsed(9.94), "9.9 s");
  EXPECT_EQ(FormatElapsed(245), "4m05s");
  EXPECT_EQ(FormatElapsed(3725), "1h02m");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(12345), "12.3k");
  EXPECT_EQ(FormatCount(1'200'000), "1.2M");
  EXPECT_EQ(FormatMoney(0), "-");
  EXPECT_EQ(FormatMoney(0.0123), "$0.0123");
  EXPECT_EQ(FormatSpent({.seconds = 45, .tokens_in = 1000, .tokens_out = 500, .usd = 1.5}),
            "45 s, 1.5k tokens, $1.50");
}

TEST(EvaluationText, ShowsFiguresWithTheirIntervals) {
  const std::string text =
      EvaluationText(kPipe, {.name = "scale", .category = "other"}, CppCandidate("x"), Passed());
  EXPECT_THAT(text, HasSubstr("passed  scale (other)"));
  EXPECT_THAT(text, HasSubstr("12.3 us [12.1, 12.7]"));
  EXPECT_THAT(text, HasSubstr("2.00x [1.90, 2.10]"));
  EXPECT_THAT(text, HasSubstr("hard_bound: no bound"));
  EXPECT_THAT(text, Not(HasSubstr("torch.compile")));
}

TEST(EvaluationText, ShowsTheRooflineAndNotTheLimitOfTheCheck) {
  Evaluation evaluation = Passed();
  evaluation.timing->ms = {87, 86, 88};
  evaluation.lower_bound_ms = 1;
  evaluation.roofline = Roofline{.ms = 12, .compute_bound = true};
  const std::string text = EvaluationText(kPipe, {}, CppCandidate("x"), evaluation);
  EXPECT_THAT(text, ContainsRegex("roofline +12(\\.0)? ms +compute bound, 14 % reached"));
  EXPECT_THAT(text, Not(HasSubstr("hardware bound")));
  EXPECT_THAT(text, Not(HasSubstr("1.00 ms")));
}

TEST(EvaluationText, NamesTheModeWhereItMatters) {
  const Task plain{.name = "relu"};
  EXPECT_THAT(EvaluationText(kPipe, plain, CppCandidate("x"), Passed()), Not(HasSubstr("mode")));
  const Task norm{.name = "norm", .training = false, .mode_matters = true};
  EXPECT_THAT(EvaluationText(kPipe, norm, CppCandidate("x"), Passed()),
              ContainsRegex("mode +eval"));
}

TEST(EvaluationText, VariantsWithTheChosenOneFirstAndWhyOthersFailed) {
  Evaluation evaluation = Passed();
  evaluation.tuning =
      Tuning{.variants = {{.tunables = {{"TILE", 6}}},
                          {.tunables = {{"TILE", 4}}, .status = Status::kWrongValues},
                          {.tunables = {{"TILE", 12}}, .ratio = Interval{0.9, 0.8, 0.95}},
                          {.tunables = {{"TILE", 8}},
                           .flags = {"-O2"},
                           .ratio = Interval{1.5, 1.45, 1.55}}},
             .chosen = 3};
  const std::string text = EvaluationText(kPipe, {}, CppCandidate("x"), evaluation);
  const std::size_t chosen = text.find("TILE=8 -O2");
  const std::size_t standard = text.find("TILE=6 (default)");
  ASSERT_NE(chosen, std::string::npos) << text;
  ASSERT_NE(standard, std::string::npos) << text;
  EXPECT_LT(chosen, standard);
  EXPECT_LT(standard, text.find("TILE=12"));
  EXPECT_LT(text.find("TILE=12"), text.find("TILE=4"));
  EXPECT_THAT(text, HasSubstr("1.50x [1.45, 1.55]"));
  EXPECT_THAT(text, HasSubstr("wrong_values"));
}

TEST(EvaluationText, CompilerMessagesWithTheirSourceLine) {
  Evaluation evaluation{.status = Status::kCompileError, .reason = "it does not compile"};
  evaluation.diagnostics = {{"error", "kernel.cpp", 3, 7, "no such name", "  gian[c]"}};
  const std::string text = EvaluationText(kPipe, {}, CppCandidate("x"), evaluation);
  EXPECT_THAT(text, HasSubstr("kernel.cpp:3: error: no such name\n    gian[c]\n"));
  EXPECT_THAT(text, Not(HasSubstr("per call")));
}

TEST(EvaluateObject, HasTheContractsNames) {
  Candidate candidate = CppCandidate("x");
  candidate.tunables = {{"TILE", 4}};
  const Json value =
      Json::parse(EvaluateObject({.name = "scale", .sha256 = "ab"}, candidate, Passed()));
  EXPECT_EQ(value["schema"], 1);
  EXPECT_EQ(value["task"]["name"], "scale");
  EXPECT_EQ(value["task"]["sha256"], "ab");
  EXPECT_EQ(value["candidate"]["id"], candidate.id());
  EXPECT_EQ(value["candidate"]["tunables"]["TILE"], 4);
  EXPECT_EQ(value["status"], "passed");
  EXPECT_EQ(value["speedup"]["eager"]["median"], 2.0);
  EXPECT_EQ(value["baseline"]["eager"]["median_ms"], 0.0246);
}

TEST(EvaluateObject, ForeignBytesStayValidJson) {
  Evaluation evaluation{.status = Status::kCrashed, .reason = "\xff\xfe"};
  EXPECT_FALSE(
      Json::parse(EvaluateObject({.name = "\xff"}, CppCandidate("x"), evaluation), nullptr, false)
          .is_discarded());
}

TEST(Objects, BestIsNullWhenNothingPassed) {
  const Json value =
      Json::parse(OptimizeObject({.run = "r", .attempts = 2, .stopped = StopReason::kBudget}));
  EXPECT_TRUE(value["best"].is_null());
  EXPECT_EQ(value["spent"]["tokens"], 0);
  EXPECT_TRUE(value["exported"].is_array());
}

TEST(Objects, FailuresSayTheirKind) {
  const Json value = Json::parse(FailureObject({ErrorKind::kUnavailable, "no bwrap"}));
  EXPECT_EQ(value["failure"]["kind"], "unavailable");
  const Json task = Json::parse(TaskErrorObject("scale", {ErrorKind::kTask, "no Model"}));
  EXPECT_EQ(task["status"], "task_error");
  EXPECT_EQ(task["reason"], "no Model");
}

SearchTree Tree() {
  SearchTree tree;
  Trial failed{.node = 1,
               .evaluation = {.status = Status::kCompileError, .reason = "line one\nline two"}};
  tree.Insert(failed);
  Trial good{.node = 2, .parent = 1, .role = Role::kRepair, .evaluation = Passed(), .best = true};
  good.advice = Advice{.bottleneck = "memory", .change = "block it"};
  good.spent.tokens_in = 1500;
  tree.Insert(good);
  return tree;
}

TEST(RunText, TrialsWithTheBestMarked) {
  const std::string text = TrialsText(kPipe, Summarize(Tree().trials()));
  EXPECT_THAT(text, HasSubstr("2 ★"));
  EXPECT_THAT(text, HasSubstr("memory: block it"));
  EXPECT_THAT(text, HasSubstr("line one"));
  EXPECT_THAT(text, Not(HasSubstr("line two")));
  EXPECT_THAT(text, HasSubstr("1.5k"));
}

TEST(RunText, OneLinePerAttempt) {
  EXPECT_EQ(TrialLine(Summarize(Tree().at(1)), 3), "attempt 1/3: compile_error: line one");
  EXPECT_EQ(TrialLine(Summarize(Tree().at(2)), 3),
            "attempt 2/3: passed, 2.00x [1.90, 2.10] against eager, the best so far");
}

TEST(DisagreementTest, FiguresWhoseIntervalsDoNotMeetAreNamed) {
  EXPECT_EQ(Disagreement(Interval{0.44, 0.4, 0.5}, Interval{1.19, 1.1, 1.3}),
            "1.19x [1.10, 1.30] now and 0.44x [0.40, 0.50] in the search disagree beyond their "
            "intervals: both figures are noisy");
  EXPECT_EQ(Disagreement(Interval{1.2, 1.1, 1.3}, Interval{1.3, 1.2, 1.4}), "");
  EXPECT_EQ(Disagreement(std::nullopt, Interval{1.3, 1.2, 1.4}), "");
}

TEST(EvaluationTextTest, NoisyFiguresSayWhy) {
  Evaluation evaluation = Passed();
  EXPECT_THAT(EvaluationText(kPipe, Task{}, Candidate{}, evaluation), Not(HasSubstr("noisy")));
  evaluation.noisy =
      "other programs used the processors in 20 of 60 bursts, the hypervisor kept 0.12 processors "
      "for other guests";
  evaluation.load = Load{.others = 0.33, .pressure = 0.25, .bursts = 60, .disturbed = 20};
  const std::string text = EvaluationText(kPipe, Task{}, Candidate{}, evaluation);
  EXPECT_THAT(text, HasSubstr("noisy: other programs used the processors in 20 of 60 bursts"));
  EXPECT_THAT(NoiseText(kPipe, evaluation), Not(ContainsRegex("[^\n]{101}")));
  EXPECT_THAT(text, HasSubstr("0.33 processors, in 20 of 60 bursts, pressure 25 %"));
}

TEST(RunText, FiguresOfABusyMachineAreMarked) {
  TrialSummary trial{.node = 1,
                     .status = Status::kPassed,
                     .speedup_eager = Interval{0.44, 0.31, 0.62},
                     .noisy = true};
  EXPECT_EQ(TrialLine(trial, 3), "attempt 1/3: passed, 0.44x [0.31, 0.62] (noisy) against eager");
  EXPECT_THAT(TrialsText(kPipe, {trial}), HasSubstr("0.44x [0.31, 0.62] (noisy)"));
}

TEST(RunText, TheComparisonThatDecidedIsShown) {
  TrialSummary trial{.node = 1,
                     .status = Status::kPassed,
                     .speedup_eager = Interval{1.38, 1.21, 1.57},
                     .speedup_best = Interval{1.01, 0.97, 1.05}};
  EXPECT_EQ(TrialLine(trial, 3),
            "attempt 1/3: passed, 1.38x [1.21, 1.57] against eager, against the best: 1.01x [0.97, "
            "1.05], not better");
  EXPECT_THAT(TrialsText(kPipe, {trial}), HasSubstr("1.01x [0.97, 1.05], not better"));
  trial.speedup_best = Interval{1.2, 1.1, 1.3};
  trial.prepacked = true;
  EXPECT_THAT(AgainstBest(trial), HasSubstr("not counted as better, since it packs"));
  trial.best = true;
  EXPECT_EQ(AgainstBest(trial), "against the best: 1.20x [1.10, 1.30], better");
  trial.speedup_best.reset();
  EXPECT_EQ(AgainstBest(trial), "");
}

}  // namespace
}  // namespace pragma
