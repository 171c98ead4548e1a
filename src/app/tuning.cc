#include "app/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "app/settings.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "machine/machine.h"
#include "store/store.h"
#include "tune/space.h"
#include "tune/tuner.h"
#include "tune/variant_bench.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

// Store key for a source and its shapes on this machine with this compiler: with another one, the
// chosen variant may be slower than others or not build at all. The header's first line is left
// out: it names the task, and the time does not depend on that.
Result<std::string> TuningKey(const Workbench& bench, const TaskBench& task,
                              const Candidate& candidate) {
  const std::string compiler = TRY(bench.builder().CompilerIdentity(candidate.compiler));
  const std::string& header = task.header();
  const std::string shapes = header.substr(std::min(header.find('\n'), header.size()));
  const Machine& machine = bench.machine();
  return fmt::format("tuned/2/{}/{}/{}/{}/{}/{}", candidate.id(), Sha256Hex(shapes),
                     machine.fingerprint, Sha256Hex(compiler), machine.threads,
                     CacheStateName(task.options().judging.cache));
}

// Returns what an earlier tuning found. Returns nullopt if that tuning had less time than it wanted
// and less than there is now.
std::optional<Tuning> Recall(const Store& store, const std::string& key, const TuneChoice& choice) {
  const Result<std::optional<std::string>> kept = store.GetFigure(key);
  if (choice.again || !kept || !*kept) return std::nullopt;
  Result<Tuning> tuning = TuningFromJson(**kept);
  if (!tuning) return std::nullopt;
  if (!tuning->complete && tuning->limit_seconds < choice.limit.count()) return std::nullopt;
  tuning->recalled = true;
  return std::move(*tuning);
}

// Stores the tuning. If the default variant failed there is nothing to remember: it is judged
// again, and its verdict says why it failed.
void Keep(Store& store, const std::string& key, const Tuning& tuning) {
  if (tuning.variants.empty() || tuning.variants.front().status != Status::kPassed) return;
  const Result<void> saved = store.PutFigure(key, ToJson(tuning));
  if (!saved) Log(LogLevel::kWarning, "the tuning is not kept: " + saved.error().message);
}

Result<Tuning> FindTuning(Workbench& bench, TaskBench& task, const Candidate& candidate,
                          const TuneSpace& space, const TuneChoice& choice,
                          const Verifier::Progress& progress) {
  const std::string key = TRY(TuningKey(bench, task, candidate));
  if (std::optional<Tuning> known = Recall(bench.store(), key, choice)) return std::move(*known);
  VariantBench variants = TRY(task.OpenVariants());
  Tuning tuning =
      TRY(Tune(variants, candidate, space,
               {.limit = choice.limit, .build_threads = bench.machine().threads}, progress));
  Keep(bench.store(), key, tuning);
  return tuning;
}

Evaluation Rejected(const std::string& complaint) {
  Evaluation evaluation;
  evaluation.status = Status::kRejectedSource;
  evaluation.reason = complaint;
  evaluation.checks.push_back(
      {.name = "tunables", .verdict = CheckVerdict::kFail, .detail = complaint});
  return evaluation;
}

}  // namespace

TuneChoice TuneWish::choice() const {
  return {.limit = Seconds{limit.empty() ? 0 : ParseDuration(limit).value_or(0)}, .again = again};
}

Result<Evaluation> EvaluateTuned(Workbench& bench, TaskBench& task, Candidate& candidate,
                                 const TunedMeasure& how, const Verifier::Progress& progress) {
  const auto plain = [&] { return task.Evaluate(candidate, how.best, how.measure, progress); };
  if (how.tune.limit <= Seconds{0} || candidate.language != Language::kCpp || task.task().random)
    return plain();
  const Result<TuneSpace> space = ReadTuneSpace(candidate);
  if (!space) return Rejected(space.error().message);
  if (!space->open() || HasChoices(candidate, *space)) return plain();
  const TimePoint start = SystemClock().Now();
  Tuning tuning = TRY(FindTuning(bench, task, candidate, *space, how.tune, progress));
  const double tuning_ms = Seconds(SystemClock().Now() - start).count() * 1e3;
  candidate = ChosenBy(tuning, candidate);
  Evaluation evaluation = TRY(plain());
  evaluation.checks.push_back(
      {.name = "tune", .verdict = CheckVerdict::kNote, .detail = TuningSummary(tuning)});
  evaluation.phases_ms["tune"] = tuning_ms;
  evaluation.tuning = std::move(tuning);
  return evaluation;
}

}  // namespace pragma
