// pragma strategies lists the presets, and shows what one of them contains.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "cli/command.h"
#include "core/enum_names.h"
#include "report/json_text.h"
#include "report/table.h"
#include "search/preset.h"
#include "search/recording.h"
#include "search/simulation.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

Json ToObject(const Preset& preset) {
  Json value = {{"name", preset.name},
                {"summary", preset.summary},
                {"policy", EnumName(preset.policy)},
                {"history", EnumName(preset.history)},
                {"conductor", preset.conductor},
                {"profile", preset.profile},
                {"attempts", preset.attempts},
                {"settings", Json::object()}};
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

struct StrategiesFlags {
  std::vector<std::string> names;
  int simulate = 0;  // number of runs
  int attempts = 0;  // 0: the preset's own number
  int jobs = 1;
  std::vector<std::string> recordings;
};

std::string WithHalf(const Figure& figure, int digits) {
  return fmt::format("{:.{}f} ± {:.{}f}", figure.mean, digits, figure.half, digits);
}

Json FigureJson(const Figure& figure) { return {{"mean", figure.mean}, {"half95", figure.half}}; }

Json SimulatedJson(const std::string& world, const Preset& preset, int attempts,
                   const SimulatedFigures& figures) {
  return {{"world", world},
          {"strategy", preset.name},
          {"attempts", attempts},
          {"runs", figures.runs},
          {"success", FigureJson(figures.success)},
          {"speedup", FigureJson(figures.speedup)},
          {"roots", FigureJson(figures.roots)},
          {"improves", FigureJson(figures.improves)},
          {"repairs", FigureJson(figures.repairs)},
          {"depth", FigureJson(figures.depth)},
          {"best_at", FigureJson(figures.best_at)}};
}

// The seed is fixed, so that the figures differ only by strategy.
constexpr Seed kSimulationSeed{20261122, 1};

Result<int> SimulateAll(const Context& context, const std::vector<Preset>& presets,
                        const StrategiesFlags& flags) {
  Json value = {{"schema", kJsonSchema}, {"simulations", Json::array()}};
  std::vector<SimulatedWorld> worlds = StandardWorlds();
  std::vector<Recording> recordings;
  for (const std::string& file : flags.recordings) recordings.push_back(TRY(LoadRecording(file)));
  if (!recordings.empty()) worlds.push_back(WorldOf(recordings));
  for (const SimulatedWorld& world : worlds) {
    Table table({{.title = "strategy"},
                 {.title = "attempts", .align = Align::kRight},
                 {.title = "correct", .align = Align::kRight},
                 {.title = "speedup", .align = Align::kRight},
                 {.title = "from reference", .align = Align::kRight},
                 {.title = "improve", .align = Align::kRight},
                 {.title = "repair", .align = Align::kRight},
                 {.title = "depth", .align = Align::kRight}});
    for (const Preset& preset : presets) {
      const int attempts = flags.attempts > 0 ? flags.attempts : preset.attempts;
      const SimulatedFigures figures =
          SimulateMany(preset, world, attempts, flags.jobs, flags.simulate, kSimulationSeed);
      value["simulations"].push_back(SimulatedJson(world.name, preset, attempts, figures));
      table.Add({{preset.name, Style::kBold},
                 {std::to_string(attempts)},
                 {WithHalf(figures.success, 3)},
                 {WithHalf(figures.speedup, 3)},
                 {WithHalf(figures.roots, 1)},
                 {WithHalf(figures.improves, 1)},
                 {WithHalf(figures.repairs, 1)},
                 {WithHalf(figures.depth, 1)}});
    }
    context.console.Print(fmt::format("World \"{}\", {} runs each\n", world.name, flags.simulate) +
                          table.Render(context.console.out) + "\n");
  }
  context.console.PrintJson(value.dump());
  return kExitGood;
}

Result<int> Strategies(const Context& context, const StrategiesFlags& flags) {
  const std::string folder = context.app.paths.strategies().string();
  Json value = {{"schema", kJsonSchema}, {"strategies", Json::array()}};
  std::vector<Preset> presets;
  for (const std::string& name : flags.names) presets.push_back(TRY(LoadPreset(folder, name)));
  if (presets.empty()) presets = TRY(ListPresets(folder));
  if (flags.simulate > 0) return SimulateAll(context, presets, flags);
  for (const Preset& preset : presets) value["strategies"].push_back(ToObject(preset));
  context.console.PrintJson(value.dump());
  if (flags.names.empty()) context.console.Print(ToText(context, presets));
  for (const Preset& preset : presets) {
    if (!flags.names.empty()) context.console.Print(ToText(context, preset));
  }
  return kExitGood;
}

}  // namespace

void AddStrategies(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "strategies", "list, explain or simulate the search strategies",
                 "pragma strategies stark");
  const auto flags = std::make_shared<StrategiesFlags>();
  command.add_option("NAME|FILE", flags->names, "strategies to explain or simulate");
  command
      .add_option("--simulate", flags->simulate,
                  "simulate them with made-up authors and kernels, this many runs in each world")
      ->type_name("RUNS")
      ->check(CLI::Range(1, 1'000'000));
  command
      .add_option("--attempts", flags->attempts,
                  "attempts of a simulated run (default: the strategy's)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command.add_option("--jobs", flags->jobs, "concurrent attempts in a simulated run")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  command
      .add_option(
          "--recordings", flags->recordings,
          "recorded runs that define one more world, with the chances and changes found in them")
      ->type_name("FILE");
  registry.actions[&command] = [flags](const Context& context) {
    return Strategies(context, *flags);
  };
}

}  // namespace pragma
