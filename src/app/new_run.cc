#include "app/new_run.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/describe_profile.h"
#include "app/agents.h"
#include "app/context.h"
#include "app/search_choice.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/task.h"
#include "expert/expert.h"
#include "knowledge/entry.h"
#include "llm/model.h"
#include "machine/machine.h"
#include "profile/hardware.h"
#include "profile/rules.h"
#include "search/preset.h"
#include "search/settings.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

// Tells whether a technique can be used in the language. A technique for another GPU language
// cannot.
bool Suits(const Entry& technique, Language language) {
  const bool of_one = technique.IsFor("cuda") || technique.IsFor("triton");
  return language == Language::kCpp || !of_one || technique.IsFor(LanguageName(language));
}

// Returns the names of the techniques that a rule can recommend.
std::set<std::string> TechniquesOf(const Result<RuleSet>& rules) {
  std::set<std::string> names;
  if (!rules) return names;
  for (const Rule& rule : rules->rules)
    for (const RuleAction& action : rule.actions)
      for (std::string& name : TechniquesIn(action.text)) names.insert(std::move(name));
  return names;
}

// Adds the meanings and techniques that prompts with a profile may explain. If the compendium
// cannot be read, it adds nothing and logs a warning.
void AddKnowledge(const Workbench& bench, RunSettings& settings) {
  const Result<Compendium> compendium = LoadCompendium(bench.knowledge());
  if (!compendium) {
    Log(LogLevel::kWarning,
        "prompts will not explain metrics and techniques: " + compendium.error().message);
    return;
  }
  // Every run stores what it was shown, so only techniques that a diagnosis can name are added.
  const std::set<std::string> recommended = TechniquesOf(bench.RulesFor(settings.language));
  for (const Entry& entry : compendium->entries()) {
    const std::string name = entry.id.substr(entry.id.find('.') + 1);
    if (entry.kind == EntryKind::kMetric) settings.metric_meanings[name] = entry.summary;
    if (entry.kind == EntryKind::kTechnique && recommended.contains(name) &&
        Suits(entry, settings.language))
      settings.techniques[name] = TechniqueInWords(entry);
  }
}

// Describes for prompts what candidates run on.
std::string MachineFor(Language language, const Workbench& bench) {
  const Machine& machine = bench.machine();
  if (RunsOnProcessor(language) || !machine.device) return machine.Summary();
  const Result<std::vector<HardwareSpec>> specs =
      LoadHardwareFolder(bench.knowledge() / "hardware");
  if (!specs)
    Log(LogLevel::kWarning, "prompts will say little of the GPU: " + specs.error().message);
  return GpuSummary(*machine.device, specs.value_or(std::vector<HardwareSpec>{}));
}

// Removes the families if one of them names a cause that the rules for GPUs do not know. Such
// families are for processors. All families are removed or none, because a single remaining one
// would be chosen every time.
void DropFamiliesOfProcessors(const Workbench& bench, Language language, Preset& preset) {
  const Result<RuleSet> rules = bench.RulesFor(language);
  const auto known = [&rules](const std::string& cause) {
    return rules && std::ranges::find(rules->rules, cause, &Rule::id) != rules->rules.end();
  };
  const bool all = std::ranges::all_of(preset.families, [&known](const Family& family) {
    return std::ranges::all_of(family.classes, known);
  });
  if (!all) preset.families.clear();
}

bool AsksExpert(const SearchChoice& choice) {
  return IsExpert(choice.coder_model) || IsExpert(choice.conductor_model) ||
         IsExpert(choice.debugger_model);
}

}  // namespace

RunSettings SettingsOf(const SearchChoice& choice, const JudgingOptions& judging) {
  RunSettings settings;
  settings.preset = choice.preset;
  settings.budget = choice.budget;
  settings.conductor_model = choice.conductor_model;
  settings.coder_model = choice.coder_model;
  settings.debugger_model = choice.debugger_model;
  settings.language = judging.language;
  settings.advice_from_user = choice.advice;
  settings.prompt_bytes = choice.prompt_bytes;
  // pragma tunes only C++. Triton tunes itself.
  if (settings.language == Language::kCpp) settings.tune_seconds = choice.tune.limit.count();
  for (const auto& [name, text] : RecordOf(judging)) settings.options.emplace(name, text);
  return settings;
}

RunSettings NewRunSettings(const SearchChoice& choice, const JudgingOptions& judging,
                           const Workbench& bench, const TaskBench& task) {
  RunSettings settings = SettingsOf(choice, judging);
  settings.seed = SystemSeed();
  if (settings.language != Language::kCpp)
    DropFamiliesOfProcessors(bench, settings.language, settings.preset);
  settings.jobs = choice.jobs;
  if (settings.language != Language::kTriton)
    settings.allowed_flags = AllowedFlagForms(settings.language);
  settings.kernel_header = InterfaceText(task.task(), settings.language);
  settings.machine = MachineFor(judging.language, bench);
  if (const auto& device = bench.machine().device) {
    settings.processors = device->backend.name;
    settings.prompt_folder = device->backend.PromptFolder(settings.language);
  }
  if (choice.preset.profile) AddKnowledge(bench, settings);
  settings.options["threads"] = std::to_string(bench.machine().threads);
  if (AsksExpert(choice)) {
    expert::KernelTarget target = expert::TargetOf(bench.machine());
    target.clang = bench.builder().HasClang();
    KeepTarget(target, settings.options);
  }
  return settings;
}

Result<void> CheckSearchable(const Task& task) {
  if (!task.random) return {};
  return Fail(
      ErrorKind::kTask,
      task.name +
          ": the task draws random numbers in forward (dropout?), so no "
          "kernel can be checked against it" +
          (task.training && task.mode_matters ? "; --eval judges it as it is after training" : ""));
}

Result<void> CheckModels(const SearchChoice& choice, const AppContext& context) {
  SystemClock clock;
  for (const std::string& spec :
       {choice.conductor_model, choice.coder_model, choice.debugger_model}) {
    if (spec.empty() || IsExpert(spec)) continue;
    const Result<std::unique_ptr<Model>> model =
        MakeModel(spec, context.settings.ModelOptionsOf(spec), clock);
    if (!model) return std::unexpected(model.error());
  }
  return {};
}

Result<void> CheckTarget(const SearchChoice& choice, const JudgingOptions& judging) {
  const Language language = judging.language;
  if (RunsOnProcessor(language)) return {};
  const std::string flag = "--target " + std::string(TargetName(language));
  if (AsksExpert(choice) && !expert::ExpertWrites(language)) {
    return Fail(ErrorKind::kUsage,
                flag + ": the built-in expert writes C++ and Triton; name a model with --model");
  }
  if (language == Language::kCuda && !judging.shapes.empty()) {
    return Fail(ErrorKind::kUsage, "--shapes: CUDA candidates are judged on one shape only");
  }
  return {};
}

Result<void> CheckDevice(const Workbench& bench, Language language) {
  if (RunsOnProcessor(language) || bench.machine().device) return {};
  return Fail(ErrorKind::kUnavailable,
              "no GPU was found to time candidates on; pragma doctor says why");
}

}  // namespace pragma
