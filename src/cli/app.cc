#include "cli/app.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/paths.h"
#include "app/settings.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "report/json_text.h"
#include "report/terminal.h"

namespace pragma {
namespace {

constexpr const char* kVersion = PRAGMA_VERSION;

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> FlagNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string Suggestion(std::string_view word, const std::vector<std::string>& known,
                       const std::string& otherwise) {
  const std::string near = Nearest(word, known);
  return near.empty() ? otherwise : "did you mean '" + near + "'?";
}

// Returns the command that was named. For `pragma knowledge search` that is `search`.
const CLI::App* Chosen(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return nullptr;
  const CLI::App* inner = Chosen(*chosen.front());
  return inner == nullptr ? chosen.front() : inner;
}

// Returns the command as the user types it, for example "knowledge search".
std::string PathOf(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  const bool top = parent == nullptr || parent->get_parent() == nullptr;
  return (top ? "" : PathOf(*parent) + " ") + command.get_name();
}

// Returns the first word after the command `scope` (for the whole program: the first word) that is
// not a flag, if it does not name a subcommand of `scope`.
std::string UnknownCommand(const CLI::App& scope, int argc, char** argv) {
  const std::vector<std::string> known = CommandNames(scope);
  bool inside = scope.get_parent() == nullptr;
  for (int i = 1; i < argc && !known.empty(); ++i) {
    const std::string word = argv[i];
    if (word.starts_with("-")) continue;
    if (inside) return std::ranges::find(known, word) == known.end() ? word : "";
    inside = word == scope.get_name();
  }
  return "";
}

// Explains in one line why a command line cannot be parsed.
std::string Explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App* sub = Chosen(app);
  const CLI::App& scope = sub == nullptr ? app : *sub;
  const std::string help = "see pragma " + (sub == nullptr ? "" : PathOf(*sub) + " ") + "--help";
  const std::string command = UnknownCommand(scope, argc, argv);
  if (!command.empty()) {
    const std::string whole = sub == nullptr ? command : PathOf(*sub) + " " + command;
    return "unknown command '" + whole + "'; " + Suggestion(command, CommandNames(scope), help);
  }
  const std::vector<std::string> extras = scope.remaining(true);
  const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  if (unexpected && !extras.empty()) {
    const std::string word = extras.front().substr(0, extras.front().find('='));
    if (!word.starts_with("-")) return "unexpected argument '" + word + "'; " + help;
    return "unknown flag '" + word + "'; " + Suggestion(word, FlagNames(scope), help);
  }
  return SafeLine(error.what()) + "; " + help;
}

std::string HelpOf(const CLI::App& app, const CLI::App& sub) {
  const std::string path = PathOf(sub);
  const std::size_t space = path.rfind(' ');
  return sub.help(app.get_name() + (space == std::string::npos ? "" : " " + path.substr(0, space)));
}

// Returns the help text without the empty lines and the names of checks that CLI11 adds.
std::string TidyHelp(const CLI::App& app, const CLI::App* sub) {
  std::string text;
  for (const std::string& line : SplitLines(sub == nullptr ? app.help() : HelpOf(app, *sub))) {
    const std::size_t check = line.find(":POSITIVE");
    const std::string kept =
        check == std::string::npos
            ? line
            : line.substr(0, check) + std::string(9, ' ') + line.substr(check + 9);
    if (!kept.empty() || !text.ends_with("\n\n")) text += kept + "\n";
  }
  return text;
}

int Complain(const Console& console, const Error& error) {
  if (console.json) console.PrintJson(FailureObject(error));
  Log(LogLevel::kError, error.message);
  return ExitCodeOf(error.kind);
}

Result<int> RunChosen(const Registry& registry, const CLI::App& chosen, const Console& console) {
  Context context;
  context.flags = registry.common;
  context.console = console;
  context.app.settings = TRY(LoadSettings(registry.common.config));
  if (!registry.common.jail.empty()) context.app.settings.jail = registry.common.jail;
  context.app.paths = FindPaths(registry.common.python, context.app.settings.python);
  if (!context.app.settings.knowledge.empty())
    context.app.paths.own_knowledge = std::filesystem::absolute(context.app.settings.knowledge);
  context.app.home = !registry.common.home.empty()        ? registry.common.home
                     : !context.app.settings.home.empty() ? context.app.settings.home
                                                          : ".pragma";
  return registry.actions.at(&chosen)(context);
}

void AddCommands(CLI::App& app, Registry& registry) {
  AddOptimize(app, registry);
  AddModel(app, registry);
  AddEvaluate(app, registry);
  AddProfile(app, registry);
  AddDiagnose(app, registry);
  AddLint(app, registry);
  AddBench(app, registry);
  AddRecheck(app, registry);
  AddReplay(app, registry);
  AddResume(app, registry);
  AddRuns(app, registry);
  AddShow(app, registry);
  AddReport(app, registry);
  AddExport(app, registry);
  AddServe(app, registry);
  AddStrategies(app, registry);
  AddDoctor(app, registry);
  AddKnowledge(app, registry);
}

// Looks for --json among the words, so that errors can be JSON before the command line is parsed.
bool WantsJson(int argc, char** argv) {
  return std::any_of(argv, argv + argc,
                     [](const char* word) { return std::string_view(word) == "--json"; });
}

}  // namespace

int ExitCodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kTask: return kExitUsage;
    case ErrorKind::kInternal:
    case ErrorKind::kUnavailable:
    case ErrorKind::kTooLong:
    case ErrorKind::kTimeUp: return kExitTrouble;
    case ErrorKind::kInterrupted: return kExitInterrupted;
  }
  return kExitTrouble;
}

void Console::Print(std::string_view text) const {
  if (!json) std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Console::PrintJson(std::string_view object) const {
  if (!json) return;
  std::fwrite(object.data(), 1, object.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void Console::Note(std::string_view line) const { Log(LogLevel::kInfo, line); }

CLI::App& AddCommand(CLI::App& app, Registry& registry, const std::string& name,
                     const std::string& summary, const std::string& example) {
  CLI::App* sub = app.add_subcommand(name, summary);
  sub->footer("\nExample:\n  " + example);
  CommonFlags& common = registry.common;
  sub->add_flag("--json", common.json, "print one JSON object on stdout")->group("Common");
  sub->add_option("--home", common.home, "folder of the stored runs (default: .pragma)")
      ->type_name("DIR")
      ->group("Common");
  sub->add_option("--config", common.config, "settings file (default: pragma.toml)")
      ->type_name("FILE")
      ->group("Common");
  sub->add_option("--python", common.python, "Python interpreter that has torch")
      ->type_name("FILE")
      ->group("Common");
  sub->add_option("--jail", common.jail, "full or reduced; default: the best that works here")
      ->type_name("KIND")
      ->check(CLI::IsMember({"full", "reduced"}))
      ->group("Common");
  return *sub;
}

int RunProgram(int argc, char** argv) {
  CLI::App app("pragma: finds faster verified kernels for PyTorch modules", "pragma");
  Registry registry;
  app.set_version_flag("--version", std::string("pragma ") + kVersion);
  app.require_subcommand(1);
  app.footer("\nExample:\n  pragma optimize model.py --model anthropic:NAME");
  AddCommands(app, registry);
  Console console{DescribeTerminal(STDOUT_FILENO), DescribeTerminal(STDERR_FILENO),
                  WantsJson(argc, argv)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(TidyHelp(app, Chosen(app)).c_str(), stdout);
    return kExitGood;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --version
    return Complain(console, Error{ErrorKind::kUsage, Explain(app, error, argc, argv)});
  }
  console.json = registry.common.json;
  const Result<int> code = RunChosen(registry, *Chosen(app), console);
  return code ? *code : Complain(console, code.error());
}

}  // namespace pragma
