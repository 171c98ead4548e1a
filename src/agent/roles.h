// The roles: Conductor (decides one change) and Coder (writes code). Window in, value out.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/window.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "core/trial.h"
#include "llm/model.h"

namespace pragma {

struct RoleSettings {
  Sampling sampling;
  int max_reasks = 1;                      // precise re-asks when a reply has no usable answer
  std::size_t prompt_bytes = 60000;        // cut the least useful first
  std::vector<std::string> allowed_flags;  // AllowedFlagForms(); empty: the default flags only
  std::map<std::string, std::string> metric_meanings;  // by tag, for prompts with a profile
  // By the name after "technique.", Markdown: what a diagnosis may name as its remedy.
  std::map<std::string, std::string> techniques;
  bool tunes = false;  // tunables of candidates are tuned, and prompts say how to declare them
  Language language = Language::kCpp;  // of the candidates
};

struct Advised {
  Advice advice;
  Spent spent;
  std::string author;
};

struct Proposal {
  std::optional<Candidate> candidate;  // none: no usable code even after the re-asks
  std::string reason;                  // why none, for the trial's reason
  bool unsupported = false;            // the author says that it cannot do this operator
  Spent spent;
  std::string author;
};

class Conductor {
 public:
  virtual ~Conductor() = default;
  // `key`: run and node are filled in; the conductor adds role and ordinal.
  [[nodiscard]] virtual Result<Advised> Advise(const Window& window, CallKey key) = 0;
};

class Coder {
 public:
  virtual ~Coder() = default;
  // `advice` may be nullptr: strategies without a conductor.
  [[nodiscard]] virtual Result<Proposal> Propose(const Window& window, const Advice* advice,
                                                 CallKey key) = 0;
};

// Which templates a role uses: prompts/<name>.mustache.
struct PromptSet {
  std::string conductor = "conductor";
  std::string coder = "coder";
  bool multi_turn = false;  // caesar: earlier attempts as a conversation instead of one prompt
  // The Conductor is a planner: it returns a whole source with the block to change marked. Where
  // there is no version yet it marks the module, or a skeleton of the kernel.
  bool anchors = false;
  bool skeleton_first = false;
  std::string coder_role = "coder";  // or "debugger": in calls, authors and files
};

// `model` outlives them. `prompt_dir` holds the templates.
[[nodiscard]] Result<std::unique_ptr<Conductor>> MakeModelConductor(Model& model,
                                                                    const std::string& prompt_dir,
                                                                    const PromptSet& prompts,
                                                                    const RoleSettings& settings);
[[nodiscard]] Result<std::unique_ptr<Coder>> MakeModelCoder(Model& model,
                                                            const std::string& prompt_dir,
                                                            const PromptSet& prompts,
                                                            const RoleSettings& settings);

}  // namespace pragma
