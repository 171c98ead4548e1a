// Tests what the planner, the Coder that carries out a marked plan, and the debugger are shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agent/agent_fixture.h"
#include "agent/roles.h"
#include "agent/window.h"
#include "core/advice.h"
#include "llm/completion.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPromptDir = std::string(PRAGMA_SOURCE_DIR) + "/prompts";
const std::string kMarked =
    "#include \"kernel.h\"\n// <<<IMPROVE BEGIN>>>\n// Two rows at once.\nint pragma_kernel;\n"
    "// <<<IMPROVE END>>>\n";
const std::string kPlan =
    "Two rows at once, so that each weight is loaded half as often.\n\n```cpp\n" + kMarked +
    "```\n";

class AnchoredRolesTest : public testing::Test {
 protected:
  Result<Advised> Plan(const Window& window, bool skeleton = false) {
    const PromptSet prompts{.conductor = "planner", .anchors = true, .skeleton_first = skeleton};
    auto planner = MakeModelConductor(model_, kPromptDir, prompts, TestSettings());
    if (!planner) return std::unexpected(planner.error());
    return (*planner)->Advise(window, {.run = "r", .node = 2, .role = {}, .ordinal = 0});
  }
  std::string PlannerPrompt(const Window& window, bool skeleton = false) {
    const auto advised = Plan(window, skeleton);
    EXPECT_TRUE(advised) << advised.error().message;
    return model_.asked.empty() ? "" : MessagesAsText(model_.asked.back());
  }
  std::string CoderPrompt(const Window& window, const Advice* advice, const PromptSet& prompts) {
    model_ = ScriptedModel({"```cpp\nint pragma_kernel;\n```"});
    const auto coder = MakeModelCoder(model_, kPromptDir, prompts, TestSettings());
    EXPECT_TRUE(coder) << coder.error().message;
    EXPECT_TRUE((*coder)->Propose(window, advice, {.run = "r", .node = 2}));
    return MessagesAsText(model_.asked.back());
  }
  SmallRun run_;
  ScriptedModel model_{{kPlan, kPlan}};
};

TEST_F(AnchoredRolesTest, PlannerMarksTheModuleFirst) {
  ExpectGolden("planner_module", PlannerPrompt(run_.window()));
}

TEST_F(AnchoredRolesTest, OrASkeletonOfTheKernelWithAnExampleBeside) {
  Window window = run_.window();
  const ExampleKernel example{.title = "a smaller layer", .code = "int other;\n"};
  window.example = &example;
  ExpectGolden("planner_skeleton", PlannerPrompt(window, true));
}

TEST_F(AnchoredRolesTest, PlannerImprovesTheSelectedVersion) {
  Window window = run_.window();
  window.current = &run_.passed;
  window.others = {&run_.broken, &run_.slower};
  window.attempt = 6;
  window.focus = "memory traffic: fewer bytes between the levels";
  const std::string prompt = PlannerPrompt(window);
  ExpectGolden("planner_improve", prompt);
  EXPECT_THAT(prompt, Not(HasSubstr("A kernel for a similar task")));
}

TEST_F(AnchoredRolesTest, APlanIsAdviceWithTheMarkedSource) {
  Window window = run_.window();
  window.current = &run_.passed;
  const auto advised = Plan(window);
  ASSERT_TRUE(advised) << advised.error().message;
  EXPECT_EQ(advised->advice.anchored, kMarked);
  EXPECT_THAT(advised->advice.change, HasSubstr("Two rows at once"));
  EXPECT_EQ(advised->author, "planner scripted");
  EXPECT_EQ(model_.keys.back().role, "planner");
}

TEST_F(AnchoredRolesTest, APlanWithoutMarkersIsAskedForAgainAndThenTakenAsProse) {
  model_ = ScriptedModel({"Tile it.", "Really, tile it."});
  const auto advised = Plan(run_.window());
  ASSERT_TRUE(advised) << advised.error().message;
  EXPECT_THAT(model_.asked.back().back().text, HasSubstr("exactly one fenced block"));
  EXPECT_EQ(advised->advice.change, "Really, tile it.");
  EXPECT_EQ(advised->advice.anchored, "");
}

TEST_F(AnchoredRolesTest, CoderCarriesOutTheMarkedPlan) {
  Window window = run_.window();
  window.current = &run_.passed;
  window.others = {&run_.slower};
  window.attempt = 6;
  const Advice advice{.base = Base::kCurrent, .change = "Two rows at once.", .anchored = kMarked};
  ExpectGolden("coder_anchored", CoderPrompt(window, &advice, {.coder = "coder_anchored"}));
}

TEST_F(AnchoredRolesTest, CoderWithoutMarksStillSeesTheVersion) {
  Window window = run_.window();
  window.current = &run_.passed;
  const Advice prose{.base = Base::kCurrent, .change = "Tile it."};
  EXPECT_THAT(CoderPrompt(window, &prose, {.coder = "coder_anchored"}),
              AllOf(HasSubstr("Tile it."), HasSubstr(run_.passed.candidate->source())));
}

TEST_F(AnchoredRolesTest, DebuggerSeesTheFailureThePlanAndTheSiblings) {
  Window window = run_.window();
  run_.wrong.advice = Advice{.change = "Two rows at once."};
  window.current = &run_.wrong;
  window.others = {&run_.broken};
  window.attempt = 4;
  const PromptSet prompts{.coder = "debugger", .coder_role = "debugger"};
  ExpectGolden("debugger", CoderPrompt(window, nullptr, prompts));
  EXPECT_EQ(model_.keys.back().role, "debugger");
}

}  // namespace
}  // namespace pragma
