// WindowData: a Window as what the templates may name, in as much detail as fits.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "llm/model.h"
#include "llm/prompt.h"

namespace pragma {

// How much of the less important parts is shown.
struct Detail {
  std::size_t others = 0;       // of the other attempts, the newest
  std::size_t other_codes = 0;  // of these, how many (the newest) with their code
  std::size_t log_bytes = 3000;
  bool hot_lines = true;       // of the profile
  bool meanings = true;        // of its metrics
  std::size_t techniques = 6;  // that its diagnosis names
  bool whole_machine = true;   // else its first line
  bool second_version = true;  // the code of the version that is not the starting point
};

// The attempts shown besides current and best, oldest first, each once.
[[nodiscard]] std::vector<const Trial*> OtherTrials(const Window& window);

// Calls `render` with less and less detail until the messages fit: the other attempts go first
// (code before figures, oldest first), then logs, then what techniques and metrics are, then
// machine details, then the second version's code. Task, kernel.h and rules are never cut, so what
// does not fit even then is sent as it is.
[[nodiscard]] Result<std::vector<Message>> FitMessages(
    std::size_t limit_bytes, std::size_t others,
    const std::function<Result<std::vector<Message>>(const Detail&)>& render);

// Names that every prompt may use: the language's words, task, interface, flags, machine, attempt,
// user's wish.
[[nodiscard]] PromptData CommonData(const Window& window, const RoleSettings& settings,
                                    const Detail& detail);
// The list "causes" and the flag "has_causes".
void AddCauses(PromptData& data, const Evaluation& evaluation, Language language);
// A candidate's source, as a block of code in its language.
[[nodiscard]] std::string FencedSource(const Candidate& candidate);
// The list "others" and the flag "has_others".
void AddOthers(PromptData& data, const Window& window, const Detail& detail);

}  // namespace pragma
