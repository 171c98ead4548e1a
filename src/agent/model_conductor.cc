// The Conductor that asks a language model.
#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/ask.h"
#include "agent/describe.h"
#include "agent/describe_profile.h"
#include "agent/language_words.h"
#include "agent/plan_reply.h"
#include "agent/roles.h"
#include "agent/skeleton.h"
#include "agent/window.h"
#include "agent/window_data.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/trial.h"
#include "llm/model.h"
#include "llm/prompt.h"
#include "llm/reply.h"

namespace pragma {
namespace {

const Profile* ProfileOf(const Trial* trial) {
  return trial != nullptr && trial->profile ? &*trial->profile : nullptr;
}

// Adds the remedies that the diagnosis names. Those of its first statement are kept longest.
void AddTechniques(PromptData& data, const Profile* profile, const RoleSettings& settings,
                   const Detail& detail) {
  std::vector<PromptData>& list = data.lists["techniques"];
  const std::vector<std::string> names =
      profile == nullptr ? std::vector<std::string>{} : NamedTechniques(*profile);
  for (const std::string& name : names) {
    const auto text = settings.techniques.find(name);
    if (list.size() < detail.techniques && text != settings.techniques.end())
      list.push_back({.texts = {{"technique", text->second}}});
  }
  data.flags["has_techniques"] = !list.empty();
}

// Adds the profile and the meanings of the metrics shown.
void AddProfileParts(PromptData& data, const Window& window, const RoleSettings& settings,
                     const Detail& detail) {
  ProfileShown shown{.metrics = &settings.metrics,
                     .current = ProfileOf(window.current),
                     .best = ProfileOf(window.best)};
  if (window.current != nullptr && window.current->advice)
    shown.extra = window.current->advice->extra_metrics;
  shown.hot_lines = detail.hot_lines;
  data.flags["has_profile"] = shown.current != nullptr;
  data.texts["profile"] = ProfileInWords(shown);
  const std::vector<std::string> others = OtherTags(shown);
  data.flags["has_other_metrics"] = detail.meanings && !others.empty();
  data.texts["other_metrics"] = Join(others, ", ");
  std::vector<PromptData>& list = data.lists["metrics"];
  for (const std::string& tag : ShownTags(shown)) {
    const auto meaning = settings.metric_meanings.find(tag);
    if (detail.meanings && meaning != settings.metric_meanings.end())
      list.push_back({.texts = {{"metric", fmt::format("`{}`: {}", tag, meaning->second)}}});
  }
  data.flags["has_metrics"] = !list.empty();
  AddTechniques(data, shown.current, settings, detail);
}

void AddCurrent(PromptData& data, const Trial* current, Language language, const Detail& detail) {
  data.flags["has_current"] = current != nullptr;
  data.flags["has_causes"] = false;
  data.lists.try_emplace("causes");
  if (current == nullptr) return;
  data.texts["current_title"] = TrialTitle(*current);
  data.texts["current_verdict"] = Verdict(current->evaluation, detail.log_bytes);
  data.texts["current_code"] =
      current->candidate ? FencedSource(*current->candidate) : "(The reply held no usable code.)";
  AddCauses(data, current->evaluation, language);
}

void AddBest(PromptData& data, const Window& window, const Detail& detail) {
  const Trial* best = window.best;
  data.flags["has_best"] = best != nullptr;
  if (best == nullptr) return;
  const bool same = window.current != nullptr && window.current->node == best->node;
  const bool code = best->candidate && detail.second_version;
  data.flags["best_is_current"] = same;
  data.flags["has_best_code"] = code;
  data.texts["best_title"] = TrialTitle(*best);
  data.texts["best_verdict"] = Verdict(best->evaluation, detail.log_bytes);
  data.texts["best_code"] = code ? FencedSource(*best->candidate) : "";
}

// Adds the source that a planner marks: the current version or, before the first version, the
// module or the skeleton.
void AddSourceToMark(PromptData& data, const Window& window, const PromptSet& prompts,
                     Language language) {
  const bool kernel = window.current != nullptr || prompts.skeleton_first;
  const LanguageWords& words = WordsOf(language);
  const std::string fence(kernel ? words.fence : "python");
  const std::string comment(kernel ? words.comment : "#");
  const std::string mark = comment == "#" ? "##" : comment;
  std::string source = window.task->source;
  if (window.current != nullptr && window.current->candidate) {
    source = window.current->candidate->source();
  } else if (prompts.skeleton_first) {
    source = SkeletonKernel(*window.kernel_header, language);
  }
  data.texts["source_to_mark"] = Fenced(source, fence);
  data.texts["marked_language"] = fence;
  data.texts["begin_mark"] = mark + " <<<IMPROVE BEGIN>>>";
  data.texts["end_mark"] = mark + " <<<IMPROVE END>>>";
  data.texts["comment"] = comment;
  data.flags["marks_module"] = !kernel;
  data.flags["marks_skeleton"] = kernel && window.current == nullptr;
}

class ModelConductor final : public Conductor {
 public:
  ModelConductor(Model& model, PromptLibrary library, PromptSet prompts, RoleSettings settings)
      : model_(model),
        library_(std::move(library)),
        prompts_(std::move(prompts)),
        settings_(std::move(settings)),
        prompt_bytes_(settings_.prompt_bytes) {}

  Result<Advised> Advise(const Window& window, CallKey key) override;

 private:
  [[nodiscard]] Result<std::vector<Message>> Render(const Window& window,
                                                    const Detail& detail) const;
  [[nodiscard]] Result<std::vector<Message>> Messages(const Window& window) const {
    return FitMessages(prompt_bytes_, OtherTrials(window).size(),
                       [&](const Detail& detail) { return Render(window, detail); });
  }
  [[nodiscard]] std::string Read(const Completion& completion, const Window& window,
                                 Advice& advice) const;
  [[nodiscard]] std::string RoleName() const { return prompts_.anchors ? "planner" : "conductor"; }

  Model& model_;
  PromptLibrary library_;
  PromptSet prompts_;
  RoleSettings settings_;
  std::atomic<std::size_t> prompt_bytes_;  // settings_.prompt_bytes, or what the model takes
};

// Reads the advice from a text in the form of the role.
struct ReadAdvice {
  std::optional<Advice> advice;
  std::string problem;
};
ReadAdvice ReadFrom(const std::string& text, bool truncated, bool anchors) {
  if (anchors) {
    PlanReply reply = ParsePlanReply(text, truncated);
    return {.advice = std::move(reply.advice), .problem = std::move(reply.problem)};
  }
  AdviceReply reply = ParseAdviceReply(text);
  return {.advice = std::move(reply.advice), .problem = std::move(reply.problem)};
}

Result<std::vector<Message>> ModelConductor::Render(const Window& window,
                                                    const Detail& detail) const {
  PromptData data = CommonData(window, settings_, detail);
  AddCurrent(data, window.current, settings_.language, detail);
  AddProfileParts(data, window, settings_, detail);
  AddBest(data, window, detail);
  AddOthers(data, window, detail);
  AddSourceToMark(data, window, prompts_, settings_.language);
  data.texts["focus"] = window.focus;
  data.flags["has_focus"] = !window.focus.empty();
  return std::vector<Message>{
      {.role = "user", .text = TRY(library_.Render(prompts_.conductor, data))}};
}

// A decision in prose is still advice, because the change is described somewhere in it.
Advice FromProse(const std::string& text, const Window& window) {
  Advice advice;
  advice.base = window.best != nullptr ? Base::kBest : Base::kCurrent;
  advice.change = Shorten(Trim(text), kProseBytes);
  return advice;
}

// Reads the advice from a reply. Returns what is wrong with the reply, or an empty string. Where
// the answer itself is empty or was never begun, the advice may be in the reasoning.
std::string ModelConductor::Read(const Completion& completion, const Window& window,
                                 Advice& advice) const {
  ReadAdvice read = ReadFrom(completion.text, completion.truncated, prompts_.anchors);
  if (!read.advice && (!completion.problem.empty() || completion.thinking_open))
    read = ReadFrom(completion.reasoning, completion.truncated, prompts_.anchors);
  advice = read.advice ? std::move(*read.advice) : FromProse(completion.text, window);
  return read.problem;
}

Result<Advised> ModelConductor::Advise(const Window& window, CallKey key) {
  key.role = RoleName();
  Question question{.messages = TRY(Messages(window)),
                    .sampling = settings_.sampling,
                    .key = std::move(key),
                    .max_reasks = settings_.max_reasks,
                    .shorten = [&](std::size_t bytes) {
                      prompt_bytes_ = bytes;  // for later attempts too
                      return Messages(window);
                    }};
  Advised advised{.advice = {}, .spent = {}, .author = RoleName() + " " + model_.name()};
  const Judge judge = [&](const Completion& completion) -> Result<std::string> {
    const std::string problem = Read(completion, window, advised.advice);
    if (problem.empty()) return std::string();
    // A model that has said nothing says no more when it is asked again.
    if (!completion.problem.empty()) {
      Log(LogLevel::kWarning,
          fmt::format("{}: {}; going on without its advice", RoleName(), completion.problem));
      return std::string();
    }
    Log(LogLevel::kDebug, RoleName() + ": " + problem);
    return library_.Render(RoleName() + "_reask", {.texts = {{"problem", problem}}});
  };
  advised.spent = TRY(Ask(model_, std::move(question), judge));
  return advised;
}

}  // namespace

Result<std::unique_ptr<Conductor>> MakeModelConductor(Model& model, const std::string& prompt_dir,
                                                      const PromptSet& prompts,
                                                      const RoleSettings& settings) {
  PromptLibrary library = TRY(PromptLibrary::Load(prompt_dir, PromptFolderOf(settings)));
  if (!library.Has(prompts.conductor)) {
    return Fail(ErrorKind::kUsage,
                fmt::format("no prompt {}/{}.mustache for the {}", prompt_dir, prompts.conductor,
                            prompts.anchors ? "planner" : "conductor"));
  }
  return std::make_unique<ModelConductor>(model, std::move(library), prompts, settings);
}

}  // namespace pragma
