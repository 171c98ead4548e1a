#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "agent/agent_fixture.h"
#include "agent/roles.h"
#include "llm/completion.h"

namespace pragma {
namespace {

using testing::HasSubstr;

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
