#include "report/run_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/status.h"
#include "core/timing.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/html_page.h"
#include "report/json_text.h"
#include "report/run_text.h"
#include "report/terminal.h"
#include "store/store.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

Trial Attempt(int node, int parent, bool best) {
  Trial trial{.node = node, .parent = parent, .role = Role::kImprove, .author = "coder m"};
  trial.candidate = CppCandidate("int x;\n");
  trial.advice = Advice{.change = std::string(1000, 'c')};
  trial.evaluation = {.status = Status::kPassed, .speedup_eager = Interval{2, 1.9, 2.1}};
  trial.best = best;
  return trial;
}

CallRecord Call(int node) {
  return {.run = "r",
          .node = node,
          .role = "coder",
          .model = "m",
          .prompt_json = R"([{"role":"user","text":"the prompt of a node"}])",
          .completion_json =
              R"({"text":"the reply of a node","tokens_in":3,"tokens_out":4,"usd":0.5})"};
}

struct Example {
  RunRecord run{.id = "r", .task_name = "t", .task_json = "{}", .settings_json = "no json"};
  SearchTree tree;
  BundleNames bundles{{1, "b1"}};
  std::vector<CallRecord> calls{Call(1), Call(2)};

  Json Head(Conversations which = Conversations::kBestPath) const {
    return Json::parse(Content(which).json);
  }
  PageContent Content(Conversations which = Conversations::kBestPath) const {
    return RunPageContent(
        {.run = run, .tree = tree, .bundles = bundles, .calls = calls, .conversations = which});
  }
};

Example TwoAttempts() {
  Example example;
  example.tree.Insert(Attempt(1, 0, true));
  example.tree.Insert(Attempt(2, 1, false));
  return example;
}

const PageBlock& Block(const PageContent& content, const std::string& id) {
  for (const PageBlock& block : content.blocks) {
    if (block.id == id) return block;
  }
  throw std::out_of_range(id);
}

TEST(RunPage, RowsHoldWhatTheChartsNeed) {
  const Json head = TwoAttempts().Head();
  EXPECT_EQ(head["best"], 1);
  EXPECT_EQ(head["trials"].size(), 2U);
  EXPECT_EQ(head["trials"][1]["parent"], 1);
  EXPECT_EQ(head["trials"][0]["eager"], Json::parse("[2.0,1.9,2.1]"));
}

TEST(RunPage, CostIsSummedByRoleAndModel) {
  const Json cost = TwoAttempts().Head()["cost"];
  ASSERT_EQ(cost.size(), 1U);
  EXPECT_EQ(cost[0]["calls"], 2);
  EXPECT_EQ(cost[0]["tokens_in"], 6);
  EXPECT_EQ(cost[0]["usd"], 1.0);
}

TEST(RunPage, OnlyTheBestPathKeepsItsConversationsUnlessAllAreWanted) {
  const Example example = TwoAttempts();
  const auto said = [&](Conversations which, const char* node) {
    return Json::parse(Block(example.Content(which), "calls").json)[node][0].contains("said");
  };
  EXPECT_TRUE(said(Conversations::kBestPath, "1"));
  EXPECT_FALSE(said(Conversations::kBestPath, "2"));
  EXPECT_TRUE(said(Conversations::kAll, "2"));
}

TEST(RunPage, ForeignTextOfAnyKindLeavesValidJson) {
  Example example = TwoAttempts();
  example.run.task_name = "\xff\xfe</script>";
  example.calls[0].model = "\xff";
  example.calls[0].prompt_json = R"([3, "x", {"role": 1}])";
  example.calls[1].completion_json = "\xff no json";
  Trial broken = Attempt(3, 2, false);
  broken.author = "\xff";
  broken.evaluation.log = "\xc3";
  broken.evaluation.checks = {{"\xff", CheckVerdict::kFail, "a\tb"}};
  example.tree.Insert(broken);
  for (const PageBlock& block : example.Content(Conversations::kAll).blocks)
    EXPECT_TRUE(Json::accept(block.json)) << block.id;
  EXPECT_EQ(example.Head()["run"]["task"], "\uFFFD\uFFFD</script>");
}

TEST(RunPage, LongRunsShortenWhatDidNotLeadToTheBest) {
  Example example;
  for (int node = 1; node <= 250; ++node) {
    Trial trial = Attempt(node, 0, node == 7);
    if (node == 9) trial.advice->change = std::string(1000, 'd');
    if (node == 9) trial.advice->anchored = std::string(1000, 'e');
    example.tree.Insert(trial);
  }
  const auto lines = [&](Conversations which) {
    return Block(example.Content(which), "trial-lines").json;
  };
  EXPECT_EQ(example.Head()["shortened"], true);
  EXPECT_EQ(TwoAttempts().Head()["shortened"], false);
  EXPECT_THAT(lines(Conversations::kBestPath), HasSubstr(std::string(1000, 'c')));
  EXPECT_THAT(lines(Conversations::kBestPath), Not(HasSubstr(std::string(1000, 'd'))));
  EXPECT_THAT(lines(Conversations::kBestPath), Not(HasSubstr("eeee")));
  EXPECT_THAT(lines(Conversations::kAll), HasSubstr(std::string(1000, 'd')));
  EXPECT_THAT(lines(Conversations::kAll), HasSubstr(std::string(1000, 'e')));
}

TEST(RunText, ChildrenFollowTheirParentAndOnlyBranchesAreIndented) {
  SearchTree tree;
  tree.Insert(Attempt(1, 0, true));
  tree.Insert(Attempt(2, 1, false));
  tree.Insert(Attempt(3, 1, false));
  tree.Insert(Attempt(4, 2, false));
  const std::string text = TrialsText({.unicode = false}, Summarize(tree.trials()));
  EXPECT_LT(text.find("\n  2 "), text.find("\n  4 "));
  EXPECT_LT(text.find("\n  4 "), text.find("\n  3 "));
  EXPECT_THAT(text, HasSubstr("\n1 *"));
  EXPECT_THAT(text, Not(HasSubstr("author")));  // all attempts have the same author
}

TEST(RunText, SeveralAuthorsGetAColumn) {
  SearchTree tree;
  tree.Insert(Attempt(1, 0, true));
  Trial other = Attempt(2, 1, false);
  other.author = "expert";
  other.profile = Profile{.diagnosis = {{.bottleneck = "gather"}}};
  tree.Insert(other);
  EXPECT_THAT(TrialsText({}, Summarize(tree.trials())), HasSubstr("expert"));
  EXPECT_THAT(TrialsText({}, Summarize(tree.trials())), HasSubstr("gather"));
}

}  // namespace
}  // namespace pragma
