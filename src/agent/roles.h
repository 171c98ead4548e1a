// The roles that ask a model: the Conductor decides on one change, the Coder writes the code. Each
// takes a Window and returns a value.
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
#include "core/metric_table.h"
#include "core/spent.h"
#include "llm/model.h"

namespace pragma {

struct RoleSettings {
  Sampling sampling;
  int max_reasks = 1;                      // precise re-asks when a reply has no usable answer
  std::size_t prompt_bytes = 60000;        // limit; the least useful parts are cut first
  std::vector<std::string> allowed_flags;  // AllowedFlagForms(); empty: the default flags only
  MetricTable metrics;                     // which metrics of a profile are shown by default
  std::map<std::string, std::string> metric_meanings;  // by tag, shown with a profile
  // Remedies that a diagnosis may name, as Markdown, by the name after "technique.".
  std::map<std::string, std::string> techniques;
  bool tunes = false;  // the run tunes candidates, so prompts explain how to declare tunables
  Language language = Language::kCpp;  // language of the candidates
  // What the candidates run on, in words (Backend::name), and the folder of prompts/ with the
  // sections for it (Backend::PromptFolder). Empty: CPUs or NVIDIA GPUs, and the language's folder.
  std::string processors;
  std::string prompt_folder;
};

struct Advised {
  Advice advice;
  Spent spent;
  std::string author;
};

struct Proposal {
  std::optional<Candidate> candidate;  // none: no usable code even after the re-asks
  std::string reason;                  // why there is no candidate; becomes the trial's reason
  bool unsupported = false;            // the author says that it cannot implement this operator
  Spent spent;
  std::string author;
};

// Returns the folder of prompts/ with the sections that depend on the language.
[[nodiscard]] inline std::string PromptFolderOf(const RoleSettings& settings) {
  return settings.prompt_folder.empty() ? std::string(LanguageName(settings.language))
                                        : settings.prompt_folder;
}

class Conductor {
 public:
  virtual ~Conductor() = default;
  // `key` has run and node filled in. The conductor adds the role and the ordinal.
  [[nodiscard]] virtual Result<Advised> Advise(const Window& window, CallKey key) = 0;
};

class Coder {
 public:
  virtual ~Coder() = default;
  // `advice` is nullptr in strategies without a conductor.
  [[nodiscard]] virtual Result<Proposal> Propose(const Window& window, const Advice* advice,
                                                 CallKey key) = 0;
};

// The templates that a role uses: prompts/<name>.mustache.
struct PromptSet {
  std::string conductor = "conductor";
  std::string coder = "coder";
  bool multi_turn = false;  // caesar: earlier attempts as a conversation instead of one prompt
  // The Conductor is a planner: it returns a whole source with the block to change marked. As long
  // as there is no version yet, it marks the PyTorch module or, with `skeleton_first`, a skeleton
  // of the kernel.
  bool anchors = false;
  bool skeleton_first = false;
  std::string coder_role = "coder";  // or "debugger"; appears in calls, authors and files
};

// `model` must outlive the returned role. `prompt_dir` is the folder of the templates.
[[nodiscard]] Result<std::unique_ptr<Conductor>> MakeModelConductor(Model& model,
                                                                    const std::string& prompt_dir,
                                                                    const PromptSet& prompts,
                                                                    const RoleSettings& settings);
[[nodiscard]] Result<std::unique_ptr<Coder>> MakeModelCoder(Model& model,
                                                            const std::string& prompt_dir,
                                                            const PromptSet& prompts,
                                                            const RoleSettings& settings);

}  // namespace pragma
