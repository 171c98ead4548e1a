#include "cli/search_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "agent/roles.h"
#include "app/search_choice.h"
#include "app/tuning.h"
#include "cli/judging_flags.h"

namespace pragma {

void AddBudgetFlags(CLI::App& command, BudgetWish& wish) {
  command
      .add_option("--attempts", wish.attempts, "stop after N attempts (default: the strategy's)")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command.add_option("--time", wish.time, "stop after this long: 90s, 15m, 2h")
      ->type_name("TIME")
      ->check(DurationComplaint)
      ->group("Budget");
  command.add_option("--tokens", wish.tokens, "stop after this many tokens")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
  command
      .add_option("--usd", wish.usd,
                  "stop after spending this many US dollars (prices: pragma.toml)")
      ->type_name("USD")
      ->check(CLI::PositiveNumber)
      ->group("Budget");
}

void AddTuneFlags(CLI::App& command, TuneWish& wish) {
  command
      .add_option("--tune", wish.limit,
                  "tune the kernel's PRAGMA_TUNE constants for at most TIME (without TIME: 20s)")
      ->type_name("[TIME]")
      ->expected(0, 1)
      ->default_str("20s")
      ->check(DurationComplaint)
      ->group("Tuning");
  command
      .add_flag("--retune", wish.again,
                "tune again even if the kernel was tuned on this machine before")
      ->group("Tuning");
}

void AddSearchFlags(CLI::App& command, SearchWish& wish) {
  command
      .add_option("--model", wish.model,
                  "expert (built in, the default), openai:NAME, responses:NAME, anthropic:NAME, "
                  "command:'CMD', "
                  "handoff:DIR, replay:FILE")
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--conductor,--planner", wish.conductor,
                  "model of the Conductor or planner (default: --model)")
      ->type_name("SPEC")
      ->group("Search");
  command.add_option("--coder", wish.coder, "model of the Coder (default: --model)")
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--debugger", wish.debugger,
                  "model of the debugger (default: --model, else the Coder's)")
      ->type_name("SPEC")
      ->group("Search");
  command
      .add_option("--strategy", wish.strategy,
                  "search strategy (default: fusion; for the expert: expert)")
      ->type_name("NAME|FILE")
      ->group("Search");
  command.add_option("--advice", wish.advice, "a hint shown to the models")
      ->type_name("TEXT")
      ->group("Search");
  command
      .add_flag("--no-seeds", wish.no_seeds,
                "start without kernels of the expert or of earlier runs")
      ->group("Search");
  command
      .add_option("--prompt-tokens", wish.prompt_tokens,
                  fmt::format("longest prompt; the least useful parts are cut (default: about {})",
                              RoleSettings{}.prompt_bytes / kBytesPerToken))
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Search");
  AddTuneFlags(command, wish.tune);
  AddBudgetFlags(command, wish.budget);
}

}  // namespace pragma
