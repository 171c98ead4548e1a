// pragma profile shows where a verified kernel's time goes, and why.
#include "core/profile.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/candidate_file.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "core/json_writer.h"
#include "profile/compare.h"
#include "profile/foreign_tool.h"
#include "report/evaluation_text.h"
#include "report/json_text.h"
#include "report/phase_line.h"
#include "report/profile_text.h"
#include "report/terminal.h"
#include "verify/options.h"

namespace pragma {
namespace {

struct ProfileFlags {
  std::string task;
  std::string candidate;
  std::string against;
  std::vector<std::string> metrics;
  bool all_metrics = false;
  std::vector<std::string> tools;
  bool full = false;
  JudgingFlags judging;
};

// One kernel. It is judged as every candidate is, and profiled if it passed.
struct Observed {
  Candidate candidate;
  Evaluation evaluation;
  std::optional<Profile> profile;
};

// A profile needs a kernel that is right and a rough time: who asks where its time goes does not
// want to wait for what a verdict on its speed needs. Batteries that had no time are named in the
// evaluation.
constexpr Seconds kStateBudget{0.1};
constexpr Seconds kTimingBudget{0.3};

VerifyOptions QuickOptions(const JudgingOptions& judging) {
  return {.judging = judging,
          .battery_budget = kQuickBatteryBudget,
          .state_budget = kStateBudget,
          .precision = Precision::kUnaudited,
          .timing_budget = kTimingBudget};
}

Result<Observed> ObserveKernel(TaskBench& task, const Candidate& candidate,
                               const TaskBench::ProfileWish& wish, PhaseLine& line) {
  const auto on_phase = [&line](std::string_view phase) { line.Show(phase); };
  Observed observed{.candidate = candidate, .evaluation = {}, .profile = {}};
  observed.evaluation = TRY(task.Evaluate(candidate, nullptr, Measure::kEager, on_phase));
  if (observed.evaluation.passed())
    observed.profile = TRY(task.ProfileOf(candidate, observed.evaluation, on_phase, wish));
  line.Clear();
  return observed;
}

std::string ComparedText(const ProfileComparison& compared, const std::string& other) {
  std::string text = "Against " + other + ": " + SafeLine(compared.statement) + "\n";
  for (const MetricDifference& difference : compared.differences) {
    if (difference.verdict != "same") text += "  " + SafeLine(difference.statement) + "\n";
  }
  return text;
}

std::string ComparedJson(const ProfileComparison& compared) {
  JsonWriter writer;
  writer.BeginObject().Field("verdict", compared.verdict);
  writer.Field("statement", compared.statement).Key("differences").BeginArray();
  for (const MetricDifference& difference : compared.differences) {
    writer.BeginObject().Field("tag", difference.tag).Field("before", difference.before);
    writer.Field("after", difference.after).Field("factor", difference.factor);
    writer.Field("verdict", difference.verdict).EndObject();
  }
  return writer.EndArray().EndObject().Take();
}

// Returns the profile's object. It also holds the evaluation and what the profile was compared to.
std::string ObjectOf(const TaskBench& task, const Observed& observed,
                     const std::optional<ProfileComparison>& compared) {
  std::string text = ToJson(observed.profile.value_or(Profile{}));
  text.pop_back();  // the closing brace
  text += ",\"evaluate\":" + EvaluateObject(task.task(), observed.candidate, observed.evaluation);
  if (compared) text += ",\"against\":" + ComparedJson(*compared);
  return text + "}";
}

std::string TextOf(const Context& context, const TaskBench& task, const ProfileFlags& flags,
                   const Observed& observed, const std::optional<ProfileComparison>& compared) {
  const Terminal& terminal = context.console.out;
  std::string text =
      EvaluationText(terminal, task.task(), observed.candidate, observed.evaluation) + "\n";
  if (!observed.profile) return text;
  if (compared) text += ComparedText(*compared, flags.against) + "\n";
  return text + ProfileText(terminal, *observed.profile, task.metrics(),
                            {.extra_metrics = flags.metrics, .all_metrics = flags.all_metrics});
}

std::string_view KindsIn(Language language) {
  switch (language) {
    case Language::kTriton: return "Triton modules (.py)";
    case Language::kCuda: return "CUDA sources (.cu)";
    case Language::kCpp:
    case Language::kPython: break;
  }
  return "C++ kernels (.cpp)";
}

Result<Candidate> LoadFor(const std::string& path, Language language) {
  Candidate candidate = TRY(LoadCandidate(path, language));
  if (candidate.language != language) {
    return Fail(ErrorKind::kUsage, fmt::format("{}: with --target {} only {} can be profiled", path,
                                               TargetName(language), KindsIn(language)));
  }
  return candidate;
}

Result<std::vector<ForeignTool>> FindTools(const Context& context, const ProfileFlags& flags) {
  std::vector<ForeignTool> tools;
  for (const std::string& wish : flags.tools) {
    tools.push_back(TRY(FindForeignTool(wish, context.app.paths.knowledge() / "adapters",
                                        flags.judging.language())));
  }
  return tools;
}

Result<int> Run(const Context& context, ProfileFlags flags) {
  const JudgingOptions judging = flags.judging.Over(context.app.settings);
  const Language language = judging.language;
  const Candidate candidate = TRY(LoadFor(flags.candidate, language));
  std::optional<Candidate> against;
  if (!flags.against.empty()) against = TRY(LoadFor(flags.against, language));
  const TaskBench::ProfileWish wish{.tools = TRY(FindTools(context, flags)), .full = flags.full};
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  const auto task =
      TRY(TaskBench::Open(*bench, flags.task, QuickOptions(judging), Measure::kEager));
  std::optional<Observed> other;
  if (against) other = TRY(ObserveKernel(*task, *against, {.tools = {}, .full = flags.full}, line));
  const Observed observed = TRY(ObserveKernel(*task, candidate, wish, line));
  std::optional<ProfileComparison> compared;
  if (other && other->profile && observed.profile)
    compared = CompareProfiles(bench->metrics(), *other->profile, *observed.profile);
  context.console.PrintJson(ObjectOf(*task, observed, compared));
  context.console.Print(TextOf(context, *task, flags, observed, compared));
  return observed.evaluation.passed() ? kExitGood : kExitRejected;
}

}  // namespace

void AddProfile(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "profile", "show where a kernel's time goes, and why",
                 "pragma profile model.py kernel.cpp --against other.cpp");
  const auto flags = std::make_shared<ProfileFlags>();
  command.add_option("TASK", flags->task, "PyTorch file in KernelBench's format")->required();
  command
      .add_option("CANDIDATE", flags->candidate,
                  ".cpp, .cu or .py file, or folder with candidate.json")
      ->required();
  command.add_option("--against", flags->against, "profile this kernel too, and compare")
      ->type_name("FILE");
  command
      .add_option("--metrics", flags->metrics, "further metrics to show, by tag (docs/metrics.md)")
      ->type_name("TAG,...")
      ->delimiter(',');
  command.add_flag("--all-metrics", flags->all_metrics, "show every metric");
  command
      .add_option("--with", flags->tools,
                  "also use other profilers: callgrind, perf-stat, cachegrind, or an adapter's "
                  "file (docs/add-a-backend.md)")
      ->type_name("TOOL,...")
      ->delimiter(',');
  command.add_flag("--full", flags->full,
                   "on a GPU: everything that Nsight Compute counts, with its own remarks");
  flags->judging.AddTo(command);
  flags->judging.AddTargetTo(command);
  registry.actions[&command] = [flags](const Context& context) { return Run(context, *flags); };
}

}  // namespace pragma
