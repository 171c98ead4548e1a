#include "app/whole_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/context.h"
#include "app/evidence_keeping.h"
#include "app/islands.h"
#include "app/part_search.h"
#include "app/proof.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "core/islands.h"
#include "core/json_writer.h"
#include "core/timing.h"
#include "evidence/bundle_files.h"
#include "export/package.h"
#include "task/island_cut.h"
#include "task/whole_model_server.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr double kPartForParts = 0.55;  // of the time that is left; the rest is for the proof
// A part is not tried with less time, because its reference would hardly be ready by then.
constexpr Seconds kLeastForPart{8};
constexpr std::string_view kPackage = "package";         // of the staging folder
constexpr std::string_view kManifest = "manifest.json";  // of a package
constexpr std::string_view kEvidence = "evidence";       // folder of a package
// What a package consists of. Whatever else is in its folder is the user's.
constexpr std::array kContents{kManifest,
                               kEvidence,
                               std::string_view("lib"),
                               std::string_view("source"),
                               std::string_view("units"),
                               std::string_view("pragma_kernels"),
                               std::string_view("constants.pt"),
                               std::string_view("report.html")};

// Fails with kUsage if the folder has something in it that `pragma` did not write.
Result<void> CheckFolder(const fs::path& out) {
  std::error_code error;
  if (!fs::exists(out, error) || fs::exists(out / kManifest, error)) return {};
  if (fs::is_directory(out, error) && fs::is_empty(out, error)) return {};
  return Fail(ErrorKind::kUsage, out.string() +
                                     ": exists and is not a package of kernels; choose "
                                     "another folder with --out");
}

// The server lets everybody write its files, since a jail may run as another user. Libraries that
// a user loads must not stay so.
Result<void> CloseToOthers(const fs::path& folder) {
  std::error_code error;
  const fs::perms others = fs::perms::group_write | fs::perms::others_write;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    fs::permissions(entry.path(), others, fs::perm_options::remove, error);
    if (error) break;
  }
  if (error) return Fail("cannot close " + folder.string() + ": " + error.message());
  return {};
}

class WholeModelSearch final {
 public:
  WholeModelSearch(const AppContext& context, Workbench& bench, const WholeModelWish& wish,
                   const WholeModelObserver& observer, TempDir staging)
      : context_(context),
        bench_(bench),
        wish_(wish),
        observer_(observer),
        staging_(std::move(staging)) {}

  Result<WholeModelOutcome> Run();

 private:
  Result<WholeModelServer> StartServer() const {
    return WholeModelServer::Start(bench_.jail(), bench_.torch_options(), wish_.file,
                                   staging_.path());
  }
  Result<void> SearchAll();
  std::vector<PartWork*> ChooseTried();
  Result<void> Search(PartWork& work, const Deadline& deadline);
  Result<void> SearchWhole(PartWork& work, TaskBench& opened, const fs::path& file,
                           const Deadline& deadline);
  Result<void> SearchIslands(PartWork& work, TaskBench& opened, const Deadline& deadline);
  Result<fs::path> TaskFile(const PartWork& work) const;
  [[nodiscard]] std::vector<const PartWork*> ByGain() const;
  Result<void> Pack(WholeModelServer& server, const std::vector<const PartWork*>& parts);
  Result<ModelProof> Prove(const ProvedUnits& units) const;
  Result<void> Keep(WholeModelServer& server);
  Result<void> Deliver() const;
  Result<void> CopyEvidence(const PartWork& work) const;

  const AppContext& context_;
  Workbench& bench_;
  const WholeModelWish& wish_;
  const WholeModelObserver& observer_;
  TempDir staging_;  // where kernels are packed and proved; only what is kept goes to the user
  WholeModelOutcome outcome_;
};

Result<WholeModelOutcome> WholeModelSearch::Run() {
  WholeModelServer captured = TRY(StartServer());
  outcome_.torch = captured.torch_version();
  outcome_.model = TRY(captured.Capture(wish_.deadline, observer_.on_phase));
  for (const ModelPart& part : outcome_.model.parts) {
    PartWork& work = outcome_.parts.emplace_back();
    work.part = part;
    work.name = fmt::format("u{}", outcome_.parts.size());
    work.share = outcome_.model.seconds > 0 ? part.seconds / outcome_.model.seconds : 0;
    work.outcome = part.refusal;
  }
  if (observer_.on_captured) observer_.on_captured(outcome_);
  TRY(SearchAll());
  const std::vector<const PartWork*> parts = ByGain();
  if (parts.empty()) return std::move(outcome_);
  TRY(Pack(captured, parts));
  ProvedUnits units;
  for (const PartWork* work : parts)
    (work->part.compiled ? units.compiled : units.eager).push_back(work->name);
  outcome_.proof = TRY(Prove(units));
  TRY(Keep(captured));
  if (!outcome_.proof->kept.empty()) TRY(Deliver());
  return std::move(outcome_);
}

Result<ModelProof> WholeModelSearch::Prove(const ProvedUnits& units) const {
  WholeModelServer fresh = TRY(StartServer());
  const ProofServer server{
      .ask =
          [&](JsonWriter& request, const std::string& what, const Deadline& deadline) {
            return fresh.Ask(request, what, deadline, observer_.on_phase);
          },
      .restart = [&]() -> Result<void> {
        fresh = TRY(StartServer());
        return {};
      }};
  Result<ModelProof> proof = ProveModel(server, units, wish_.compile_baseline, wish_.deadline);
  if (proof || wish_.deadline.Left() > Seconds{0}) return proof;
  return Fail(proof.error().kind,
              fmt::format("no time was left to prove the whole model, so no kernel is kept ({}); "
                          "give it more with --time",
                          proof.error().message));
}

// Chooses the parts that take most time, and the forms in which torch.compile calls these.
std::vector<PartWork*> WholeModelSearch::ChooseTried() {
  std::vector<PartWork*> tried;
  std::set<std::string> paths;
  std::size_t parts = 0;
  for (PartWork& work : outcome_.parts) {
    if (!work.outcome.empty()) continue;
    if (work.part.compiled && !wish_.compile_baseline) {
      work.outcome = "not tried: only torch.compile calls it so";
    } else if (work.part.compiled ? !paths.contains(work.part.paths.front())
                                  : parts >= wish_.most_parts) {
      work.outcome = fmt::format("not tried: {} parts take more time", wish_.most_parts);
    } else {
      tried.push_back(&work);
      paths.insert(work.part.paths.begin(), work.part.paths.end());
      if (!work.part.compiled) ++parts;
    }
  }
  return tried;
}

// A part gets the part of the time that its share is of those not tried yet, so what one does not
// use is left to the next.
Result<void> WholeModelSearch::SearchAll() {
  const Deadline all = wish_.deadline.Part(kPartForParts);
  const std::vector<PartWork*> tried = ChooseTried();
  double rest = 0;
  for (const PartWork* work : tried) rest += work->share;
  std::size_t number = 0;
  for (PartWork* work : tried) {
    if (observer_.on_part) observer_.on_part(*work, number++, tried.size());
    if (all.Left() < kLeastForPart) {
      work->outcome = "no time to try it";
    } else {
      TRY(Search(*work, all.Part(std::min(1.0, work->share / rest)).AtLeast(kLeastForPart)));
    }
    rest -= work->share;
  }
  return {};
}

// Writes the part's task where its runs and evidence can find it later.
Result<fs::path> WholeModelSearch::TaskFile(const PartWork& work) const {
  const fs::path folder = bench_.home() / "models" / outcome_.model.name;
  TRY(MakeDirectories(folder));
  const std::string hash = Sha256Hex(work.part.source).substr(0, 12);
  const fs::path file =
      folder / fmt::format("{}_{}_{}.py", outcome_.model.name, work.part.kind, hash);
  TRY(WriteFileAtomic(file, work.part.source));
  return file;
}

Result<void> WholeModelSearch::Search(PartWork& work, const Deadline& deadline) {
  const fs::path file = TRY(TaskFile(work));
  const Result<std::unique_ptr<TaskBench>> opened = OpenPart(bench_, file, wish_.part, deadline);
  if (!opened && opened.error().kind == ErrorKind::kTask) {
    work.outcome = opened.error().message;
    return {};
  }
  if (!opened) return std::unexpected(opened.error());
  if (NeedsIslands(wish_.part.choice, wish_.part.judging, (*opened)->task()))
    return SearchIslands(work, **opened, deadline);
  return SearchWhole(work, **opened, file, deadline);
}

Result<void> WholeModelSearch::SearchWhole(PartWork& work, TaskBench& opened, const fs::path& file,
                                           const Deadline& deadline) {
  PartFound found =
      TRY(SearchPart(context_, bench_, opened, file, wish_.part, deadline, observer_.search));
  work.runs.push_back(found.run);
  if (!found.bundle.empty()) work.bundles.push_back(found.bundle);
  work.outcome = std::move(found.outcome);
  work.speedup = found.speedup;
  if (found.candidate) work.kernels = WholePart(opened.task(), opened.header(), *found.candidate);
  return {};
}

// Returns how much faster the part is if its islands are as much faster as they were alone.
Interval Estimated(const std::vector<IslandWork>& islands, const std::vector<std::size_t>& kept) {
  double saved = 0;
  for (const std::size_t i : kept) saved += islands[i].share * (1 - 1 / islands[i].speedup->median);
  const double factor = 1 / std::max(1e-3, 1 - saved);
  return {.median = factor, .low = factor, .high = factor};
}

Result<void> WholeModelSearch::SearchIslands(PartWork& work, TaskBench& opened,
                                             const Deadline& deadline) {
  const IslandsWish wish{.part = wish_.part, .deadline = deadline, .candidates = false};
  IslandsOutcome found = TRY(OptimizeIslands(context_, bench_, opened, wish,
                                             {.on_island = {}, .search = observer_.search}));
  for (const IslandWork& island : found.islands)
    if (!island.run.empty()) work.runs.push_back(island.run);
  const std::vector<std::size_t> kept = IslandsByGain(found.islands);
  if (kept.empty()) {
    work.outcome =
        found.refusal.empty() ? "no kernel of a part of it is faster than Torch" : found.refusal;
    return {};
  }
  PartKernels kernels{.task = opened.task(), .kernels = {}, .order = {}, .whole = false};
  std::vector<Island> islands;
  for (const std::size_t i : kept) {
    islands.push_back(found.islands[i].island);
    kernels.kernels.push_back(*found.islands[i].kernel);
    if (!found.islands[i].bundle.empty()) work.bundles.push_back(found.islands[i].bundle);
  }
  kernels.order = TRY(ArrangeIslands(opened.server(), islands));
  work.speedup = Estimated(found.islands, kept);
  work.kernels = std::move(kernels);
  return {};
}

// Returns the parts with a faster kernel, those first that save most of the model's time.
std::vector<const PartWork*> WholeModelSearch::ByGain() const {
  std::vector<std::pair<double, const PartWork*>> gains;
  for (const PartWork& work : outcome_.parts)
    if (work.kernels && work.outcome.empty() && work.speedup)
      gains.emplace_back(work.share * (1 - 1 / work.speedup->median), &work);
  std::ranges::stable_sort(gains, std::greater{}, &std::pair<double, const PartWork*>::first);
  std::vector<const PartWork*> parts;
  for (const auto& [gain, work] : gains) parts.push_back(work);
  return parts;
}

Result<void> WholeModelSearch::Pack(WholeModelServer& server,
                                    const std::vector<const PartWork*>& parts) {
  PackageRequest package{.model = outcome_.model.name,
                         .threads = bench_.machine().threads,
                         .device = bench_.torch_options().device,
                         .parts = {}};
  for (const PartWork* work : parts)
    package.parts.push_back({.name = work->name, .part = &work->part, .kernels = &*work->kernels});
  const std::string text = TRY(PackageText(package, bench_.builder()));
  JsonWriter request = WholeModelRequest("pack");
  request.Key("request").Raw(text);
  TRY(server.Ask(request, "packing the kernels", wish_.deadline, observer_.on_phase));
  return {};
}

// Leaves in the folder only what is kept.
Result<void> WholeModelSearch::Keep(WholeModelServer& server) {
  JsonWriter request = WholeModelRequest("keep");
  request.Field("units", outcome_.proof->kept);
  TRY(server.Ask(request, "keeping what makes the model faster", Deadline(), observer_.on_phase));
  for (PartWork& work : outcome_.parts) {
    const auto taken = outcome_.proof->taken.find(work.name);
    if (taken != outcome_.proof->taken.end()) work.outcome = taken->second;
  }
  return {};
}

// Puts the package where the user wants it, in place of an earlier one.
Result<void> WholeModelSearch::Deliver() const {
  std::error_code error;
  for (const std::string_view name : kContents) fs::remove_all(wish_.out / name, error);
  TRY(MakeDirectories(wish_.out));
  fs::copy(staging_.path() / kPackage, wish_.out, fs::copy_options::recursive, error);
  if (error) return Fail("cannot write " + wish_.out.string() + ": " + error.message());
  TRY(CloseToOthers(wish_.out));
  TRY(MakeDirectories(wish_.out / kEvidence));
  for (const PartWork& work : outcome_.parts)
    if (work.outcome.empty()) TRY(CopyEvidence(work));
  return {};
}

Result<void> WholeModelSearch::CopyEvidence(const PartWork& work) const {
  for (const std::string& sha256 : work.bundles) {
    const fs::path bundle = TRY(FindBundle(EvidenceFolder(bench_.home()), sha256));
    std::error_code error;
    fs::copy(bundle, wish_.out / kEvidence / (work.name + "-" + bundle.filename().string()), error);
    if (error) return Fail("cannot copy " + bundle.string() + ": " + error.message());
  }
  return {};
}

}  // namespace

Result<WholeModelOutcome> OptimizeWholeModel(const AppContext& context, Workbench& bench,
                                             const WholeModelWish& wish,
                                             const WholeModelObserver& observer) {
  TRY(CheckFolder(wish.out));
  return WholeModelSearch(context, bench, wish, observer, TRY(TempDir::Create())).Run();
}

}  // namespace pragma
