// pragma runs lists the runs in the store.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/evidence_keeping.h"
#include "app/recorded_run.h"
#include "base/result.h"
#include "cli/command.h"
#include "report/json_text.h"
#include "report/run_text.h"
#include "store/store.h"

namespace pragma {
namespace {

struct RunsFlags {
  int limit = 20;
};

Result<int> Runs(const Context& context, const RunsFlags& flags) {
  const Store store = TRY(OpenExistingStore(context.app.home));
  const std::vector<RunRecord> runs = TRY(store.ListRuns(flags.limit));
  context.console.PrintJson(RunsObject(runs));
  context.console.Print(runs.empty() ? "no runs yet\n" : RunsText(context.console.out, runs));
  return kExitGood;
}

}  // namespace

void AddRuns(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "runs", "list the stored runs", "pragma runs");
  const auto flags = std::make_shared<RunsFlags>();
  command.add_option("--limit", flags->limit, "number of runs, newest first (default: 20)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  registry.actions[&command] = [flags](const Context& context) { return Runs(context, *flags); };
}

}  // namespace pragma
