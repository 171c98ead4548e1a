// pragma strategies: the presets there are, and what one of them says.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "report/json_text.h"
#include "report/table.h"
#include "search/preset.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

Json ToObject(const Preset& preset) {
  Json value = {{"name", preset.name},           {"summary", preset.summary},
                {"policy", preset.policy},       {"history", preset.history},
                {"conductor", preset.conductor}, {"profile", preset.profile},
                {"attempts", preset.attempts},   {"settings", Json::object()}};
  for (const PresetSetting& setting : Explain(preset)) {
    if (setting.key != "family") value["settings"][setting.key] = setting.value;
  }
  value["families"] = Json::array();
  for (const Family& family : preset.families)
    value["families"].push_back({{"name", family.name}, {"about", family.about}});
  return value;
}

std::string ToText(const Context& context, const std::vector<Preset>& presets) {
  Table table({{.title = "strategy"},
               {.title = "attempts", .align = Align::kRight},
               {.title = "profile"},
               {.title = "what it does", .shrinks = true}});
  for (const Preset& preset : presets) {
    table.Add({{preset.name, Style::kBold},
               {std::to_string(preset.attempts)},
               {preset.profile ? "yes" : "no"},
               {SafeLine(preset.summary)}});
  }
  return table.Render(context.console.out) +
         "\npragma strategies NAME explains one. Copy its file and change it: --strategy my.toml\n";
}

std::string ToText(const Context& context, const Preset& preset) {
  Table table({{.title = "setting"}, {.title = "value"}, {.title = "meaning", .shrinks = true}});
  for (const PresetSetting& setting : Explain(preset))
    table.Add({{setting.key, Style::kBold}, {SafeLine(setting.value)}, {SafeLine(setting.about)}});
  return table.Render(context.console.out);
}

Result<int> Strategies(const Context& context, const std::string& name) {
  const std::string folder = context.paths.strategies().string();
  Json value = {{"schema", kJsonSchema}, {"strategies", Json::array()}};
  if (!name.empty()) {
    const Preset preset = TRY(LoadPreset(folder, name));
    value["strategies"].push_back(ToObject(preset));
    context.console.PrintJson(value.dump());
    context.console.Print(ToText(context, preset));
    return kExitGood;
  }
  const std::vector<Preset> presets = TRY(ListPresets(folder));
  for (const Preset& preset : presets) value["strategies"].push_back(ToObject(preset));
  context.console.PrintJson(value.dump());
  context.console.Print(ToText(context, presets));
  return kExitGood;
}

}  // namespace

void AddStrategies(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "strategies", "list the search strategies, or explain one",
                 "pragma strategies stark");
  const auto name = std::make_shared<std::string>();
  command.add_option("NAME|FILE", *name, "the strategy to explain");
  registry.actions[&command] = [name](const Context& context) {
    return Strategies(context, *name);
  };
}

}  // namespace pragma
