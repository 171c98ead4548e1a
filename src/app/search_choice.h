// SearchChoice: the models, strategy and budget of a search, chosen from what the caller asked for,
// the settings, and the strategy's preset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/roles.h"
#include "app/context.h"
#include "app/tuning.h"
#include "base/result.h"
#include "search/budget.h"
#include "search/preset.h"

namespace pragma {

inline constexpr std::size_t kBytesPerToken = 4;  // as used if a service does not count tokens

// Limits of a search. What is not given comes from the settings, then from the preset.
struct BudgetWish {
  std::optional<int> attempts;
  std::string time;  // duration; empty: not given
  std::optional<std::int64_t> tokens;
  std::optional<double> usd;

  [[nodiscard]] Result<Budget> Over(const Budget& otherwise) const;
};

// What the caller asked for. Empty members come from the settings, then from the preset.
struct SearchWish {
  std::string model;
  std::string conductor;
  std::string coder;
  std::string debugger;
  std::string strategy;
  std::string advice;
  std::optional<std::int64_t> prompt_tokens;
  bool no_seeds = false;
  TuneWish tune;
  BudgetWish budget;
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
[[nodiscard]] Result<SearchChoice> ChooseSearch(const SearchWish& wish, const AppContext& context);

}  // namespace pragma
