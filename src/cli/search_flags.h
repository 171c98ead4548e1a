// SearchFlags holds the model, strategy and budget of a search, as given on the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/roles.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/settings.h"
#include "cli/tuning.h"
#include "search/session.h"
#include "search/strategy.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pragma {

// Limits of a search. What is not given comes from the settings, then from the preset.
struct BudgetFlags {
  std::optional<int> attempts;
  std::string time;
  std::optional<std::int64_t> tokens;
  std::optional<double> usd;

  void AddTo(CLI::App& command);
  [[nodiscard]] Result<Budget> Over(const Budget& otherwise) const;
};

struct SearchFlags {
  std::string model;
  std::string conductor;
  std::string coder;
  std::string debugger;
  std::string strategy;
  std::string advice;
  std::optional<std::int64_t> prompt_tokens;
  bool no_seeds = false;
  TuneFlags tune;
  BudgetFlags budget;

  void AddTo(CLI::App& command);
};

// The choice that results from flags, settings and preset.
struct SearchChoice {
  Preset preset;
  Budget budget;
  std::string conductor_model;  // empty: the preset has no conductor
  std::string coder_model;
  std::string debugger_model;  // empty: the preset has no debugger
  int jobs = 1;                // attempts in progress at the same time
  std::string advice;
  std::size_t prompt_bytes = RoleSettings{}.prompt_bytes;
  TuneChoice tune;
};

// Fails with kUsage, in one line, if no model is named or the strategy does not exist.
[[nodiscard]] Result<SearchChoice> ChooseSearch(const SearchFlags& flags, const Context& context);

}  // namespace pragma
