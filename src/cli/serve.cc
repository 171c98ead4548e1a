// pragma serve keeps references warm for `pragma evaluate` and other programs (docs/serve.md).
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/paths.h"
#include "app/settings.h"
#include "base/duration.h"
#include "base/local_socket.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "machine/machine.h"
#include "report/json_text.h"
#include "serve/loop.h"
#include "serve/protocol.h"
#include "serve/task_keeper.h"
#include "store/store.h"

namespace pragma {
namespace {

constexpr std::size_t kShareOfMemory = 4;  // the default is a quarter of the memory

struct ServeFlags {
  std::string socket;
  std::string idle = "10m";
  std::uint64_t memory = 0;  // bytes; 0: the default
  int tasks = 8;
  bool keep_task = false;
};

Result<ServeLimits> LimitsOf(const ServeFlags& flags) {
  ServeLimits limits{.idle = Seconds(TRY(ParseDuration(flags.idle))),
                     .tasks = static_cast<std::size_t>(flags.tasks)};
  limits.memory_bytes = flags.memory;
  if (flags.memory == 0) limits.memory_bytes = TRY(DescribeMachine()).memory_bytes / kShareOfMemory;
  return limits;
}

std::string Object(const std::filesystem::path& socket, const ServeSummary& summary) {
  return nlohmann::ordered_json{{"schema", kJsonSchema},
                                {"socket", socket.string()},
                                {"evaluations", summary.evaluations},
                                {"stopped", summary.interrupted ? "interrupted" : "idle"}}
      .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<int> Serve(const Context& context, const ServeFlags& flags) {
  if (flags.keep_task) {
    TRY(KeepTask(context.app));
    return kExitGood;
  }
  const ServeLimits limits = TRY(LimitsOf(flags));
  TRY(CheckPaths(context.app.paths));
  // Opening the store makes the folder, and reports at once what is wrong with it.
  static_cast<void>(TRY(Store::Open(context.app.home)));
  const std::filesystem::path socket =
      flags.socket.empty() ? ServeSocket(context.app.home) : std::filesystem::path(flags.socket);
  ServeLoop loop(context.app, context.flags.config, TRY(LocalListener::Create(socket)), limits);
  context.console.Note("serving on " + socket.string() + "; exits after " + flags.idle +
                       " idle, or on Ctrl-C");
  const ServeSummary summary = loop.Run();
  context.console.PrintJson(Object(socket, summary));
  context.console.Note(std::string(summary.interrupted ? "stopped" : "idle for too long") +
                       "; evaluations: " + std::to_string(summary.evaluations));
  return kExitGood;
}

}  // namespace

void AddServe(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "serve", "keep references warm, so that evaluate starts at once",
                 "pragma serve --idle 30m &\n  pragma evaluate model.py kernel.cpp");
  const auto flags = std::make_shared<ServeFlags>();
  command.add_option("--socket", flags->socket, "where to listen (default: serve.sock in --home)")
      ->type_name("PATH");
  command.add_option("--idle", flags->idle, "exit after this long idle (default: 10m)")
      ->type_name("TIME")
      ->check(DurationComplaint);
  command.add_option("--tasks", flags->tasks, "maximum number of warm tasks (default: 8)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--memory", flags->memory,
                  "maximum memory of all warm tasks, e.g. 4G (default: a quarter of the machine's)")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  // The server passes this flag to the process that it starts for each task. It is not for people.
  command.add_flag("--keep-task", flags->keep_task)->group("");
  registry.actions[&command] = [flags](const Context& context) { return Serve(context, *flags); };
}

}  // namespace pragma
