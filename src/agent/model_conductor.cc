// The Conductor that asks a language model.
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/ask.h"
#include "agent/describe.h"
#include "agent/describe_profile.h"
#include "agent/roles.h"
#include "agent/window.h"
#include "agent/window_data.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "core/advice.h"
#include "core/profile.h"
#include "core/trial.h"
#include "llm/model.h"
#include "llm/prompt.h"
#include "llm/reply.h"

namespace pragma {
namespace {

constexpr std::size_t kProseBytes = 4000;

const Profile* ProfileOf(const Trial* trial) {
  return trial != nullptr && trial->profile ? &*trial->profile : nullptr;
}

// The remedies that the diagnosis names; those of its first statement survive longest.
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

// What the metrics shown mean, and the profile.
void AddProfileParts(PromptData& data, const Window& window, const RoleSettings& settings,
                     const Detail& detail) {
  ProfileShown shown{.current = ProfileOf(window.current), .best = ProfileOf(window.best)};
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

void AddCurrent(PromptData& data, const Trial* current, const Detail& detail) {
  data.flags["has_current"] = current != nullptr;
  data.flags["has_causes"] = false;
  data.lists.try_emplace("causes");
  if (current == nullptr) return;
  data.texts["current_title"] = TrialTitle(*current);
  data.texts["current_verdict"] = Verdict(current->evaluation, detail.log_bytes);
  data.texts["current_code"] = current->candidate ? Fenced(current->candidate->source(), "cpp")
                                                  : "(The reply held no usable code.)";
  AddCauses(data, current->evaluation);
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
  data.texts["best_code"] = code ? Fenced(best->candidate->source(), "cpp") : "";
}

class ModelConductor final : public Conductor {
 public:
  ModelConductor(Model& model, PromptLibrary library, PromptSet prompts, RoleSettings settings)
      : model_(model),
        library_(std::move(library)),
        prompts_(std::move(prompts)),
        settings_(std::move(settings)) {}

  Result<Advised> Advise(const Window& window, CallKey key) override;

 private:
  [[nodiscard]] Result<std::vector<Message>> Render(const Window& window,
                                                    const Detail& detail) const;

  Model& model_;
  PromptLibrary library_;
  PromptSet prompts_;
  RoleSettings settings_;
};

Result<std::vector<Message>> ModelConductor::Render(const Window& window,
                                                    const Detail& detail) const {
  PromptData data = CommonData(window, settings_, detail);
  AddCurrent(data, window.current, detail);
  AddProfileParts(data, window, settings_, detail);
  AddBest(data, window, detail);
  AddOthers(data, window, detail);
  return std::vector<Message>{
      {.role = "user", .text = TRY(library_.Render(prompts_.conductor, data))}};
}

// A decision in prose is still advice: what to change is in it somewhere.
Advice FromProse(const std::string& text, const Window& window) {
  Advice advice;
  advice.base = window.best != nullptr ? Base::kBest : Base::kCurrent;
  advice.change = Shorten(Trim(text), kProseBytes);
  return advice;
}

Result<Advised> ModelConductor::Advise(const Window& window, CallKey key) {
  key.role = "conductor";
  Question question{
      .messages = TRY(FitMessages(settings_.prompt_bytes, OtherTrials(window).size(),
                                  [&](const Detail& detail) { return Render(window, detail); })),
      .sampling = settings_.sampling,
      .key = std::move(key),
      .max_reasks = settings_.max_reasks};
  Advised advised{.advice = {}, .spent = {}, .author = "conductor " + model_.name()};
  const Judge judge = [&](const Completion& completion) -> Result<std::string> {
    const AdviceReply reply = ParseAdviceReply(completion.text);
    if (reply.advice) {
      advised.advice = *reply.advice;
      return std::string();
    }
    advised.advice = FromProse(completion.text, window);
    Log(LogLevel::kDebug, "conductor: " + reply.problem);
    return library_.Render("conductor_reask", {.texts = {{"problem", reply.problem}}});
  };
  advised.spent = TRY(Ask(model_, std::move(question), judge));
  return advised;
}

}  // namespace

Result<std::unique_ptr<Conductor>> MakeModelConductor(Model& model, const std::string& prompt_dir,
                                                      const PromptSet& prompts,
                                                      const RoleSettings& settings) {
  PromptLibrary library = TRY(PromptLibrary::Load(prompt_dir));
  if (!library.Has(prompts.conductor)) {
    return Fail(ErrorKind::kUsage, fmt::format("no prompt {}/{}.mustache for the conductor",
                                               prompt_dir, prompts.conductor));
  }
  return std::make_unique<ModelConductor>(model, std::move(library), prompts, settings);
}

}  // namespace pragma
