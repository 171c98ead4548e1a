// pragma doctor prints what this machine can do, and what to install for the rest.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/doctor_checks.h"
#include "core/json_dump.h"
#include "report/json_text.h"
#include "report/table.h"

namespace pragma {
namespace {

std::string_view StateName(ItemState state) {
  switch (state) {
    case ItemState::kOk: return "ok";
    case ItemState::kLimited: return "limited";
    case ItemState::kMissing: return "missing";
  }
  return "missing";
}

Style StateStyle(ItemState state) {
  switch (state) {
    case ItemState::kOk: return Style::kGood;
    case ItemState::kLimited: return Style::kWarn;
    case ItemState::kMissing: return Style::kBad;
  }
  return Style::kPlain;
}

bool Blocks(const DoctorItem& item) { return item.needed && item.state == ItemState::kMissing; }

std::string DoctorObject(const std::vector<DoctorItem>& items) {
  nlohmann::ordered_json value = {{"schema", kJsonSchema},
                                  {"ready", std::ranges::none_of(items, Blocks)},
                                  {"items", nlohmann::ordered_json::array()}};
  for (const DoctorItem& item : items) {
    value["items"].push_back({{"item", item.name},
                              {"state", StateName(item.state)},
                              {"detail", SafeLine(item.detail)},
                              {"remedy", item.remedy},
                              {"needed", item.needed}});
  }
  return Dump(value);
}

std::string DoctorText(const Terminal& terminal, const std::vector<DoctorItem>& items) {
  Table table({{.title = "item"}, {.title = "state"}, {.title = "detail", .shrinks = true}});
  std::string remedies;
  for (const DoctorItem& item : items) {
    table.Add({{item.name},
               {std::string(StateName(item.state)), StateStyle(item.state)},
               {SafeLine(item.detail)}});
    if (!item.remedy.empty()) {
      remedies += "  " + item.name + (item.needed ? " (needed)" : "") + ": " + item.remedy + "\n";
    }
  }
  std::string text = table.Render(terminal);
  if (!remedies.empty()) text += "\nTo get the rest:\n" + remedies;
  const bool ready = std::ranges::none_of(items, Blocks);
  return text + (ready ? "\nThis machine is ready for work on the CPU.\n"
                       : "\nSomething that work on the CPU needs is missing.\n");
}

Result<int> Doctor(const Context& context) {
  const std::vector<DoctorItem> items = ExamineMachine(context.app.paths, context.app.home);
  context.console.PrintJson(DoctorObject(items));
  context.console.Print(DoctorText(context.console.out, items));
  return std::ranges::none_of(items, Blocks) ? kExitGood : kExitTrouble;
}

}  // namespace

void AddDoctor(CLI::App& app, Registry& registry) {
  const CLI::App& command = AddCommand(
      app, registry, "doctor", "check what this machine supports and what to install for the rest",
      "pragma doctor");
  registry.actions[&command] = Doctor;
}

}  // namespace pragma
