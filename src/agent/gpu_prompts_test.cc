// Tests what every role is shown when candidates are written for a GPU: the same loop as on CPUs,
// and nothing from the contract for CPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/agent_fixture.h"
#include "agent/roles.h"
#include "agent/window.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/trial.h"
#include "knowledge/metrics_testing.h"
#include "llm/completion.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPromptDir = std::string(PRAGMA_SOURCE_DIR) + "/prompts";
const std::string kAdvice = R"({"base": "best", "bottleneck": "b", "change": "c"})";
const std::string kCudaCode = "```cuda\nextern \"C\" void pragma_launch() {}\n```";
const std::string kTritonCode = "```python\ndef run(x, out): ...\n```";

// Words from the contract, the tools and the advice for CPUs.
constexpr std::string_view kOfProcessors[] = {
    "pragma_kernel",  "CPU",           "OpenMP",      "omp.h",           "g++",
    "clang++",        "kernel.cpp",    "-march",      "-fopenmp",        "immintrin",
    "vectorised",     "vectorisation", "vector code", "64-byte",         "AVX",
    "SSE2",           "same cores",    "threads pay", "parallel region", "std::thread",
    "pragma_prepare", "PRAGMA_TUNE",   "-ffast-math", "warm memory"};

// Returns the small run, set up for another language.
SmallRun RunIn(Language language) {
  SmallRun run;
  const bool cuda = language == Language::kCuda;
  run.kernel_header =
      cuda ? "extern \"C\" void pragma_launch(const float* x, const float* linear_weight, float* "
             "out, void* scratch, cudaStream_t stream);\n"
           : "def run(\n    x,  # float32 [16, 512]: input\n    linear_weight,  # float32 [256, "
             "512]: parameter\n    out,  # float32 [16, 256]: output\n):\n";
  run.machine.text = "Example GPU, 4 multiprocessors\n1000 GB/s from memory";
  for (Trial* trial : {&run.broken, &run.wrong, &run.passed, &run.slower}) {
    trial->candidate = CandidateIn(
        language, cuda ? "// version " + std::to_string(trial->node) + "\nvoid pragma_launch();\n"
                       : "# version " + std::to_string(trial->node) + "\ndef run(): ...\n");
  }
  run.broken.evaluation.reason = "line 7: a name is unknown";
  run.broken.evaluation.diagnostics = {};
  run.broken.evaluation.log = "";
  run.passed.profile = Profile{
      .metrics = {{"gpu_kernel_time", 12, "us", "measured"},
                  {"gpu_achieved_occupancy", 25, "%", "pmu"},
                  {"gpu_spills", 0, "1", "pmu"}},
      .diagnosis =
          {{.bottleneck = "low_occupancy_registers",
            .score = 0.4,
            .evidence = {"25 % of the warps"},
            .action = "Fewer registers (technique.cuda_launch_bounds, technique.triton_num_warps).",
            .line = 0,
            .predicted_speedup = 1.7}},
      .hot = {{.file = "kernel.cu",
               .line = 0,
               .percent = 90,
               .text = "Kernel(float*)",
               .remark = "2 launches"}},
      .providers = {},
      .judgement = {}};
  return run;
}

class GpuPrompts : public testing::TestWithParam<Language> {
 protected:
  [[nodiscard]] RoleSettings Settings() const {
    RoleSettings settings;
    settings.language = GetParam();
    settings.processors = backend_;
    if (GetParam() == Language::kCuda) settings.allowed_flags = {"-O3", "-use_fast_math"};
    settings.metrics = ShippedMetrics();
    settings.metric_meanings = {{"gpu_kernel_time", "Time of all kernels of a call."}};
    settings.techniques = {
        {"cuda_launch_bounds", "`technique.cuda_launch_bounds`: state the block."}};
    return settings;
  }
  [[nodiscard]] bool cuda() const { return GetParam() == Language::kCuda; }
  [[nodiscard]] std::string Name(const std::string& role) const {
    return role + "_" + std::string(LanguageName(GetParam()));
  }
  std::string Advised(const Window& window, const PromptSet& prompts = {}) {
    ScriptedModel model({prompts.anchors ? "Do it." : kAdvice, "Do it."});
    const auto conductor = MakeModelConductor(model, kPromptDir, prompts, Settings());
    EXPECT_TRUE(conductor) << conductor.error().message;
    EXPECT_TRUE((*conductor)->Advise(window, {.run = "r", .node = 2}));
    return MessagesAsText(model.asked.back());
  }
  std::string Coded(const Window& window, const Advice* advice, const PromptSet& prompts = {}) {
    ScriptedModel model({"no code", cuda() ? kCudaCode : kTritonCode});
    const auto coder = MakeModelCoder(model, kPromptDir, prompts, Settings());
    EXPECT_TRUE(coder) << coder.error().message;
    const auto proposal = (*coder)->Propose(window, advice, {.run = "r", .node = 2});
    EXPECT_TRUE(proposal) << proposal.error().message;
    const bool right =
        proposal && proposal->candidate && proposal->candidate->language == GetParam();
    EXPECT_TRUE(right);
    return MessagesAsText(model.asked.back());  // with the question that follows a useless reply
  }
  // Returns the prompts of all roles at every stage.
  std::vector<std::string> All() {
    Window improve = run_.window();
    improve.current = &run_.wrong;
    improve.best = &run_.passed;
    improve.others = {&run_.broken, &run_.slower, &run_.no_code};
    Window profiled = run_.window();
    profiled.current = &run_.passed;
    profiled.best = &run_.passed;
    const PromptSet planner{.conductor = "planner", .anchors = true};
    const PromptSet skeleton{.conductor = "planner", .anchors = true, .skeleton_first = true};
    const Advice advice{.change = "One block to each row."};
    const Advice anchored{.change = "So.",
                          .anchored = "// <<<IMPROVE BEGIN>>>\n// <<<IMPROVE END>>>\n"};
    std::vector<std::string> all;
    for (const Window& window : {run_.window(), improve, profiled}) {
      for (const PromptSet& prompts :
           {PromptSet{}, PromptSet{.conductor = "reflexion"}, planner, skeleton})
        all.push_back(Advised(window, prompts));
      for (const char* coder : {"coder", "coder_anchored", "debugger"}) {
        for (const Advice* given : {static_cast<const Advice*>(nullptr), &advice, &anchored})
          all.push_back(Coded(window, given, {.coder = coder}));
      }
      all.push_back(Coded(window, nullptr, {.multi_turn = true}));
    }
    return all;
  }

  SmallRun run_ = RunIn(GetParam());
  std::string backend_;
};

TEST_P(GpuPrompts, SayNothingOfProcessors) {
  // Every status has its causes.
  for (int status = 0; status <= static_cast<int>(Status::kTaskError); ++status) {
    run_.wrong.evaluation.status = static_cast<Status>(status);
    if (run_.wrong.evaluation.passed()) continue;
    for (const std::string& prompt : All()) {
      for (const std::string_view word : kOfProcessors)
        ASSERT_THAT(prompt, Not(HasSubstr(std::string(word))));
      const bool other = prompt.find(cuda() ? "tl." : "pragma_launch") != std::string::npos;
      ASSERT_FALSE(other) << "the other language: " << prompt;
    }
  }
}

TEST_P(GpuPrompts, NameTheBackendAndUseItsSections) {
  backend_ = "Kestrel NPUs";
  EXPECT_THAT(Coded(run_.window(), nullptr), HasSubstr(" on Kestrel NPUs. Write one"));
  ScriptedModel model({});
  RoleSettings settings = Settings();
  settings.prompt_folder = "kestrel";
  const auto coder = MakeModelCoder(model, kPromptDir, {}, settings);
  ASSERT_FALSE(coder) << "the folder does not exist";
  EXPECT_THAT(coder.error().message, HasSubstr("prompts/kestrel"));
}

TEST_P(GpuPrompts, OfTheCoder) {
  Window window = run_.window();
  window.advice_from_user = "Mind the last row.";
  ExpectGolden(Name("coder"), Coded(window, nullptr));
}

TEST_P(GpuPrompts, OfTheConductorHaveTheProfile) {
  Window window = run_.window();
  window.current = &run_.passed;
  window.best = &run_.passed;
  window.attempt = 4;
  const std::string prompt = Advised(window);
  ExpectGolden(Name("conductor"), prompt);
  EXPECT_THAT(prompt,
              AllOf(HasSubstr("low_occupancy_registers"), HasSubstr("| gpu_kernel_time | 12 us"),
                    HasSubstr("- 90 %: `Kernel(float*)` (2 launches)"),
                    HasSubstr("`gpu_kernel_time`: Time of all kernels")));
  EXPECT_THAT(prompt, Not(HasSubstr("gpu_spills")));
}

TEST_P(GpuPrompts, OfThePlannerMarkInTheLanguage) {
  Window window = run_.window();
  window.current = &run_.passed;
  const std::string prompt =
      Advised(window, {.conductor = "planner", .anchors = true, .skeleton_first = true});
  EXPECT_THAT(prompt, HasSubstr(cuda() ? "a line `// <<<IMPROVE BEGIN>>>`"
                                       : "a line `## <<<IMPROVE BEGIN>>>`"));
  EXPECT_THAT(prompt, HasSubstr(cuda() ? "```cuda\n// version 3" : "```python\n# version 3"));
  const std::string first =
      Advised(run_.window(), {.conductor = "planner", .anchors = true, .skeleton_first = true});
  EXPECT_THAT(first, HasSubstr(cuda() ? "cudaStream_t stream) {\n  // Nothing is written yet"
                                      : "):\n    # Nothing is written yet"));
}

INSTANTIATE_TEST_SUITE_P(Both, GpuPrompts, testing::Values(Language::kCuda, Language::kTriton),
                         [](const auto& of) { return std::string(LanguageName(of.param)); });

}  // namespace
}  // namespace pragma
