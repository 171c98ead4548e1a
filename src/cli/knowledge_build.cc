// pragma knowledge build lets a model turn documents into entries.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "app/settings.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "cli/knowledge_commands.h"
#include "cli/knowledge_text.h"
#include "knowledge/build.h"
#include "knowledge/cache.h"
#include "knowledge/entry.h"
#include "llm/model.h"
#include "llm/prompt.h"
#include "report/phase_line.h"
#include "report/terminal.h"

namespace pragma {
namespace {

constexpr Seconds kBetweenLines{5};

struct BuildWish {
  std::vector<std::string> sources;
  std::string model;
  std::string out = "knowledge-built.toml";
  int depth = 2;
  std::size_t pages = 40;
  std::string pause = "1s";
  std::size_t segment_bytes = 6000;
};

// BuildLine shows the current step. On a terminal it redraws one line, elsewhere it writes a line
// every few seconds.
class BuildLine final {
 public:
  BuildLine(const Console& console, Clock& clock)
      : console_(console), clock_(clock), line_(console.err), last_(clock.Now()) {}
  void Show(const std::string& what) {
    line_.Show(what);
    if (console_.err.interactive || clock_.Now() - last_ < kBetweenLines) return;
    last_ = clock_.Now();
    console_.Note(SafeLine(what));
  }

 private:
  const Console& console_;
  Clock& clock_;
  PhaseLine line_;
  TimePoint last_;
};

Result<BuildOptions> OptionsOf(const BuildWish& wish, const Context& context) {
  BuildOptions options{.sources = wish.sources,
                       .segment_bytes = wish.segment_bytes,
                       .crawl = {.depth = wish.depth,
                                 .pages = wish.pages,
                                 .pause = Seconds(TRY(ParseDuration(wish.pause)))},
                       .model = wish.model.empty() ? context.app.settings.model : wish.model};
  if (!options.model.empty()) return options;
  return Fail(ErrorKind::kUsage,
              "no model to read with: name one with --model, as openai:NAME, responses:NAME, "
              "anthropic:NAME, "
              "command:'CMD', handoff:DIR or replay:FILE");
}

// Checks before the model is asked for anything that the result can be written to `out`.
Result<void> CheckOut(const std::filesystem::path& out) {
  std::error_code error;
  const std::filesystem::path folder = out.has_parent_path() ? out.parent_path() : ".";
  if (std::filesystem::is_directory(out, error) || !std::filesystem::is_directory(folder, error)) {
    return Fail(ErrorKind::kUsage, "cannot write " + out.string() + ": " +
                                       (std::filesystem::is_directory(out, error)
                                            ? "it is a folder"
                                            : "there is no folder " + folder.string()));
  }
  return {};
}

Result<Built> RunBuild(const BuildOptions& options, const Context& context) {
  const Compendium known = TRY(LoadCompendium(context.app.paths.knowledge()));
  const PromptLibrary prompts = TRY(PromptLibrary::Load(context.app.paths.prompts()));
  SystemClock clock;
  const std::unique_ptr<Model> model =
      TRY(MakeModel(options.model, context.app.settings.ModelOptionsOf(options.model), clock));
  KnowledgeCache cache = TRY(KnowledgeCache::Open(context.app.home));
  BuildLine line(context.console, clock);
  return BuildKnowledge(options,
                        {.model = *model,
                         .prompts = prompts,
                         .cache = cache,
                         .known = known,
                         .clock = clock,
                         .progress = [&line](const std::string& what) { line.Show(what); }});
}

Result<int> Build(const Context& context, const BuildWish& wish) {
  const BuildOptions options = TRY(OptionsOf(wish, context));
  TRY(CheckOut(wish.out));
  const Built built = TRY(RunBuild(options, context));
  TRY(WriteFileAtomic(wish.out, BuiltToml(built, options)));
  context.console.PrintJson(BuildObject(built.report, wish.out));
  context.console.Print(BuildText(context.console.out, built.report, wish.out));
  return kExitGood;
}

void AddLimits(CLI::App& command, BuildWish& wish) {
  command
      .add_option("--depth", wish.depth, "depth of links to follow from an address (default: 2)")
      ->type_name("N")
      ->check(CLI::Range(0, 100))
      ->group("Addresses");
  command
      .add_option("--pages", wish.pages,
                  "maximum number of pages to read from an address (default: 40)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000))
      ->group("Addresses");
  command.add_option("--pause", wish.pause, "pause between two pages (default: 1s)")
      ->type_name("TIME")
      ->check(DurationComplaint)
      ->group("Addresses");
}

}  // namespace

void AddKnowledgeBuild(CLI::App& knowledge, Registry& registry) {
  CLI::App& command =
      AddCommand(knowledge, registry, "build", "let a model write entries from documents",
                 "pragma knowledge build --from man:perf-stat --from https://host/docs/ --model "
                 "openai:NAME");
  const auto wish = std::make_shared<BuildWish>();
  command
      .add_option(
          "--from", wish->sources,
          "man:NAME, a text or HTML file, or an address whose section is read; may be repeated")
      ->type_name("SOURCE")
      ->required();
  command
      .add_option(
          "--model", wish->model,
          "openai:NAME, responses:NAME, anthropic:NAME, command:'CMD', handoff:DIR, replay:FILE")
      ->type_name("SPEC");
  command.add_option("--out", wish->out, "file to write (default: knowledge-built.toml)")
      ->type_name("FILE");
  command
      .add_option("--segment-bytes", wish->segment_bytes,
                  "length of the text for one model call (default: 6000)")
      ->type_name("N")
      ->check(CLI::Range(500, 100000));
  AddLimits(command, *wish);
  registry.actions[&command] = [wish](const Context& context) { return Build(context, *wish); };
}

}  // namespace pragma
