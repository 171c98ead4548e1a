// RunSettings: everything that shaped a run. It is stored with the run (RunRecord::settings_json),
// so that the run can be resumed and replayed without its original command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/random.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/task.h"
#include "search/budget.h"
#include "search/preset.h"
#include "search/seed_kernel.h"
#include "store/store.h"

namespace pragma {

struct RunSettings {
  Preset preset;
  Budget budget;
  Seed seed{};                  // seed of the strategy
  std::string conductor_model;  // also the planner's; as given: "openai:NAME"; empty: none
  std::string coder_model;
  std::string debugger_model;          // empty: the preset has none
  Language language = Language::kCpp;  // language of the candidates
  std::string processors;              // see RoleSettings, as is prompt_folder
  std::string prompt_folder;
  int jobs = 1;  // concurrent attempts (SessionParts::jobs)
  std::vector<SeedKernel> seeds;
  ExampleKernel example;  // from an earlier run
  std::int64_t max_tokens = Sampling{}.max_tokens;
  int max_reasks = RoleSettings{}.max_reasks;
  std::size_t prompt_bytes = RoleSettings{}.prompt_bytes;
  std::vector<std::string>
      allowed_flags;          // compile flags that the prompts name; empty: the defaults
  std::string kernel_header;  // text shown to the authors
  std::string machine;        // MachineSummary::text
  std::string advice_from_user;
  std::map<std::string, std::string> metric_meanings;  // see RoleSettings
  std::map<std::string, std::string> techniques;       // see RoleSettings
  std::map<std::string, std::string> options;  // the caller's own: check mode, cache state, ...
  double tune_seconds = 0;  // per candidate, for tuning; 0: candidates are not tuned
  std::string recording;    // replays: the recording's artefact in the store
};

[[nodiscard]] std::string ToJson(const RunSettings& settings);
[[nodiscard]] Result<RunSettings> RunSettingsFromJson(std::string_view text);

// The settings in the form that the agent layer takes.
[[nodiscard]] RoleSettings ConductorSettings(const RunSettings& settings);
[[nodiscard]] RoleSettings CoderSettings(const RunSettings& settings);
[[nodiscard]] RoleSettings DebuggerSettings(const RunSettings& settings);
[[nodiscard]] PromptSet Prompts(const RunSettings& settings);
[[nodiscard]] PromptSet DebuggerPrompts(const RunSettings& settings);

// Returns an id such as "r-20261121-101500-ab12": the time in UTC and four random digits.
[[nodiscard]] std::string NewRunId(std::int64_t unix_millis);

// Adds a new run to the store.
[[nodiscard]] Result<RunRecord> StartRun(Store& store, const Task& task,
                                         const std::filesystem::path& task_path,
                                         const RunSettings& settings);

}  // namespace pragma
