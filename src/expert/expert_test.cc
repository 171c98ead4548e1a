// Tests the expert's two roles: its kernels compile, a refusal names the operator, and each attempt
// changes one thing and repeats none. The values that the kernels compute are tested end to end
// (tests/e2e, tests/expert).
#include "expert/expert.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "build/lexer.h"
#include "build/tunables.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "core/trial.h"
#include "expert/graph_testing.h"
#include "expert/plan/choices.h"
#include "expert/plan/tuning.h"
#include "expert/plan/variant.h"
#include "expert/task_writer.h"
#include "knowledge/entry.h"
#include "task/torch_server.h"

namespace pragma::expert {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Returns a task for out = op(x, args...), where x and out have the same shape.
Task OneOperator(const std::string& op, std::vector<ScalarValue> args = {},
                 const std::vector<std::int64_t>& shape = {30, 67}) {
  Task task;
  task.name = "one";
  task.arguments = {Tensor("x", shape)};
  task.outputs = {Tensor("out", shape)};
  task.outputs[0].role = TensorRole::kOutput;
  args.insert(args.begin(), Node("x"));
  task.graph = {{"x", "placeholder", {}, {}, {Tensor("x", shape)}, {{shape[1], 1}}},
                {"y", op, args, {}, {Tensor("y", shape)}, {{shape[1], 1}}},
                {"output", "output", {Node("y")}, {}, {}, {}}};
  return task;
}

Proposal Propose(const Task& task, const Window& given = {}, const Advice* advice = nullptr) {
  Window window = given;
  window.task = &task;
  return *MakeExpertCoder({})->Propose(window, advice, {});
}

std::string Complaints(const std::string& compiler, const Task& task, const std::string& source) {
  const TempDir folder = std::move(*TempDir::Create());
  EXPECT_TRUE(WriteFileAtomic(folder.path() / "kernel.h", KernelHeader(task)));
  EXPECT_TRUE(WriteFileAtomic(folder.path() / "kernel.cpp", source));
  ProcessSpec spec;
  spec.argv = {compiler,  "-std=c++20", "-fopenmp",      "-march=native", "-Wall",
               "-Wextra", "-Werror",    "-fsyntax-only", "kernel.cpp"};
  spec.cwd = folder.path();
  spec.inherit_env = true;
  const Result<RunResult> run = RunProcess(spec, {});
  if (!run) return run.error().message;
  return run->status.ok() ? "" : run->err;
}

TEST(ExpertCoder, AnUnknownOperatorIsNamed) {
  const Proposal proposal = Propose(OneOperator("aten.fft_fft2.default"));
  EXPECT_FALSE(proposal.candidate);
  EXPECT_TRUE(proposal.unsupported);
  EXPECT_THAT(proposal.reason, HasSubstr("aten.fft_fft2.default"));
}

TEST(ExpertCoder, ATaskWithoutGraphSaysWhy) {
  Task task = OneOperator("aten.relu.default");
  task.graph.clear();
  task.export_error = "data-dependent control flow";
  EXPECT_THAT(Propose(task).reason, HasSubstr("data-dependent control flow"));
}

TEST(ExpertCoder, KernelsCompileWithoutAWarning) {
  const std::vector<Task> tasks{
      OneOperator("aten.gelu.default"), OneOperator("aten._softmax.default", {Int(1), Int(0)}),
      OneOperator("aten._softmax.default", {Int(0), Int(0)}),
      OneOperator("aten.cumsum.default", {Int(1)}), OneOperator("aten.cumprod.default", {Int(0)})};
  for (const char* compiler : {"g++", "clang++-19"}) {
    if (std::system((std::string(compiler) + " --version >/dev/null 2>&1").c_str()) != 0) continue;
    for (const Task& task : tasks) {
      const Proposal proposal = Propose(task);
      ASSERT_TRUE(proposal.candidate) << proposal.reason;
      EXPECT_EQ(Complaints(compiler, task, proposal.candidate->source()), "") << task.graph[1].op;
    }
  }
}

// Returns a task for p1 = x * w1, p2 = p1 * w2 and so on. Product i has widths[i] columns.
Task Products(const std::vector<std::int64_t>& widths) {
  constexpr std::int64_t kRows = 1500;
  Task task;
  task.name = "products";
  const auto add_input = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    task.arguments.push_back(Tensor(name, {rows, columns}));
    task.graph.push_back(
        {name, "placeholder", {}, {}, {Tensor(name, {rows, columns})}, {{columns, 1}}});
  };
  add_input("x", kRows, kRows);
  std::string before = "x";
  std::int64_t depth = kRows;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string factor = fmt::format("w{}", i + 1), name = fmt::format("p{}", i + 1);
    add_input(factor, depth, widths[i]);
    task.graph.push_back({name,
                          "aten.mm.default",
                          {Node(before), Node(factor)},
                          {},
                          {Tensor(name, {kRows, widths[i]})},
                          {{widths[i], 1}}});
    before = name;
    depth = widths[i];
  }
  task.outputs = {Tensor("out", {kRows, depth})};
  task.graph.push_back({"output", "output", {Node(before)}, {}, {}, {}});
  return task;
}

TEST(ExpertCoder, ManyProductsHaveNoMoreTunablesThanATunerTakes) {
  const Proposal proposal = Propose(Products({1400, 1300, 1200, 1100, 1000, 900}));
  ASSERT_TRUE(proposal.candidate) << proposal.reason;
  const std::string& source = proposal.candidate->source();
  const auto tunables = ReadTunables(LexSource(source));
  ASSERT_TRUE(tunables) << tunables.error().message;
  EXPECT_GT(tunables->size(), 4U);  // more than the tunables of one product
  std::size_t combinations = 1;
  for (const Tunable& tunable : *tunables) combinations *= tunable.values.size();
  EXPECT_LE(combinations, kMostCombinations);
  EXPECT_THAT(source, HasSubstr("static constexpr int P6_"));
}

TEST(ExpertCoder, EqualProductsAreOneFunction) {
  const Proposal proposal = Propose(Products({1500, 1500, 1500, 1500}));
  ASSERT_TRUE(proposal.candidate) << proposal.reason;
  const std::string& source = proposal.candidate->source();
  std::size_t functions = 0;
  for (std::size_t at = source.find("\nnamespace p"); at != std::string::npos;
       at = source.find("\nnamespace p", at + 1)) {
    ++functions;
  }
  EXPECT_EQ(functions, 1U);
}

TEST(ExpertCoder, AsksForNoCompilerThatIsNotThere) {
  const Task task = OneOperator("aten._softmax.default", {Int(0), Int(0)});
  const Candidate candidate = *Propose(task).candidate;
  const auto values = [&](const KernelTarget& target) {
    const std::vector<Choice> choices = TaskWriter(task, target).OpenChoices(candidate);
    return std::ranges::find(choices, "compiler", &Choice::name)->values;
  };
  EXPECT_EQ(values({}), (std::vector<int>{0, 1}));
  EXPECT_EQ(values({.clang = false}), std::vector<int>{0});
}

TEST(ExpertCoder, TheAdviceChangesOneChoiceOfTheBest) {
  const Task task = OneOperator("aten._softmax.default", {Int(0), Int(0)});
  Trial best;
  best.candidate = Propose(task).candidate;
  Window window;
  window.best = &best;
  const Advice first{.change = "Y_COLUMNS=2: vectors side by side"};
  best.candidate = Propose(task, window, &first).candidate;
  const Advice second{.change = "threads=0: whether all processors share the work"};
  const Proposal proposal = Propose(task, window, &second);
  EXPECT_EQ(VariantOf(*proposal.candidate)->Text(), "Y_COLUMNS=2 threads=0");
  EXPECT_THAT(proposal.candidate->source(), HasSubstr("PRAGMA_TUNE(Y_COLUMNS, 2, 1, 2, 4);"));
  EXPECT_EQ(Propose(task, window, &second).candidate->id(), proposal.candidate->id());
}

TEST(ExpertCoder, WithoutAConductorItSamplesOrRefines) {
  const Task task = OneOperator("aten._softmax.default", {Int(1), Int(0)});
  Window window;
  const auto variant = [&](int attempt) {
    window.attempt = attempt;
    return VariantOf(*Propose(task, window).candidate)->Text();
  };
  EXPECT_EQ(variant(1), "default");
  EXPECT_NE(variant(2), variant(3));
  EXPECT_EQ(variant(2), variant(2));
  Trial last;
  last.candidate = Propose(task).candidate;
  window.current = &last;
  const std::string refined = variant(2);
  EXPECT_EQ(std::ranges::count(refined, '='), 1) << refined;
}

TEST(KernelVariant, UnknownWordsArePassedOver) {
  EXPECT_EQ(VariantFromText("stream=3 colour=4 unroll=1 nothing").Text(), "unroll=1");
  EXPECT_EQ(VariantFromText("unroll=1 unroll=0").Text(), "default");
  EXPECT_FALSE(VariantOf(CppCandidate("// a kernel by another author\n")));
}

class ExpertConductorTest : public testing::Test {
 protected:
  Advice Next() {
    Window window;
    window.task = &task_;
    window.best = trials_.empty() ? nullptr : &trials_.front();
    window.current = trials_.empty() ? nullptr : &trials_.back();
    for (const Trial& trial : trials_) window.others.push_back(&trial);
    return Ask(window);
  }

  static Advice Ask(const Window& window) {
    Compendium knowledge = *LoadCompendium(PRAGMA_SOURCE_DIR "/knowledge");
    return MakeExpertConductor(std::move(knowledge), {})->Advise(window, {})->advice;
  }

  void Add(const Advice* advice) {
    Window window;
    window.best = trials_.empty() ? nullptr : &trials_.front();
    Trial trial;
    trial.candidate = Propose(task_, window, advice).candidate;
    trials_.push_back(std::move(trial));
  }

  Task task_ = OneOperator("aten._softmax.default", {Int(1), Int(0)});
  std::vector<Trial> trials_;
};

TEST_F(ExpertConductorTest, StopsWhereItsCoderKnowsNoOperator) {
  trials_.emplace_back();
  EXPECT_TRUE(Next().stop);
  Window window;
  window.task = &task_;
  window.others = {&trials_.back()};
  EXPECT_TRUE(Ask(window).stop);
}

TEST_F(ExpertConductorTest, BelowTheModuleComesTheDefaultAndThenOtherFirstVersions) {
  const Advice first = Next();
  EXPECT_FALSE(first.stop);
  EXPECT_EQ(first.base, Base::kReference);
  Add(&first);
  EXPECT_EQ(VariantOf(*trials_[0].candidate)->Text(), "default");
  Window window;
  window.task = &task_;
  window.others = {&trials_[0]};
  const Advice second = Ask(window);
  EXPECT_EQ(second.base, Base::kReference);
  EXPECT_NE(VariantOf(*Propose(task_, window, &second).candidate)->Text(), "default");
}

TEST_F(ExpertConductorTest, ATreesNodeIsImprovedAlsoWhereItIsNotTheBest) {
  Add(nullptr);
  const Advice slower{.base = Base::kReference, .change = "compiler=1"};
  Add(&slower);
  Window window;
  window.task = &task_;
  window.current = &trials_[1];
  const Advice next = Ask(window);
  EXPECT_EQ(next.base, Base::kCurrent);
  EXPECT_THAT(VariantOf(*Propose(task_, window, &next).candidate)->Text(), HasSubstr("compiler=1"));
}

TEST_F(ExpertConductorTest, NoChangeOfTheBestIsAskedForTwice) {
  // The shape is large enough for all threads.
  task_ = OneOperator("aten._softmax.default", {Int(1), Int(0)}, {4000, 1000});
  Add(nullptr);
  ASSERT_THAT(trials_[0].candidate->source(), HasSubstr("#pragma omp"));
  trials_[0].candidate->tunables["Y_CHAINS"] = 4;  // as a tuner would set it
  std::vector<std::string> asked;
  for (Advice advice = Next(); !advice.stop && asked.size() < 20; advice = Next()) {
    asked.push_back(advice.change);
    Add(&advice);
    trials_.back().candidate->tunables["Y_CHAINS"] = 8;
  }
  EXPECT_THAT(asked, Contains(HasSubstr("threads=0")));
  EXPECT_THAT(asked, Contains(HasSubstr("schedule=1")));
  std::ranges::sort(asked);
  EXPECT_TRUE(std::ranges::adjacent_find(asked) == asked.end());
  EXPECT_LT(asked.size(), 20U);
}

TEST(Tuning, OnlyValuesThatAreDeclaredBecomeDefaults) {
  const TunableNumber number{"SUM_BLOCK", 4096, {1024, 4096}};
  const auto line = [&](const char* variant) {
    std::vector<TunableNumber> declared;
    return WithinTuner({number}, VariantFromText(variant)).Declare(number, declared);
  };
  EXPECT_EQ(line("SUM_BLOCK=1024 OTHER=3"), "PRAGMA_TUNE(SUM_BLOCK, 1024, 1024, 4096);");
  EXPECT_EQ(line("SUM_BLOCK=1000"), "PRAGMA_TUNE(SUM_BLOCK, 4096, 1024, 4096);");
}

// Returns a tunable as a choice shows it.
Choice AsChoice(const Tunable& tunable) {
  Choice choice;
  choice.name = tunable.name;
  choice.present = static_cast<int>(tunable.values.front());
  for (const std::int64_t value : tunable.values) choice.values.push_back(static_cast<int>(value));
  return choice;
}

TEST(TaskWriter, ItsTunablesAreThoseThatTheTunerReads) {
  const Task task = Products({1400, 1300, 1200, 1100, 1000, 900});
  const KernelVariant variant = VariantFromText("P1_COLUMN_TILES=4 P2_TILE_ROWS=8");
  const WrittenKernel kernel = *TaskWriter(task, {}).Write(Language::kCpp, variant);
  const std::vector<Tunable> read = *ReadTunables(LexSource(kernel.source));
  ASSERT_GT(read.size(), 4U);
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(kernel.open.at(i).name, read[i].name);
    EXPECT_EQ(kernel.open.at(i).present, AsChoice(read[i]).present) << read[i].name;
    EXPECT_EQ(kernel.open.at(i).values, AsChoice(read[i]).values) << read[i].name;
  }
  EXPECT_FALSE(IsTunable(kernel.open.at(read.size())));
}

// Returns a task for out = the values of sort(x, dim=0).
Task Sorted() {
  Task task = OneOperator("aten.sort.default", {Int(0)});
  TensorSpec places = Tensor("places", {30, 67});
  places.dtype = DType::kInt64;
  task.graph[1].results.push_back(places);
  task.graph.insert(
      task.graph.begin() + 2,
      {"first", "getitem", {Node("y"), Int(0)}, {}, {Tensor("first", {30, 67})}, {{67, 1}}});
  task.graph.back().args = {Node("first")};
  return task;
}

TEST(TaskWriter, SortsInCppWithoutAWarningAndSaysThatItDoesNotInTriton) {
  const Task task = Sorted();
  const TaskWriter writer(task, {});
  const Result<WrittenKernel> kernel = writer.Write(Language::kCpp, {});
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(Complaints("c++", task, kernel->source), "");
  const Result<WrittenKernel> triton = writer.Write(Language::kTriton, {});
  ASSERT_FALSE(triton);
  EXPECT_THAT(triton.error().message, HasSubstr("sort in C++ only"));
}

// Returns a task for out = irfft(rfft(x)), with an operator on the complex numbers between them.
Task Filtered(const std::string& between) {
  Task task = OneOperator("aten._fft_r2c.default", {}, {30, 60});
  const ScalarValue last{.kind = ScalarValue::Kind::kList, .items = {Int(1)}};
  const ScalarValue half{.kind = ScalarValue::Kind::kBool, .integer = 1};
  task.graph[1] = {"y", "aten._fft_r2c.default", {Node("x"), last, Int(0), half}, {}, {}, {}};
  GraphNode back{"z", "aten._fft_c2r.default", {Node("y"), last, Int(2), Int(60)},
                 {},  {Tensor("z", {30, 60})}, {{60, 1}}};
  if (!between.empty()) {
    back.args[0] = Node("w");
    task.graph.insert(task.graph.begin() + 2, {"w", between, {Node("y")}, {}, {}, {}});
  }
  task.graph.insert(task.graph.end() - 1, back);
  task.graph.back().args = {Node("z")};
  return task;
}

TEST(TaskWriter, TransformsLinesWithoutAWarning) {
  const Task task = Filtered("");
  const Result<WrittenKernel> kernel = TaskWriter(task, {}).Write(Language::kCpp, {});
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(Complaints("c++", task, kernel->source), "");
}

TEST(TaskWriter, FactorsSmallMatricesWithoutAWarning) {
  const Task task = OneOperator("aten.linalg_cholesky.default", {}, {6, 6});
  const Result<WrittenKernel> kernel = TaskWriter(task, {}).Write(Language::kCpp, {});
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(Complaints("c++", task, kernel->source), "");
  EXPECT_FALSE(TaskWriter(OneOperator("aten.linalg_inv.default", {}, {65, 65}), {})
                   .Write(Language::kCpp, {}));
}

TEST(TaskWriter, OperatorsThatDoNotKnowComplexNumbersAreNamed) {
  const Task task = Filtered("aten.relu.default");
  const Result<WrittenKernel> kernel = TaskWriter(task, {}).Write(Language::kCpp, {});
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("aten.relu.default of complex numbers"));
}

TEST(TaskWriter, AKernelOfAnotherAuthorLeavesNothingOpen) {
  const Task task = OneOperator("aten.relu.default");
  EXPECT_TRUE(TaskWriter(task, {}).OpenChoices(CppCandidate("int x;\n")).empty());
}

TEST(TaskWriter, WhatTheTunerHasTriedIsNoChoice) {
  const Task task = OneOperator("aten._softmax.default", {Int(0), Int(0)});
  Candidate candidate = *Propose(task).candidate;
  const auto has = [&](const char* name) {
    const std::vector<Choice> choices = TaskWriter(task, {}).OpenChoices(candidate);
    return std::ranges::count(choices, std::string(name), &Choice::name) > 0;
  };
  EXPECT_TRUE(has("Y_COLUMNS"));
  candidate.tunables["Y_COLUMNS"] = 2;
  EXPECT_FALSE(has("Y_COLUMNS"));
  EXPECT_TRUE(has("compiler"));
}

TEST_F(ExpertConductorTest, FollowsTheFirstDiagnosisThatItKnows) {
  Add(nullptr);
  trials_[0].profile.emplace();
  trials_[0].profile->diagnosis = {{.bottleneck = "something_new"},
                                   {.bottleneck = "dependency_chain", .evidence = {"4 cycles"}}};
  const Advice advice = Next();
  EXPECT_EQ(advice.bottleneck, "dependency_chain");
  EXPECT_THAT(advice.evidence, HasSubstr("4 cycles"));
  EXPECT_THAT(advice.change, HasSubstr("Y_CHAINS="));
  EXPECT_THAT(advice.change, HasSubstr("technique.multiple_accumulators"));
  EXPECT_EQ(advice.base, Base::kBest);
}

TEST_F(ExpertConductorTest, StopsNearTheBound) {
  Add(nullptr);
  trials_[0].profile.emplace();
  trials_[0].profile->metrics = {{"roofline_share", 0.97, "1", "estimated"},
                                 {"bandwidth_share", 0.97, "1", "estimated"}};
  const Advice advice = Next();
  EXPECT_TRUE(advice.stop);
  EXPECT_THAT(advice.evidence, HasSubstr("bound by memory, at 97 %"));
  // The version is faster than the bound. So the bound was estimated wrong, and it says nothing.
  trials_[0].profile->metrics[0].value = 1.5;
  EXPECT_FALSE(Next().stop);
}

TEST_F(ExpertConductorTest, BeginsUnderTheNearerRoof) {
  Add(nullptr);
  trials_[0].profile.emplace();
  trials_[0].profile->metrics = {{"roofline_share", 0.4, "1", "estimated"},
                                 {"bandwidth_share", 0.4, "1", "estimated"},
                                 {"compute_share", 0.1, "1", "estimated"}};
  EXPECT_THAT(Next().change, HasSubstr("stream="));
  trials_[0].profile->metrics[2].value = 0.6;
  const Advice advice = Next();
  EXPECT_THAT(advice.change, HasSubstr("Y_CHAINS="));
  EXPECT_THAT(advice.evidence, HasSubstr("bound by arithmetic, at 40 %"));
}

TEST_F(ExpertConductorTest, SaysWhatIsUndone) {
  Add(nullptr);
  const Advice advice = Next();
  Add(&advice);
  trials_[1].advice = advice;
  trials_[1].evaluation.speedup_best = Interval{0.8, 0.7, 0.9};
  EXPECT_THAT(Next().evidence, HasSubstr("measured 0.80 times the best and is undone"));
}

TEST_F(ExpertConductorTest, TriesNothingTwiceAndThenStops) {
  Add(nullptr);
  std::vector<std::string> changes;
  for (Advice advice = Next(); !advice.stop; advice = Next()) {
    ASSERT_EQ(std::ranges::count(changes, advice.change), 0) << advice.change;
    changes.push_back(advice.change);
    Add(&advice);
    ASSERT_LT(changes.size(), 100U);
  }
  EXPECT_GE(changes.size(), 6U);
}

}  // namespace
}  // namespace pragma::expert
