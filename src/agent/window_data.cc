#include "agent/window_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/describe.h"
#include "agent/language_words.h"
#include "agent/roles.h"
#include "agent/window.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/trial.h"
#include "llm/model.h"
#include "llm/prompt.h"

namespace pragma {
namespace {

constexpr std::size_t kUserAdviceBytes = 4000;

std::size_t TotalBytes(const std::vector<Message>& messages) {
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.text.size();
  return bytes;
}

// Returns the steps from the most detail to the least.
std::vector<Detail> Ladder(std::size_t others) {
  Detail detail{.others = others, .other_codes = others};
  std::vector<Detail> steps{detail};
  while (detail.other_codes > 0) {
    --detail.other_codes;
    steps.push_back(detail);
  }
  while (detail.others > 0) {
    --detail.others;
    steps.push_back(detail);
  }
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{300}, std::size_t{0}}) {
    detail.log_bytes = bytes;
    steps.push_back(detail);
  }
  for (const std::size_t techniques : {std::size_t{2}, std::size_t{0}}) {
    detail.techniques = techniques;
    steps.push_back(detail);
  }
  detail.hot_lines = false;
  steps.push_back(detail);
  detail.meanings = false;
  steps.push_back(detail);
  detail.whole_machine = false;
  steps.push_back(detail);
  detail.second_version = false;
  steps.push_back(detail);
  return steps;
}

std::string Machine(const Window& window, const Detail& detail) {
  if (window.machine == nullptr) return {};
  const std::string_view text = Trim(window.machine->text);
  return std::string(detail.whole_machine ? text : text.substr(0, text.find('\n')));
}

std::string CodeList(const std::vector<std::string>& words) {
  return fmt::format("`{}`", fmt::join(words, "` `"));
}

// Returns the field of expertise: "CUDA C++ on NVIDIA GPUs".
std::string Craft(const RoleSettings& settings) {
  const LanguageWords& words = WordsOf(settings.language);
  const std::string_view processors =
      settings.processors.empty() ? words.processors : std::string_view(settings.processors);
  return fmt::format("{} on {}", words.language, processors);
}

}  // namespace

std::vector<const Trial*> OtherTrials(const Window& window) {
  std::vector<const Trial*> others;
  for (const Trial* trial : window.others) {
    const bool shown = (window.current != nullptr && trial->node == window.current->node) ||
                       (window.best != nullptr && trial->node == window.best->node);
    if (!shown) others.push_back(trial);
  }
  return others;
}

Result<std::vector<Message>> FitMessages(
    std::size_t limit_bytes, std::size_t others,
    const std::function<Result<std::vector<Message>>(const Detail&)>& render) {
  std::vector<Message> messages;
  for (const Detail& detail : Ladder(others)) {
    messages = TRY(render(detail));
    if (TotalBytes(messages) <= limit_bytes) return messages;
  }
  Log(LogLevel::kWarning,
      fmt::format(
          "a prompt has {} although its limit is {}: task, kernel.h and rules are never cut",
          FormatBytes(static_cast<double>(TotalBytes(messages))),
          FormatBytes(static_cast<double>(limit_bytes))));
  return messages;
}

PromptData CommonData(const Window& window, const RoleSettings& settings, const Detail& detail) {
  PromptData data;
  const std::string machine = Machine(window, detail);
  const std::string advice(Trim(window.advice_from_user));
  const std::vector<std::string>& flags = DefaultFlags(settings.language);
  const std::vector<std::string>& allowed =
      settings.allowed_flags.empty() ? flags : settings.allowed_flags;
  const LanguageWords& words = WordsOf(settings.language);
  data.texts = {{"language", std::string(words.language)},
                {"craft", Craft(settings)},
                {"product", std::string(words.product)},
                {"processor", std::string(words.processor)},
                {"first_structure", std::string(words.first_structure)},
                {"change_terms", std::string(words.change_terms)},
                {"plan_terms", std::string(words.plan_terms)},
                {"library_ideas", std::string(words.library_ideas)},
                {"side_changes", std::string(words.side_changes)},
                {"task_name", window.task->name},
                {"task_source", Fenced(window.task->source, "python")},
                {"kernel_header", Fenced(*window.kernel_header, words.fence)},
                {"default_flags", Join(flags, " ")},
                {"allowed_flags", CodeList(allowed)},
                {"machine", machine},
                {"attempt", std::to_string(window.attempt)},
                {"attempts", std::to_string(window.attempts)},
                {"user_advice", Shorten(advice, kUserAdviceBytes)}};
  data.flags = {{"has_machine", !machine.empty()},
                {"has_user_advice", !advice.empty()},
                {"has_notes", !window.task->notes.empty()},
                {"tunes", settings.tunes},
                {"shows_form", false}};
  const bool example =
      window.current == nullptr && window.example != nullptr && !window.example->code.empty();
  data.flags["has_example"] = example;
  data.texts["example_title"] = example ? window.example->title : "";
  data.texts["example_code"] = example ? Fenced(window.example->code, words.fence) : "";
  for (const std::string& note : window.task->notes) {
    data.lists["notes"].push_back({.texts = {{"note", note}}});
  }
  data.lists.try_emplace("notes");
  return data;
}

void AddCauses(PromptData& data, const Evaluation& evaluation, Language language) {
  std::vector<PromptData>& list = data.lists["causes"];
  for (std::string& cause : LikelyCauses(evaluation, language)) {
    list.push_back({.texts = {{"cause", std::move(cause)}}});
  }
  data.flags["has_causes"] = !list.empty();
}

std::string FencedSource(const Candidate& candidate) {
  return Fenced(candidate.source(), WordsOf(candidate.language).fence);
}

void AddOthers(PromptData& data, const Window& window, const Detail& detail) {
  const std::vector<const Trial*> others = OtherTrials(window);
  std::vector<PromptData>& list = data.lists["others"];
  const std::size_t shown = std::min(detail.others, others.size());
  for (std::size_t i = others.size() - shown; i < others.size(); ++i) {
    const Trial& trial = *others[i];
    const bool code = trial.candidate && others.size() - i <= detail.other_codes;
    list.push_back({.texts = {{"title", TrialTitle(trial)},
                              {"verdict", ShortVerdict(trial)},
                              {"code", code ? FencedSource(*trial.candidate) : ""}},
                    .flags = {{"has_code", code}}});
  }
  data.flags["has_others"] = !list.empty();
}

}  // namespace pragma
