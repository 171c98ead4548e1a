// Declares what the commands share: the common flags, the console, and how a command is registered.
// Only the .cc files that register flags include CLI11.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "report/terminal.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pragma {

// The program's exit codes (docs/design.md 1).
inline constexpr int kExitGood = 0;
inline constexpr int kExitRejected = 1;      // the candidate did not pass; no best was found
inline constexpr int kExitUsage = 2;         // usage or task error
inline constexpr int kExitTrouble = 3;       // trouble of pragma itself
inline constexpr int kExitInconclusive = 4;  // recheck: other programs disturbed the measurement
inline constexpr int kExitInterrupted = 130;
[[nodiscard]] int ExitCodeOf(ErrorKind kind);

// Flags that every command takes.
struct CommonFlags {
  bool json = false;
  std::string home;
  std::string config;
  std::string python;
  std::string jail;
};

// Where a command writes: results go to stdout, everything else to stderr.
struct Console {
  Terminal out;
  Terminal err;
  bool json = false;
  // With --json, PrintJson prints one object and Print nothing. Without it, only Print prints.
  void Print(std::string_view text) const;
  void PrintJson(std::string_view object) const;
  // Writes a line to stderr, for people.
  void Note(std::string_view line) const;
};

// Everything that a command is given besides its own flags.
struct Context {
  CommonFlags flags;
  AppContext app;
  Console console;
};

// An action runs a command. Its value is the exit code.
using Action = std::function<Result<int>(const Context&)>;

// The commands by name, filled in as they register.
struct Registry {
  CommonFlags common;
  std::map<const CLI::App*, Action> actions;
};

// Adds the subcommand with the common flags, and with the example that --help shows.
CLI::App& AddCommand(CLI::App& app, Registry& registry, const std::string& name,
                     const std::string& summary, const std::string& example);

void AddOptimize(CLI::App& app, Registry& registry);
void AddModel(CLI::App& app, Registry& registry);
void AddEvaluate(CLI::App& app, Registry& registry);
void AddProfile(CLI::App& app, Registry& registry);
void AddDiagnose(CLI::App& app, Registry& registry);
void AddLint(CLI::App& app, Registry& registry);
void AddBench(CLI::App& app, Registry& registry);
void AddShow(CLI::App& app, Registry& registry);
void AddRuns(CLI::App& app, Registry& registry);
void AddResume(CLI::App& app, Registry& registry);
void AddRecheck(CLI::App& app, Registry& registry);
void AddReplay(CLI::App& app, Registry& registry);
void AddExport(CLI::App& app, Registry& registry);
void AddReport(CLI::App& app, Registry& registry);
void AddDoctor(CLI::App& app, Registry& registry);
void AddKnowledge(CLI::App& app, Registry& registry);
void AddServe(CLI::App& app, Registry& registry);
void AddStrategies(CLI::App& app, Registry& registry);

}  // namespace pragma
