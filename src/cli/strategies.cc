// pragma strategies: the presets there are.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "report/json_text.h"
#include "report/table.h"
#include "search/strategy.h"

namespace pragma {
namespace {

std::string StrategiesObject(const std::vector<Preset>& presets) {
  nlohmann::ordered_json value = {{"schema", kJsonSchema},
                                  {"strategies", nlohmann::ordered_json::array()}};
  for (const Preset& preset : presets) {
    value["strategies"].push_back({{"name", preset.name},
                                   {"summary", preset.summary},
                                   {"policy", preset.policy},
                                   {"history", preset.history},
                                   {"conductor", preset.conductor},
                                   {"profile", preset.profile},
                                   {"attempts", preset.attempts}});
  }
  return value.dump();
}

Result<int> Strategies(const Context& context) {
  const std::vector<Preset> presets = TRY(ListPresets(context.paths.strategies().string()));
  context.console.PrintJson(StrategiesObject(presets));
  Table table({{.title = "strategy"},
               {.title = "attempts", .align = Align::kRight},
               {.title = "what it does", .shrinks = true}});
  for (const Preset& preset : presets) {
    table.Add({{preset.name, Style::kBold},
               {std::to_string(preset.attempts)},
               {SafeLine(preset.summary)}});
  }
  context.console.Print(table.Render(context.console.out));
  return kExitGood;
}

}  // namespace

void AddStrategies(CLI::App& app, Registry& registry) {
  const CLI::App& command = AddCommand(app, registry, "strategies", "list the search strategies",
                                       "pragma strategies --json");
  registry.actions[&command] = Strategies;
}

}  // namespace pragma
