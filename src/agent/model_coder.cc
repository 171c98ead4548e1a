// The Coder that asks a language model, with one self-contained prompt or with a conversation.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/ask.h"
#include "agent/describe.h"
#include "agent/language_words.h"
#include "agent/roles.h"
#include "agent/window.h"
#include "agent/window_data.h"
#include "base/log.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/trial.h"
#include "llm/model.h"
#include "llm/prompt.h"
#include "llm/reply.h"

namespace pragma {
namespace {

// Returns the version that the Coder starts from, or nullptr for the reference.
const Trial* StartingPoint(const Window& window, const Advice* advice) {
  if (advice == nullptr) return window.current != nullptr ? window.current : window.best;
  switch (advice->base) {
    case Base::kCurrent: return window.current != nullptr ? window.current : window.best;
    case Base::kBest: return window.best != nullptr ? window.best : window.current;
    case Base::kReference: return nullptr;
  }
  return nullptr;
}

PromptData VersionData(const Trial& trial, const std::string& title, bool code,
                       const Detail& detail, Language language) {
  PromptData data;
  const bool has_code = code && trial.candidate.has_value();
  data.texts = {{"title", title},
                {"verdict", Verdict(trial.evaluation, detail.log_bytes)},
                {"code", has_code ? FencedSource(*trial.candidate) : ""}};
  data.flags = {{"has_code", has_code}};
  AddCauses(data, trial.evaluation, language);
  // A repair still has to carry out the plan.
  const bool planned = trial.advice && !trial.advice->change.empty();
  data.flags["has_plan"] = planned;
  data.texts["plan"] = planned ? trial.advice->change : "";
  return data;
}

// Adds the starting point in full, then the best or the current version if that is a different one.
void AddVersions(PromptData& data, const Window& window, const Trial* start, const Detail& detail,
                 Language language) {
  std::vector<PromptData>& list = data.lists["versions"];
  if (start != nullptr) {
    const bool is_best = window.best != nullptr && window.best->node == start->node;
    list.push_back(VersionData(*start,
                               fmt::format("The version to start from: {}{}", TrialTitle(*start),
                                           is_best ? "; it is the best so far" : ""),
                               true, detail, language));
  }
  for (const auto& [trial, what] : {std::pair{window.best, "The best version so far"},
                                    std::pair{window.current, "The last version"}}) {
    const bool shown = trial == nullptr || (start != nullptr && trial->node == start->node) ||
                       (trial == window.current && trial == window.best);
    if (shown) continue;
    list.push_back(VersionData(*trial, fmt::format("{}: {}", what, TrialTitle(*trial)),
                               detail.second_version, detail, language));
  }
  data.flags["has_versions"] = !list.empty();
}

void AddAdvice(PromptData& data, const Advice* advice, const Trial* start, Language language) {
  data.flags["has_advice"] = advice != nullptr && !advice->change.empty();
  data.flags["has_anchored"] = advice != nullptr && !advice->anchored.empty();
  if (data.flags["has_anchored"])
    data.texts["anchored"] =
        Fenced(advice->anchored, start == nullptr ? "" : WordsOf(language).fence);
  if (!data.flags["has_advice"]) return;
  data.texts["advice_start"] =
      start == nullptr
          ? "Write the first version. The advice for it:"
          : fmt::format("Start from attempt {}. The one change asked for:", start->node);
  data.texts["change"] = advice->change;
  data.texts["bottleneck"] = advice->bottleneck;
  data.texts["evidence"] = advice->evidence;
  data.flags["has_bottleneck"] = !advice->bottleneck.empty();
  data.flags["has_evidence"] = !advice->evidence.empty();
}

// Returns the goal to state when there is no conductor's advice.
std::string Goal(const Trial* start, Language language) {
  if (start == nullptr) return std::string(WordsOf(language).first_goal);
  if (!start->evaluation.passed()) {
    return "Repair the version above. Find the cause in the code before you change it, keep what "
           "works, and return the whole corrected file.";
  }
  return std::string(WordsOf(language).faster_goal);
}

// Returns the attempts in the order in which they were made, the current one last.
std::vector<const Trial*> Conversation(const Window& window) {
  std::vector<const Trial*> turns = window.others;
  if (window.current != nullptr) turns.push_back(window.current);
  std::ranges::sort(turns, {}, &Trial::node);
  const auto rest = std::ranges::unique(turns, {}, &Trial::node);
  turns.erase(rest.begin(), rest.end());
  return turns;
}

class ModelCoder final : public Coder {
 public:
  ModelCoder(Model& model, PromptLibrary library, PromptSet prompts, RoleSettings settings)
      : model_(model),
        library_(std::move(library)),
        prompts_(std::move(prompts)),
        settings_(std::move(settings)),
        prompt_bytes_(settings_.prompt_bytes) {}

  Result<Proposal> Propose(const Window& window, const Advice* advice, CallKey key) override;

 private:
  [[nodiscard]] Result<std::vector<Message>> Messages(const Window& window,
                                                      const Advice* advice) const;
  [[nodiscard]] CodeReply Read(const Completion& completion) const;
  [[nodiscard]] Result<std::vector<Message>> OnePrompt(const Window& window, const Advice* advice,
                                                       const Detail& detail) const;
  [[nodiscard]] Result<std::vector<Message>> Turns(const Window& window, const Advice* advice,
                                                   const Detail& detail) const;
  [[nodiscard]] Result<std::string> Feedback(const Window& window, const Trial& trial,
                                             const std::string& goal, const Detail& detail) const;

  Model& model_;
  PromptLibrary library_;
  PromptSet prompts_;
  RoleSettings settings_;
  std::atomic<std::size_t> prompt_bytes_;  // settings_.prompt_bytes, or what the model takes
};

Result<std::vector<Message>> ModelCoder::Messages(const Window& window,
                                                  const Advice* advice) const {
  if (prompts_.multi_turn) {
    return FitMessages(prompt_bytes_, Conversation(window).size(),
                       [&](const Detail& detail) { return Turns(window, advice, detail); });
  }
  return FitMessages(prompt_bytes_, OtherTrials(window).size(),
                     [&](const Detail& detail) { return OnePrompt(window, advice, detail); });
}

Result<std::vector<Message>> ModelCoder::OnePrompt(const Window& window, const Advice* advice,
                                                   const Detail& detail) const {
  PromptData data = CommonData(window, settings_, detail);
  const Trial* start = StartingPoint(window, advice);
  AddVersions(data, window, start, detail, settings_.language);
  data.flags["shows_form"] = true;
  AddOthers(data, window, detail);
  AddAdvice(data, advice, start, settings_.language);
  data.texts["goal"] = Goal(start, settings_.language);
  return std::vector<Message>{{.role = "user", .text = TRY(library_.Render(prompts_.coder, data))}};
}

// `goal` is given for the last attempt, whose feedback asks for the next version. It is empty for
// the attempts before it.
Result<std::string> ModelCoder::Feedback(const Window& window, const Trial& trial,
                                         const std::string& goal, const Detail& detail) const {
  PromptData data = CommonData(window, settings_, detail);
  AddCauses(data, trial.evaluation, settings_.language);
  data.flags["is_last"] = !goal.empty();
  data.texts["verdict"] = Verdict(trial.evaluation, goal.empty() ? 0 : detail.log_bytes);
  data.texts["goal"] = goal;
  return library_.Render("coder_feedback", data);
}

// Builds the conversation: the task as the first request, then each attempt and its result. The
// last attempt is always shown. The oldest ones are dropped first when space is short.
Result<std::vector<Message>> ModelCoder::Turns(const Window& window, const Advice* advice,
                                               const Detail& detail) const {
  const std::vector<const Trial*> turns = Conversation(window);
  PromptData data = CommonData(window, settings_, detail);
  AddVersions(data, Window{}, nullptr, detail, settings_.language);
  data.flags["shows_form"] = true;
  AddOthers(data, Window{}, detail);
  AddAdvice(data, turns.empty() ? advice : nullptr, nullptr, settings_.language);
  data.texts["goal"] = Goal(nullptr, settings_.language);
  std::vector<Message> messages{
      {.role = "user", .text = TRY(library_.Render(prompts_.coder, data))}};
  const std::size_t shown = std::min(turns.size(), std::max<std::size_t>(detail.other_codes, 1));
  for (std::size_t i = turns.size() - shown; i < turns.size(); ++i) {
    const Trial& trial = *turns[i];
    messages.push_back(
        {.role = "assistant",
         .text = trial.candidate ? FencedSource(*trial.candidate) : "(no usable code)"});
    const bool last = i + 1 == turns.size();
    const std::string wish = advice != nullptr && !advice->change.empty()
                                 ? advice->change
                                 : Goal(&trial, settings_.language);
    messages.push_back(
        {.role = "user", .text = TRY(Feedback(window, trial, last ? wish : "", detail))});
  }
  return messages;
}

// Where the answer itself is empty or was never begun, the code may be in the reasoning.
CodeReply ModelCoder::Read(const Completion& completion) const {
  CodeReply reply = ParseCodeReply(completion.text, completion.truncated, settings_.language);
  if (!reply.source.empty() || reply.unsupported) return reply;
  if (!completion.problem.empty() || completion.thinking_open) {
    CodeReply thought =
        ParseCodeReply(completion.reasoning, completion.truncated, settings_.language);
    if (!thought.source.empty()) {
      thought.note = "the answer has no code; the last code of the reasoning is taken";
      return thought;
    }
  }
  if (!completion.problem.empty()) reply.problem = completion.problem;
  return reply;
}

Result<Proposal> ModelCoder::Propose(const Window& window, const Advice* advice, CallKey key) {
  key.role = prompts_.coder_role;
  Question question{.messages = TRY(Messages(window, advice)),
                    .sampling = settings_.sampling,
                    .key = std::move(key),
                    .max_reasks = settings_.max_reasks,
                    .shorten = [&](std::size_t bytes) {
                      prompt_bytes_ = bytes;  // for later attempts too
                      return Messages(window, advice);
                    }};
  Proposal proposal;
  proposal.author = prompts_.coder_role + " " + model_.name();
  const Judge judge = [&](const Completion& completion) -> Result<std::string> {
    CodeReply reply = Read(completion);
    proposal.unsupported = reply.unsupported;
    proposal.reason = reply.problem;
    if (!reply.source.empty())
      proposal.candidate = CandidateIn(settings_.language, std::move(reply.source));
    if (!reply.note.empty()) Log(LogLevel::kInfo, "coder: " + reply.note);
    // A model that has said nothing says no more when it is asked again.
    if (proposal.candidate || proposal.unsupported || !completion.problem.empty())
      return std::string();
    Log(LogLevel::kDebug, "coder: " + reply.problem);
    const LanguageWords& words = WordsOf(settings_.language);
    return library_.Render("coder_reask", {.texts = {{"problem", reply.problem},
                                                     {"whole_file", std::string(words.whole_file)},
                                                     {"fence", std::string(words.fence)}}});
  };
  proposal.spent = TRY(Ask(model_, std::move(question), judge));
  return proposal;
}

}  // namespace

Result<std::unique_ptr<Coder>> MakeModelCoder(Model& model, const std::string& prompt_dir,
                                              const PromptSet& prompts,
                                              const RoleSettings& settings) {
  PromptLibrary library = TRY(PromptLibrary::Load(prompt_dir, PromptFolderOf(settings)));
  if (!library.Has(prompts.coder)) {
    return Fail(ErrorKind::kUsage, fmt::format("no prompt {}/{}.mustache for the {}", prompt_dir,
                                               prompts.coder, prompts.coder_role));
  }
  return std::make_unique<ModelCoder>(model, std::move(library), prompts, settings);
}

}  // namespace pragma
