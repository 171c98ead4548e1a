// pragma report writes a run or a benchmark as one HTML file.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/recorded_run.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "bench/file.h"
#include "cli/command.h"
#include "core/json_dump.h"
#include "core/search_tree.h"
#include "report/bench_page.h"
#include "report/html_page.h"
#include "report/json_text.h"
#include "report/run_page.h"
#include "store/store.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

struct ReportFlags {
  std::string what = "last";
  std::string html;
  bool full = false;
};

// The subject of the page, for --json: {"run": id} or {"bench": file}.
struct Subject {
  std::string kind;
  std::string name;
  PageContent content;
};

Result<Subject> RunSubject(const Context& context, const ReportFlags& flags) {
  const Store store = TRY(OpenExistingStore(context.app.home));
  const RecordedRun recorded = TRY(LoadRecordedRun(store, flags.what));
  const std::vector<CallRecord> calls = TRY(store.Calls(recorded.run.id));
  const RunPage page{.run = recorded.run,
                     .tree = recorded.tree,
                     .bundles = recorded.bundles,
                     .calls = calls,
                     .conversations = flags.full ? Conversations::kAll : Conversations::kBestPath};
  return Subject{.kind = "run", .name = recorded.run.id, .content = RunPageContent(page)};
}

Result<Subject> BenchSubject(const Context& context, const ReportFlags& flags) {
  BenchReport report = TRY(LoadBenchReport(flags.what));
  std::error_code ignored;
  if (fs::exists(context.app.home / "pragma.db", ignored)) {
    const Store store = TRY(Store::Open(context.app.home));
    FillFromStore(report, store);
  }
  return Subject{.kind = "bench", .name = flags.what, .content = BenchPageContent(report)};
}

bool NamesFile(const std::string& what) {
  std::error_code ignored;
  return what.ends_with(".json") || what.find('/') != std::string::npos ||
         fs::is_regular_file(what, ignored);
}

Result<int> Report(const Context& context, const ReportFlags& flags) {
  if (flags.html.empty())
    return Fail(ErrorKind::kUsage, "say where to write the page with --html FILE");
  const PageAssets assets = TRY(LoadPageAssets(context.app.paths.page_folders()));
  const Subject subject =
      TRY(NamesFile(flags.what) ? BenchSubject(context, flags) : RunSubject(context, flags));
  const std::string page = RenderPage(assets, subject.content);
  TRY(WriteFileAtomic(flags.html, page));
  const nlohmann::ordered_json object = {{"schema", kJsonSchema},
                                         {subject.kind, subject.name},
                                         {"html", flags.html},
                                         {"bytes", page.size()}};
  context.console.PrintJson(Dump(object));
  context.console.Print("report  " + flags.html + "  (" +
                        FormatBytes(static_cast<double>(page.size())) + ", " + subject.kind + " " +
                        subject.name + ")\n");
  return kExitGood;
}

}  // namespace

void AddReport(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(
      app, registry, "report", "write a run or a benchmark as one HTML page",
      "pragma report last --html run.html\n  pragma report bench.json --html bench.html");
  const auto flags = std::make_shared<ReportFlags>();
  command.add_option(
      "RUN|FILE", flags->what,
      "run id, 'last' (default), or a file with the output of `pragma bench --json`");
  command.add_option("--html", flags->html, "the page to write: one file that needs no network")
      ->type_name("FILE");
  command.add_flag(
      "--full", flags->full,
      "include the prompts and replies of every attempt, not only of those that led to the best");
  registry.actions[&command] = [flags](const Context& context) { return Report(context, *flags); };
}

}  // namespace pragma
