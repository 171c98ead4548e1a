// Evaluates and searches as a program would that links the application layer and has no command
// line.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "app/context.h"
#include "app/evaluation_request.h"
#include "app/new_run.h"
#include "app/paths.h"
#include "app/search_choice.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/file.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/judging.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/session.h"

namespace pragma {
namespace {

constexpr std::string_view kTask = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(40, 50)]


def get_init_inputs():
    return []
)";

constexpr std::string_view kKernel = R"(#include "kernel.h"
extern "C" void pragma_kernel(const float* x, float* out, void*) {
  for (int i = 0; i < 2000; ++i) out[i] = x[i] > 0 || x[i] != x[i] ? x[i] : 0.0f;
}
)";

class ServicesTest : public testing::Test {
 protected:
  void SetUp() override {
    context_ = {.settings = {}, .paths = FindPaths("", ""), .home = folder_.path() / "home"};
    const Result<void> there = CheckPaths(context_.paths);
    if (!there) GTEST_SKIP() << there.error().message;
    task_ = folder_.path() / "rectify.py";
    ASSERT_TRUE(WriteFileAtomic(task_, std::string(kTask)));
    auto bench = Workbench::Create(context_, WorkbenchFor({.task_limit = Seconds{600}}));
    ASSERT_TRUE(bench) << bench.error().message;
    bench_ = std::move(*bench);
    auto opened = TaskBench::Open(*bench_, task_, {}, Measure::kEager);
    ASSERT_TRUE(opened) << opened.error().message;
    opened_ = std::move(*opened);
  }

  TempDir folder_ = TempDir::Create().value();
  AppContext context_;
  std::filesystem::path task_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<TaskBench> opened_;
};

TEST_F(ServicesTest, AKernelIsJudged) {
  const Result<Evaluation> right = opened_->Evaluate(CppCandidate(std::string(kKernel)), nullptr,
                                                     Measure::kNothing, [](std::string_view) {});
  ASSERT_TRUE(right) << right.error().message;
  EXPECT_TRUE(right->passed()) << right->reason;
  std::string wrong(kKernel);
  wrong.replace(wrong.find("0.0f"), 4, "0.5f");
  const Result<Evaluation> refused =
      opened_->Evaluate(CppCandidate(wrong), nullptr, Measure::kNothing, [](std::string_view) {});
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, Status::kWrongValues);
}

TEST_F(ServicesTest, ASearchFindsAKernel) {
  const SearchChoice choice =
      ChooseSearch({.model = "expert", .strategy = "n-pragma", .budget = {.attempts = 1}}, context_)
          .value();
  SearchPlan plan{.settings = NewRunSettings(choice, {}, *bench_, *opened_),
                  .budget = choice.budget,
                  .compile_baseline = false,
                  .call = false};
  plan.run = StartRun(bench_->store(), opened_->task(), task_, plan.settings).value();
  int attempts = 0;
  const SearchObserver observer{.on_phase = {},
                                .on_trial = [&](const Trial&, const SearchTree&) { ++attempts; }};
  const Result<SearchOutcome> outcome = RunSearch(context_, *bench_, *opened_, plan, observer);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(attempts, 1);
  ASSERT_NE(ReportedBest(*outcome), nullptr);
  EXPECT_TRUE(ReportedBest(*outcome)->passed());
}

}  // namespace
}  // namespace pragma
