// Tests strategies, presets, stopping rules and settings, which need no store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/search_fakes.h"
#include "search/session.h"
#include "search/settings.h"
#include "search/stopping.h"
#include "search/strategy.h"

// A missing value may end a test, so unchecked access is fine here.
namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

Trial Attempt(const SearchTree& tree, const std::string& source) {
  Trial trial;
  trial.node = tree.next_node();
  trial.parent = tree.empty() ? 0 : trial.node - 1;
  if (source != "none") {
    trial.candidate = CppCandidate(source);
    trial.evaluation = Judge(*trial.candidate, tree.best());
  }
  trial.best = trial.candidate && BecomesBest(trial.evaluation, tree.best());
  return trial;
}

SearchTree Tree(const std::vector<std::string>& sources) {
  SearchTree tree;
  for (const std::string& source : sources) tree.Insert(Attempt(tree, source));
  return tree;
}

Move NextOf(const Preset& preset, const SearchTree& tree) {
  return MakeStrategy(preset, {})->Next(tree, {});
}

TEST(LinearStrategy, WorksOnTheNewestAttemptWithCode) {
  const Preset preset{.history = ShownHistory::kBest};
  EXPECT_EQ(NextOf(preset, {}).role, Role::kSeed);
  EXPECT_EQ(NextOf(preset, {}).node, 0);
  const Move repair = NextOf(preset, Tree({"pass 1 9", "broken"}));
  EXPECT_EQ(repair.node, 2);
  EXPECT_EQ(repair.role, Role::kRepair);
  EXPECT_THAT(repair.plan_window, ElementsAre(1));
  const Move improve = NextOf(preset, Tree({"pass 1 9", "none"}));
  EXPECT_EQ(improve.node, 1);
  EXPECT_EQ(improve.role, Role::kImprove);
  EXPECT_THAT(improve.plan_window, IsEmpty());
  EXPECT_EQ(NextOf(preset, Tree({"none", "none"})).role, Role::kSeed);
}

TEST(LinearStrategy, HistorySaysWhatElseIsShown) {
  const SearchTree tree = Tree({"pass 1 9", "none", "broken", "broken 2"});
  EXPECT_THAT(NextOf({.policy = PolicyKind::kConversation, .history = ShownHistory::kAll}, tree)
                  .plan_window,
              ElementsAre(1, 3));
  EXPECT_THAT(NextOf({.policy = PolicyKind::kConversation, .history = ShownHistory::kLast}, tree)
                  .plan_window,
              IsEmpty());
}

TEST(RunSettings, APolicyOfALaterPragmaIsRefused) {
  std::string text = ToJson(RunSettings{});
  const std::string known = R"("policy":"linear")";
  text.replace(text.find(known), known.size(), R"("policy":"magic")");
  EXPECT_THAT(RunSettingsFromJson(text).error().message,
              HasSubstr("policy has the unknown value \"magic\""));
}

TEST(BestRule, NeedsAnIntervalAboveOnePercent) {
  const SearchTree tree = Tree({"pass 1 9"});
  const auto becomes = [&](const std::string& source) {
    return BecomesBest(Judge(CppCandidate(source), tree.best()), tree.best());
  };
  EXPECT_FALSE(becomes("broken"));
  EXPECT_FALSE(becomes("pass 1.01 8"));
  EXPECT_TRUE(becomes("pass 1.02 8"));
  EXPECT_TRUE(BecomesBest(Judge(CppCandidate("pass 0 99"), nullptr), nullptr))
      << "the first that passed";
  Evaluation unmeasured;
  unmeasured.status = Status::kPassed;
  EXPECT_FALSE(BecomesBest(unmeasured, tree.best())) << "not compared with the best";
}

TEST(BestRule, PackingBeforehandNeverReplacesAPlainKernel) {
  const SearchTree plain = Tree({"pass 1 9"});
  const SearchTree packed = Tree({"pass 1 9 packed"});
  const auto becomes = [](const std::string& source, const SearchTree& tree) {
    return BecomesBest(Judge(CppCandidate(source), tree.best()), tree.best());
  };
  EXPECT_FALSE(becomes("pass 2 4 packed", plain));
  EXPECT_TRUE(becomes("pass 2 4 packed", packed));
  EXPECT_TRUE(becomes("pass 2 4", packed)) << "faster without that help";
}

TEST(WhyStopped, RooflineWithinFivePercentOfTheBound) {
  const Budget budget{.attempts = 9};
  EXPECT_EQ(WhyStopped(Tree({"pass 1 1.05"}), {}, {}, budget), StopReason::kRoofline);
  EXPECT_EQ(WhyStopped(Tree({"pass 1 1.06"}), {}, {}, budget), StopReason::kNone);
  EXPECT_EQ(WhyStopped({}, {}, {}, budget), StopReason::kNone);
}

TEST(WhyStopped, StallCountsAttemptsSinceTheBest) {
  const Preset preset{.stall_attempts = 2};
  const Budget budget{.attempts = 9};
  EXPECT_EQ(WhyStopped(Tree({"broken"}), {}, preset, budget), StopReason::kNone);
  EXPECT_EQ(WhyStopped(Tree({"broken", "broken"}), {}, preset, budget), StopReason::kStall);
  EXPECT_EQ(WhyStopped(Tree({"broken", "pass 1 9", "broken"}), {}, preset, budget),
            StopReason::kNone);
  EXPECT_EQ(WhyStopped(Tree({"broken", "pass 1 9", "broken", "pass 1 9"}), {}, preset, budget),
            StopReason::kStall);
  EXPECT_EQ(WhyStopped(Tree({"broken", "broken"}), {}, {}, budget), StopReason::kNone)
      << "off by default";
}

TEST(Presets, TheShippedOnesLoad) {
  const std::string dir = std::string(PRAGMA_SOURCE_DIR) + "/strategies";
  const auto presets = ListPresets(dir);
  ASSERT_TRUE(presets) << presets.error().message;
  for (const Preset& preset : *presets) {
    EXPECT_TRUE(MakeStrategy(preset, {})) << preset.name;
    EXPECT_EQ(LoadPreset(dir, preset.name)->summary, preset.summary)
        << "the file is named for the preset";
  }
  EXPECT_EQ(LoadPreset(dir, "caesar")->policy, PolicyKind::kConversation);
  EXPECT_FALSE(LoadPreset(dir, "caesar")->conductor);
  EXPECT_EQ(LoadPreset(dir, "sampling")->policy, PolicyKind::kIndependent);
  EXPECT_EQ(LoadPreset(dir, "n-pragma")->history, ShownHistory::kBest);
}

TEST(Presets, MistakesAreNamed) {
  const TempDir dir = TempDir::Create().value();
  const std::string path = (dir.path() / "mine.toml").string();
  const auto message = [&](const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(path, text));
    const auto preset = LoadPreset(dir.path(), path);
    return preset ? "" : preset.error().message;
  };
  EXPECT_EQ(message("name = \"mine\"\ncoder_temperature = 1\n"), "")
      << "a whole number is a temperature";
  EXPECT_THAT(message("name = \"mine\"\natempts = 3"), HasSubstr("did you mean \"attempts\""));
  EXPECT_THAT(message("name = \"mine\"\nattempts = \"3\""),
              HasSubstr("attempts must be a whole number"));
  EXPECT_THAT(message("name = \"mine\"\nattempts = 0"), HasSubstr("at least 1"));
  EXPECT_THAT(message("name = \"mine\"\npolicy = \"linaer\""),
              HasSubstr("did you mean \"linear\""));
  EXPECT_THAT(message("name = \"mine\"\nhistory = \"everything\""), HasSubstr("known are best"));
  EXPECT_THAT(message("name = \"mine\"\ncoder_temperature = nan"),
              HasSubstr("coder_temperature must"));
  EXPECT_THAT(message("attempts = 3"), HasSubstr("name is missing"));
  EXPECT_THAT(message("name = = 3"), HasSubstr("mine.toml:1:"));
  EXPECT_THAT(LoadPreset(dir.path(), "mein").error().message, HasSubstr("did you mean \"mine\""));
  EXPECT_FALSE(LoadPreset(dir.path(), "./absent.toml"));
  EXPECT_FALSE(ListPresets((dir.path() / "absent").string()));
}

TEST(RunSettings, RoundTrip) {
  RunSettings settings;
  settings.preset = {.name = "mine",
                     .policy = PolicyKind::kConversation,
                     .history = ShownHistory::kAll,
                     .conductor = false,
                     .coder_temperature = 0.1,
                     .attempts = 3,
                     .stall_attempts = 2};
  settings.budget = {4, 1.5, 6, 0.25};
  settings.seed = {1, 0xffffffffffffffffU};
  settings.coder_model = "openai:x";
  settings.options = {{"mode", "strict"}};
  settings.recording = "ab";
  const std::string text = ToJson(settings);
  const auto back = RunSettingsFromJson(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(ToJson(*back), text);
  EXPECT_EQ(back->seed, settings.seed);
  EXPECT_TRUE(Prompts(*back).multi_turn);
  EXPECT_EQ(CoderSettings(*back).sampling.temperature, 0.1);
  EXPECT_FALSE(RunSettingsFromJson("{\"seed\":\"x\"}"));
  EXPECT_FALSE(RunSettingsFromJson("{\"budget\":{\"attempts\":\"many\"}}"));
  EXPECT_TRUE(RunSettingsFromJson("{}")) << "every setting has a default";
}

TEST(RunSettingsJson, KeepsWhatABackendSaysOfItsPrompts) {
  const RunSettings settings{
      .language = Language::kTriton, .processors = "Kestrel NPUs", .prompt_folder = "kestrel"};
  const auto back = RunSettingsFromJson(ToJson(settings));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(CoderSettings(*back).processors, "Kestrel NPUs");
  EXPECT_EQ(PromptFolderOf(ConductorSettings(*back)), "kestrel");
  EXPECT_EQ(PromptFolderOf(RoleSettings{.language = Language::kCuda}), "cuda");
}

TEST(RunSettingsJson, KeepsTheLanguageAndSaysNothingOfC) {
  for (const Language language : {Language::kCpp, Language::kCuda, Language::kTriton}) {
    const RunSettings settings{.language = language};
    const auto back = RunSettingsFromJson(ToJson(settings));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->language, language);
    EXPECT_EQ(CoderSettings(*back).language, language);
  }
  EXPECT_EQ(ToJson(RunSettings{}).find("language"), std::string::npos)
      << "benchmarks know older runs by this text";
  EXPECT_FALSE(RunSettingsFromJson("{\"language\":\"python\"}"));
}

TEST(RunId, HasTheTimeInIt) {
  EXPECT_THAT(NewRunId(1795256100000),
              MatchesRegex("r-20261121-101500-[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"));
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
