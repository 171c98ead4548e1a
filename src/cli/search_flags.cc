#include "cli/search_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "agent/roles.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/agents.h"
#include "cli/command.h"
#include "cli/settings.h"
#include "cli/verify_flags.h"
#include "expert/expert.h"
#include "search/session.h"
#include "search/strategy.h"

namespace pragma {
namespace {

constexpr const char* kDefaultStrategy = "n-pragma";
constexpr const char* kExpertStrategy = "expert";  // used if no model is named anywhere
constexpr std::size_t kBytesPerToken = 4;          // as used if a service does not count tokens
constexpr std::int64_t kFewestTokens = 1000;

const std::string& FirstOf(const std::string& first, const std::string& second) {
  return first.empty() ? second : first;
}

// Tells whether a model is named anywhere. The expert does not count as a model.
bool NamesModel(const SearchFlags& flags, const Settings& settings) {
  bool named = false;
  for (const std::string* spec : {&flags.model, &flags.conductor, &flags.coder, &settings.model,
                                  &settings.conductor, &settings.coder})
    named = named || (!spec->empty() && !IsExpert(*spec));
  return named;
}

std::unexpected<Error> NoModel(const std::string& role) {
  return Fail(ErrorKind::kUsage,
              "no model for the " + role +
                  ": name one with --model, as openai:NAME, anthropic:NAME, command:'CMD', "
                  "handoff:DIR, replay:FILE or expert (the built-in one, which needs none)");
}

Budget FromSettings(const Settings& settings, const Preset& preset) {
  return {.attempts = settings.attempts.value_or(preset.attempts),
          .seconds = settings.seconds.value_or(0),
          .tokens = settings.tokens.value_or(0),
          .usd = settings.usd.value_or(0)};
}

}  // namespace

void BudgetFlags::AddTo(CLI::App& command) {
  command.add_option("--attempts", attempts, "stop after N attempts (default: the strategy's)")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--time", time, "stop after this long: 90s, 15m, 2h")
      ->type_name("TIME")
      ->check(DurationComplaint)
      ->group("Budget");
  command.add_option("--tokens", tokens, "stop after so many tokens")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--usd", usd, "stop after so much money (prices: pragma.toml)")
      ->type_name("USD")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
}

Result<Budget> BudgetFlags::Over(const Budget& otherwise) const {
  Budget budget = otherwise;
  budget.attempts = attempts.value_or(budget.attempts);
  if (!time.empty()) budget.seconds = TRY(ParseDuration(time));
  budget.tokens = tokens.value_or(budget.tokens);
  budget.usd = usd.value_or(budget.usd);
  return budget;
}

void SearchFlags::AddTo(CLI::App& command) {
  command
      .add_option("--model", model,
                  "expert (built in, the default), openai:NAME, anthropic:NAME, command:'CMD', "
                  "handoff:DIR, replay:FILE")
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--conductor,--planner", conductor,
                  "model of the Conductor or planner (default: --model)")
      ->type_name("SPEC")
      ->group("Search");
  command.add_option("--coder", coder, "model of the Coder (default: --model)")
      ->type_name("SPEC")
      ->group("Search");
  command.add_option("--debugger", debugger, "model of the debugger (default: --model, --coder)")
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--strategy", strategy,
                  "search strategy (default: n-pragma; of the expert: expert)")
      ->type_name("NAME|FILE")
      ->group("Search");
  command.add_option("--advice", advice, "a hint shown to the models")
      ->type_name("TEXT")
      ->group("Search");
  command
      .add_flag("--no-seeds", no_seeds,
                "begin with nothing: no kernel of the expert or of earlier runs")
      ->group("Search");
  command
      .add_option("--prompt-tokens", prompt_tokens,
                  fmt::format("longest prompt; the least useful is cut (default: about {})",
                              RoleSettings{}.prompt_bytes / kBytesPerToken))
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Search");
  tune.AddTo(command);
  budget.AddTo(command);
}

Result<SearchChoice> ChooseSearch(const SearchFlags& flags, const Context& context) {
  const Settings& settings = context.settings;
  SearchChoice choice;
  const std::string& named = FirstOf(flags.strategy, settings.strategy);
  const bool without_model = !NamesModel(flags, settings);
  const char* otherwise = without_model ? kExpertStrategy : kDefaultStrategy;
  choice.preset =
      TRY(LoadPreset(context.paths.strategies().string(), named.empty() ? otherwise : named));
  if (flags.no_seeds) choice.preset.seeds.clear();
  // A flag wins over any setting. For example --model wins over a "coder" in pragma.toml as well.
  const std::string conductor = FirstOf(flags.conductor, flags.model);
  const std::string coder = FirstOf(flags.coder, flags.model);
  choice.conductor_model = FirstOf(conductor, FirstOf(settings.conductor, settings.model));
  choice.coder_model = FirstOf(coder, FirstOf(settings.coder, settings.model));
  if (without_model) choice.conductor_model = choice.coder_model = expert::kExpertModel;
  const std::string debugger = FirstOf(flags.debugger, FirstOf(flags.model, settings.debugger));
  if (choice.preset.debugger) choice.debugger_model = FirstOf(debugger, choice.coder_model);
  if (!choice.preset.conductor) choice.conductor_model.clear();
  if (choice.coder_model.empty()) return NoModel("Coder");
  if (choice.preset.conductor && choice.conductor_model.empty()) return NoModel("Conductor");
  choice.budget = TRY(flags.budget.Over(FromSettings(settings, choice.preset)));
  choice.advice = flags.advice;
  choice.tune = flags.tune.choice();
  if (flags.tune.limit.empty()) choice.tune.limit = Seconds{choice.preset.tune_seconds};
  if (const auto tokens = flags.prompt_tokens ? flags.prompt_tokens : settings.prompt_tokens) {
    if (*tokens < kFewestTokens)
      return Fail(ErrorKind::kUsage,
                  fmt::format("--prompt-tokens must be at least {}", kFewestTokens));
    choice.prompt_bytes = static_cast<std::size_t>(*tokens) * kBytesPerToken;
  }
  return choice;
}

}  // namespace pragma
