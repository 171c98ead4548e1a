// WindowData: turns a Window into the values that templates may use, in as much detail as fits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "llm/model.h"
#include "llm/prompt.h"

namespace pragma {

struct Evaluation;

// How much of the less important parts is shown.
struct Detail {
  std::size_t others = 0;       // number of other attempts, the newest ones
  std::size_t other_codes = 0;  // how many of these (the newest) with their code
  std::size_t log_bytes = 3000;
  bool hot_lines = true;       // show the profile's hot lines
  bool meanings = true;        // explain the profile's metrics
  std::size_t techniques = 6;  // number of techniques, as named by the diagnosis
  bool whole_machine = true;   // false: only the first line of its description
  bool second_version = true;  // show the code of the version that is not the starting point
};

// Returns the attempts to show in addition to the current and the best one, oldest first, each
// once.
[[nodiscard]] std::vector<const Trial*> OtherTrials(const Window& window);

// Calls `render` with less and less detail until the messages fit into `limit_bytes`. The other
// attempts are dropped first (their code before their figures, the oldest first), then logs, then
// the explanations of techniques and metrics, then machine details, then the second version's code.
// Task, kernel.h and rules are never cut, so a prompt that does not fit even then is sent as it is.
[[nodiscard]] Result<std::vector<Message>> FitMessages(
    std::size_t limit_bytes, std::size_t others,
    const std::function<Result<std::vector<Message>>(const Detail&)>& render);

// Sets the names that every prompt may use: the language's words, task, interface, flags, machine,
// attempt and the user's advice.
[[nodiscard]] PromptData CommonData(const Window& window, const RoleSettings& settings,
                                    const Detail& detail);
// Adds the list "causes" and the flag "has_causes".
void AddCauses(PromptData& data, const Evaluation& evaluation, Language language);
// Returns a candidate's source as a fenced code block in its language.
[[nodiscard]] std::string FencedSource(const Candidate& candidate);
// Adds the list "others" and the flag "has_others".
void AddOthers(PromptData& data, const Window& window, const Detail& detail);

}  // namespace pragma
