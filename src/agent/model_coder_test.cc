#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/agent_fixture.h"
#include "agent/roles.h"
#include "llm/completion.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPromptDir = std::string(PRAGMA_SOURCE_DIR) + "/prompts";
const std::string kReply =
    "Fine.\n```cpp\n#include \"kernel.h\"\nextern \"C\" void pragma_kernel() {}\n```\n";

class ModelCoderTest : public testing::Test {
 protected:
  Result<Proposal> Propose(const Window& window, const Advice* advice,
                           const PromptSet& prompts = {}) {
    auto coder = MakeModelCoder(model_, kPromptDir, prompts, settings_);
    if (!coder) return std::unexpected(coder.error());
    return (*coder)->Propose(window, advice, {.run = "r", .node = 7, .role = {}, .ordinal = 0});
  }
  // Returns the prompt of a proposal over `window`.
  std::string Prompt(const Window& window, const Advice* advice, const PromptSet& prompts = {}) {
    const auto proposal = Propose(window, advice, prompts);
    EXPECT_TRUE(proposal) << proposal.error().message;
    return model_.asked.empty() ? "" : MessagesAsText(model_.asked.back());
  }
  SmallRun run_;
  ScriptedModel model_{{kReply, kReply, kReply}};
  RoleSettings settings_ = TestSettings();
};

TEST_F(ModelCoderTest, FirstPrompt) { ExpectGolden("coder_first", Prompt(run_.window(), nullptr)); }

TEST_F(ModelCoderTest, FirstPromptWithAdviceAndWish) {
  Window window = run_.window();
  window.advice_from_user = "  Mind the remainder.\n";
  const Advice advice{.base = Base::kBest, .change = "Split the rows over the threads."};
  ExpectGolden("coder_first_advised", Prompt(window, &advice));
}

TEST_F(ModelCoderTest, RepairPrompt) {
  Window window = run_.window();
  window.current = &run_.broken;
  window.attempt = 2;
  ExpectGolden("coder_repair", Prompt(window, nullptr));
}

TEST_F(ModelCoderTest, ImprovePrompt) {
  Window window = run_.window();
  window.current = &run_.wrong;
  window.best = &run_.passed;
  window.others = {&run_.broken, &run_.passed, &run_.slower, &run_.no_code};
  window.attempt = 6;
  const Advice advice{.base = Base::kBest,
                      .bottleneck = "dependency_chain",
                      .evidence = "one accumulator for 512 terms",
                      .change = "Use four accumulators."};
  ExpectGolden("coder_improve", Prompt(window, &advice));
}

TEST_F(ModelCoderTest, FirstAttemptWithTunables) {
  settings_.tunes = true;
  ExpectGolden("coder_first_tuned", Prompt(run_.window(), nullptr));
}

TEST_F(ModelCoderTest, StartsFromWhatTheAdviceSays) {
  Window window = run_.window();
  window.current = &run_.slower;
  window.best = &run_.passed;
  const Advice current{.base = Base::kCurrent, .change = "x"};
  EXPECT_THAT(Prompt(window, &current), HasSubstr("The version to start from: Attempt 4"));
  const Advice best{.base = Base::kBest, .change = "x"};
  EXPECT_THAT(Prompt(window, &best), HasSubstr("The version to start from: Attempt 3"));
  const Advice anew{.base = Base::kReference, .change = "x"};
  EXPECT_THAT(Prompt(window, &anew), AllOf(HasSubstr("Write the first version"),
                                           Not(HasSubstr("The version to start from"))));
}

TEST_F(ModelCoderTest, Conversation) {
  Window window = run_.window();
  window.current = &run_.slower;
  window.best = &run_.passed;
  window.others = {&run_.broken, &run_.wrong, &run_.passed, &run_.slower};
  window.attempt = 5;
  ExpectGolden("coder_conversation", Prompt(window, nullptr, {.multi_turn = true}));
  ASSERT_EQ(model_.asked.back().size(), 9U);
  EXPECT_EQ(model_.asked.back()[1].role, "assistant");
  EXPECT_THAT(model_.asked.back()[1].text, HasSubstr("sixteen lanes"));
}

TEST_F(ModelCoderTest, ConversationForgetsTheOldestFirst) {
  Window window = run_.window();
  window.others = {&run_.broken, &run_.wrong, &run_.passed, &run_.slower};
  settings_.prompt_bytes = 9000;
  const std::string prompt = Prompt(window, nullptr, {.multi_turn = true});
  EXPECT_THAT(prompt, AllOf(Not(HasSubstr("sixteen lanes")), HasSubstr("tiles of eight rows"),
                            HasSubstr("class Model(nn.Module)")));
}

TEST_F(ModelCoderTest, CutsTheLeastUsefulFirstAndNeverTheTask) {
  Window window = run_.window();
  window.current = &run_.slower;
  window.best = &run_.passed;
  window.others = {&run_.broken, &run_.wrong, &run_.no_code};
  const std::size_t full = Prompt(window, nullptr).size();
  // Shrinking the limit from the size of the whole prompt drops its parts in this order.
  settings_.prompt_bytes = full - 1;
  EXPECT_THAT(Prompt(window, nullptr),
              AllOf(Not(HasSubstr("sixteen lanes")), HasSubstr("the last tile is missing")));
  settings_.prompt_bytes = 1;
  EXPECT_THAT(Prompt(window, nullptr),
              AllOf(Not(HasSubstr("# Other attempts")), Not(HasSubstr("no AVX-512")),
                    Not(HasSubstr("tiles of four rows")), HasSubstr("tiles of eight rows"),
                    HasSubstr("class Model(nn.Module)"), HasSubstr("linear_weight_dims"),
                    HasSubstr("# Rules"), HasSubstr("# Form of the answer")));
}

TEST_F(ModelCoderTest, ReturnsTheCandidateAndWhatItCost) {
  settings_.sampling = {.temperature = 0.1, .max_tokens = 77};
  const auto proposal = Propose(run_.window(), nullptr);
  ASSERT_TRUE(proposal) << proposal.error().message;
  ASSERT_TRUE(proposal->candidate);
  EXPECT_THAT(proposal->candidate->source(), HasSubstr("pragma_kernel() {}"));
  EXPECT_EQ(proposal->author, "coder scripted");
  EXPECT_EQ(proposal->spent.tokens(), 15);
  EXPECT_EQ(model_.samplings[0].max_tokens, 77);
  EXPECT_EQ(model_.keys[0].role, "coder");
  EXPECT_EQ(model_.keys[0].node, 7);
  EXPECT_EQ(model_.keys[0].ordinal, 0);
}

TEST_F(ModelCoderTest, AsksOnceMoreForCode) {
  model_ = ScriptedModel({"I would tile it.", kReply});
  const auto proposal = Propose(run_.window(), nullptr);
  ASSERT_TRUE(proposal) << proposal.error().message;
  EXPECT_TRUE(proposal->candidate);
  EXPECT_EQ(proposal->spent.tokens(), 30);
  EXPECT_DOUBLE_EQ(proposal->spent.usd, 1);
  ASSERT_EQ(model_.asked.size(), 2U);
  EXPECT_EQ(model_.keys[1].ordinal, 1);
  ASSERT_EQ(model_.asked[1].size(), 3U);
  EXPECT_EQ(model_.asked[1][1].text, "I would tile it.");
  ExpectGolden("coder_reask", model_.asked[1][2].text);
}

TEST_F(ModelCoderTest, GivesUpAfterTheReasks) {
  model_ = ScriptedModel({"", "Still thinking.", kReply});
  const auto proposal = Propose(run_.window(), nullptr);
  ASSERT_TRUE(proposal) << proposal.error().message;
  EXPECT_FALSE(proposal->candidate);
  EXPECT_FALSE(proposal->unsupported);
  EXPECT_THAT(proposal->reason, HasSubstr("no fenced code block"));
  EXPECT_EQ(model_.asked.size(), 2U);
  EXPECT_EQ(model_.asked[1][1].text, "(empty reply)");
}

TEST_F(ModelCoderTest, TakesUnsupportedForAnAnswer) {
  model_ = ScriptedModel({"UNSUPPORTED: complex numbers"});
  const auto proposal = Propose(run_.window(), nullptr);
  ASSERT_TRUE(proposal);
  EXPECT_TRUE(proposal->unsupported);
  EXPECT_THAT(proposal->reason, HasSubstr("complex numbers"));
}

TEST_F(ModelCoderTest, ErrorsOfTheModelAreErrors) {
  model_ = ScriptedModel({});
  const auto proposal = Propose(run_.window(), nullptr);
  ASSERT_FALSE(proposal);
  EXPECT_EQ(proposal.error().kind, ErrorKind::kUnavailable);
}

TEST_F(ModelCoderTest, MissingPromptsAreErrors) {
  EXPECT_FALSE(MakeModelCoder(model_, kPromptDir, {.coder = "nowhere"}, settings_));
  EXPECT_FALSE(MakeModelCoder(model_, "/nowhere", {}, settings_));
}

}  // namespace
}  // namespace pragma
