#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "agent/agent_fixture.h"
#include "agent/roles.h"
#include "agent/window.h"
#include "core/advice.h"
#include "core/profile.h"
#include "knowledge/metrics_testing.h"
#include "llm/completion.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kPromptDir = std::string(PRAGMA_SOURCE_DIR) + "/prompts";
const std::string kReply =
    "```json\n{\"base\": \"current\", \"bottleneck\": \"b\", \"change\": \"c\"}\n```";

class ModelConductorTest : public testing::Test {
 protected:
  Result<Advised> Advise(const Window& window) {
    auto conductor = MakeModelConductor(model_, kPromptDir, {}, settings_);
    if (!conductor) return std::unexpected(conductor.error());
    return (*conductor)->Advise(window, {.run = "r", .node = 2, .role = {}, .ordinal = 0});
  }
  std::string Prompt(const Window& window) {
    const auto advised = Advise(window);
    EXPECT_TRUE(advised) << advised.error().message;
    return model_.asked.empty() ? "" : MessagesAsText(model_.asked.back());
  }
  SmallRun run_;
  ScriptedModel model_{{kReply}};
  RoleSettings settings_ = TestSettings();
};

TEST_F(ModelConductorTest, FirstPrompt) { ExpectGolden("conductor_first", Prompt(run_.window())); }

TEST_F(ModelConductorTest, PromptAfterAFailure) {
  Window window = run_.window();
  window.current = &run_.wrong;
  window.best = &run_.passed;
  window.others = {&run_.broken};
  window.attempt = 5;
  ExpectGolden("conductor_failed", Prompt(window));
}

TEST_F(ModelConductorTest, PromptAfterANewBest) {
  Window window = run_.window();
  window.current = &run_.passed;
  window.best = &run_.passed;
  window.attempt = 4;
  ExpectGolden("conductor_passed", Prompt(window));
}

TEST_F(ModelConductorTest, PromptAfterASlowerVersion) {
  Window window = run_.window();
  window.current = &run_.slower;
  window.best = &run_.passed;
  window.attempt = 5;
  ExpectGolden("conductor_slower", Prompt(window));
}

TEST_F(ModelConductorTest, PromptAfterNoCode) {
  Window window = run_.window();
  window.current = &run_.no_code;
  window.attempt = 6;
  ExpectGolden("conductor_no_code", Prompt(window));
}

// A run of the strategy with profiles: trial 3 was profiled and is the best, trial 4 is worse.
class ProfiledConductorTest : public ModelConductorTest {
 protected:
  ProfiledConductorTest() {
    run_.passed.profile = Profile{.metrics = {{"time_ms", 0.1, "ms", "measured"},
                                              {"instructions", 1.2e6, "1", "exact count"},
                                              {"store_bytes", 65536, "B", "exact count"}},
                                  .diagnosis = {},
                                  .hot = {},
                                  .providers = {},
                                  .judgement = {}};
    run_.slower.profile = Profile{
        .metrics = {{"time_ms", 0.2, "ms", "measured"},
                    {"instructions", 4.8e6, "1", "exact count"},
                    {"store_bytes", 65536, "B", "exact count"}},
        .diagnosis = {{.bottleneck = "not_vectorised",
                       .score = 0.6,
                       .evidence = {"0 % of the operations are in vectors (threshold 80 %)"},
                       .action = "Make it vector code (technique.restrict_pointers).",
                       .line = 12,
                       .predicted_speedup = 2.5}},
        .hot = {{.file = "kernel.cpp", .line = 12, .percent = 90, .text = "y[i] = x[i];"}},
        .providers = {},
        .judgement = "the time rose from 100 us to 200 us"};
    settings_.metrics = ShippedMetrics();
    settings_.metric_meanings = {{"instructions", "Executed instructions."}};
    settings_.techniques = {{"restrict_pointers", "`technique.restrict_pointers`: Say it."}};
    window_ = run_.window();
    window_.current = &run_.slower;
    window_.best = &run_.passed;
    window_.attempt = 5;
  }
  Window window_;
};

TEST_F(ProfiledConductorTest, PromptWithAProfile) {
  ExpectGolden("conductor_profiled", Prompt(window_));
}

TEST_F(ProfiledConductorTest, MetricsAskedForAreShown) {
  EXPECT_THAT(Prompt(window_), Not(HasSubstr("| store_bytes |")));
  model_ = ScriptedModel({kReply});
  run_.slower.advice = Advice{.extra_metrics = {"store_bytes"}};
  EXPECT_THAT(Prompt(window_), HasSubstr("| store_bytes |"));
}

TEST_F(ProfiledConductorTest, ExplanationsGoBeforeTheDiagnosis) {
  settings_.prompt_bytes = 1;
  const std::string prompt = Prompt(window_);
  EXPECT_THAT(prompt, Not(HasSubstr("Say it.")));
  EXPECT_THAT(prompt, Not(HasSubstr("Executed instructions.")));
  EXPECT_THAT(prompt, HasSubstr("not_vectorised"));
}

TEST_F(ModelConductorTest, ReturnsTheDecision) {
  const auto advised = Advise(run_.window());
  ASSERT_TRUE(advised) << advised.error().message;
  EXPECT_EQ(advised->advice.base, Base::kCurrent);
  EXPECT_EQ(advised->advice.change, "c");
  EXPECT_EQ(advised->author, "conductor scripted");
  EXPECT_EQ(advised->spent.tokens(), 15);
  EXPECT_EQ(model_.keys[0].role, "conductor");
}

TEST_F(ModelConductorTest, AsksOnceMoreForTheDecision) {
  model_ = ScriptedModel({"Tile it.", kReply});
  const auto advised = Advise(run_.window());
  ASSERT_TRUE(advised) << advised.error().message;
  EXPECT_EQ(advised->advice.change, "c");
  ASSERT_EQ(model_.asked.size(), 2U);
  EXPECT_EQ(model_.keys[1].ordinal, 1);
  ExpectGolden("conductor_reask", model_.asked[1][2].text);
}

TEST_F(ModelConductorTest, ProseIsAdviceToo) {
  model_ = ScriptedModel({"Tile it.", "Tile it by eight."});
  const auto advised = Advise(run_.window());
  ASSERT_TRUE(advised) << advised.error().message;
  EXPECT_THAT(advised->advice.change, HasSubstr("Tile it by eight."));
  EXPECT_FALSE(advised->advice.stop);
}

}  // namespace
}  // namespace pragma
