#include "app/search_choice.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "app/agents.h"
#include "app/context.h"
#include "app/settings.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/result.h"
#include "expert/expert.h"
#include "search/budget.h"
#include "search/strategy.h"

namespace pragma {
namespace {

constexpr const char* kDefaultStrategy = "fusion";
constexpr const char* kExpertStrategy = "expert";  // used if no model is named anywhere
constexpr std::int64_t kFewestTokens = 1000;

const std::string& FirstOf(const std::string& first, const std::string& second) {
  return first.empty() ? second : first;
}

// Tells whether a model is named anywhere. The expert does not count as a model.
bool NamesModel(const SearchWish& wish, const Settings& settings) {
  bool named = false;
  for (const std::string* spec : {&wish.model, &wish.conductor, &wish.coder, &settings.model,
                                  &settings.conductor, &settings.coder})
    named = named || (!spec->empty() && !IsExpert(*spec));
  return named;
}

std::unexpected<Error> NoModel(const std::string& role) {
  return Fail(
      ErrorKind::kUsage,
      "no model for the " + role +
          ": name one with --model, as openai:NAME, responses:NAME, anthropic:NAME, command:'CMD', "
          "handoff:DIR, replay:FILE or expert (the built-in one, which needs none)");
}

Budget FromSettings(const Settings& settings, const Preset& preset) {
  return {.attempts = settings.attempts.value_or(preset.attempts),
          .seconds = settings.seconds.value_or(0),
          .tokens = settings.tokens.value_or(0),
          .usd = settings.usd.value_or(0)};
}

}  // namespace

Result<Budget> BudgetWish::Over(const Budget& otherwise) const {
  Budget budget = otherwise;
  budget.attempts = attempts.value_or(budget.attempts);
  if (!time.empty()) budget.seconds = TRY(ParseDuration(time));
  budget.tokens = tokens.value_or(budget.tokens);
  budget.usd = usd.value_or(budget.usd);
  return budget;
}

Result<SearchChoice> ChooseSearch(const SearchWish& wish, const AppContext& context) {
  const Settings& settings = context.settings;
  SearchChoice choice;
  const std::string& named = FirstOf(wish.strategy, settings.strategy);
  const bool without_model = !NamesModel(wish, settings);
  const char* otherwise = without_model ? kExpertStrategy : kDefaultStrategy;
  choice.preset =
      TRY(LoadPreset(context.paths.strategies().string(), named.empty() ? otherwise : named));
  if (wish.no_seeds) choice.preset.seeds.clear();
  // A flag wins over any setting. For example --model wins over a "coder" in pragma.toml as well.
  const std::string conductor = FirstOf(wish.conductor, wish.model);
  const std::string coder = FirstOf(wish.coder, wish.model);
  choice.conductor_model = FirstOf(conductor, FirstOf(settings.conductor, settings.model));
  choice.coder_model = FirstOf(coder, FirstOf(settings.coder, settings.model));
  if (without_model) choice.conductor_model = choice.coder_model = expert::kExpertModel;
  const std::string debugger = FirstOf(wish.debugger, FirstOf(wish.model, settings.debugger));
  if (choice.preset.debugger) choice.debugger_model = FirstOf(debugger, choice.coder_model);
  if (!choice.preset.conductor) choice.conductor_model.clear();
  if (choice.coder_model.empty()) return NoModel("Coder");
  if (choice.preset.conductor && choice.conductor_model.empty()) return NoModel("Conductor");
  choice.budget = TRY(wish.budget.Over(FromSettings(settings, choice.preset)));
  choice.advice = wish.advice;
  choice.tune = wish.tune.choice();
  if (wish.tune.limit.empty()) choice.tune.limit = Seconds{choice.preset.tune_seconds};
  if (const auto tokens = wish.prompt_tokens ? wish.prompt_tokens : settings.prompt_tokens) {
    if (*tokens < kFewestTokens)
      return Fail(ErrorKind::kUsage,
                  fmt::format("--prompt-tokens must be at least {}", kFewestTokens));
    choice.prompt_bytes = static_cast<std::size_t>(*tokens) * kBytesPerToken;
  }
  return choice;
}

}  // namespace pragma
