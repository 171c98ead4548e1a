#include "app/evidence_keeping.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "evidence/bundle.h"
#include "evidence/bundle_files.h"
#include "evidence/lineage.h"
#include "machine/machine.h"
#include "report/json_text.h"
#include "store/store.h"
#include "task/torch_server.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFinal = 0;  // used in place of a node for the best, measured again
constexpr std::size_t kShortName = 12;

std::string FigureKey(const std::string& run, int node) {
  return fmt::format("evidence/{}/{}", run, node);
}

// Returns the candidate that the trial was timed against: the best one before it.
const Candidate* BestBefore(const SearchTree& tree, const Trial& trial) {
  const Candidate* best = nullptr;
  for (const Trial& earlier : tree.trials()) {
    if (earlier.node < trial.node && earlier.best && earlier.candidate) best = &*earlier.candidate;
  }
  return best;
}

struct Place {
  int key = kFinal;  // kFinal, or the node
  int node = 0;
};

Result<void> Keep(Workbench& bench, Bundle bundle, Result<Lineage> lineage, const std::string& run,
                  const Place& place) {
  if (!lineage) return std::unexpected(lineage.error());
  bundle.lineage = std::move(*lineage);
  const SealedBundle sealed = Seal(bundle);
  if (auto kept = KeepBundle(sealed, EvidenceFolder(bench.home())); !kept)
    return std::unexpected(kept.error());
  return bench.store().PutFigure(FigureKey(run, place.key),
                                 Json{{"node", place.node}, {"sha256", sealed.sha256}}.dump());
}

void WarnUnless(const Result<void>& kept) {
  if (!kept) Log(LogLevel::kWarning, "no evidence is kept: " + kept.error().message);
}

// Returns the bundle that a figure names. The name is empty if the figure belongs to another node.
std::string NameIn(const std::string& figure, int node) {
  const Json value = Json::parse(figure, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object() || value.value("node", Json()) != node) return "";
  const Json name = value.value("sha256", Json());
  return name.is_string() ? name.get<std::string>() : "";
}

Result<std::string> NameAt(const Store& store, const std::string& run, const Place& place) {
  const std::optional<std::string> figure = TRY(store.GetFigure(FigureKey(run, place.key)));
  return figure ? NameIn(*figure, place.node) : "";
}

// Reads the files that the task's code read beside the task's own, so that it can be imported
// elsewhere. What a bundle cannot hold is named in a warning.
std::map<std::string, std::string> TaskFiles(const TorchServer& server) {
  std::map<std::string, std::string> files;
  std::size_t bytes = 0;
  for (const std::string& name : server.files()) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(server.folder() / name, ignored)) continue;
    Result<std::string> text = ReadFile(server.folder() / name, kMaxTaskBytes);
    if (text && bytes + text->size() <= kMaxTaskBytes && *text == ToValidUtf8(*text) &&
        IsTaskPath(name)) {
      bytes += text->size();
      files.emplace(name, std::move(*text));
    } else {
      Log(LogLevel::kWarning, "the evidence does not hold " + name +
                                  ", which the task reads: it is not text, or too large");
    }
  }
  return files;
}

}  // namespace

std::string SystemName() {
  utsname system{};
  if (::uname(&system) != 0) return "";
  return fmt::format("{} {} {}", system.sysname, system.release, system.machine);
}

BundleOptions OptionsOf(const Workbench& bench, const TaskBench& task) {
  const VerifyOptions& options = task.options();
  BundleOptions kept{.judging = options.judging,
                     .check_sets = options.check_sets,
                     .timing_budget_s = options.timing_budget.count()};
  kept.judging.threads = bench.machine().threads;
  return kept;
}

std::filesystem::path EvidenceFolder(const std::filesystem::path& home) {
  return home / "evidence";
}

Bundle MakeBundle(const Workbench& bench, const TaskBench& task, const Candidate& candidate,
                  const Candidate* against, const Evaluation& evaluation) {
  Bundle bundle{.pragma = PRAGMA_VERSION,
                .task_name = task.task().name,
                .task_source = task.task().source,
                .task_files = TaskFiles(task.server()),
                .kernel_header_sha256 = Sha256Hex(InterfaceText(task.task(), candidate.language)),
                .candidate = candidate,
                .against = {},
                .options = OptionsOf(bench, task),
                .machine = MachineToJson(bench.machine()),
                .system = SystemName(),
                .evaluation = evaluation,
                .lineage = {}};
  if (against != nullptr) bundle.against = *against;
  return bundle;
}

void KeepTrialEvidence(Workbench& bench, const TaskBench& task, const RunRecord& run,
                       const SearchTree& tree, const Trial& trial) {
  if (!trial.evaluation.passed() || !trial.candidate) return;
  WarnUnless(Keep(
      bench, MakeBundle(bench, task, *trial.candidate, BestBefore(tree, trial), trial.evaluation),
      MakeLineage(bench.store(), run, tree, trial), run.id,
      {.key = trial.node, .node = trial.node}));
}

void KeepFinalEvidence(Workbench& bench, const TaskBench& task, const RunRecord& run,
                       const SearchTree& tree, const Evaluation& evaluation) {
  const Trial& best = *tree.best();
  WarnUnless(Keep(bench, MakeBundle(bench, task, *best.candidate, nullptr, evaluation),
                  MakeLineage(bench.store(), run, tree, best), run.id,
                  {.key = kFinal, .node = best.node}));
}

Result<BundleNames> BundlesOf(const Store& store, const std::string& run, const SearchTree& tree) {
  BundleNames names;
  const auto look = [&](const Place& place) -> Result<void> {
    if (std::string name = TRY(NameAt(store, run, place)); !name.empty())
      names[place.key] = std::move(name);
    return {};
  };
  for (const Trial& trial : tree.trials()) {
    if (trial.evaluation.passed()) TRY(look({.key = trial.node, .node = trial.node}));
  }
  if (tree.best() != nullptr) TRY(look({.key = kFinal, .node = tree.best()->node}));
  return names;
}

Result<std::string> TrialBundle(const Store& store, const std::string& run, int node) {
  return NameAt(store, run, {.key = node, .node = node});
}

Result<std::string> BestBundle(const Store& store, const std::string& run, int best) {
  std::string name = TRY(NameAt(store, run, {.key = kFinal, .node = best}));
  if (!name.empty()) return name;
  return TrialBundle(store, run, best);
}

std::string EvidenceText(const std::string& sha256) {
  const std::string name = sha256.substr(0, kShortName);
  return name + "; judge it again: pragma recheck " + name;
}

}  // namespace pragma
