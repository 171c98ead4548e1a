#include "app/part_search.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "app/context.h"
#include "app/new_run.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/session.h"
#include "search/settings.h"
#include "verify/options.h"

namespace pragma {
namespace {

SearchPlan PlanFor(const PartWish& wish, const Workbench& bench, const TaskBench& part,
                   const Deadline& deadline) {
  SearchPlan plan{.settings = NewRunSettings(wish.choice, wish.judging, bench, part),
                  .budget = wish.choice.budget,
                  .compile_baseline = false,
                  .retune = wish.choice.tune.again,
                  .call = false,
                  .measure_again = false,
                  .deadline = deadline};
  // A profile is for the attempt after it.
  if (plan.budget.attempts == 1) plan.settings.preset.profile = false;
  return plan;
}

void Note(const SearchOutcome& outcome, PartFound& found) {
  const Trial* best = outcome.session.tree.best();
  const Evaluation* judged = ReportedBest(outcome);
  if (best == nullptr || judged == nullptr || !judged->passed()) {
    const Trial* last = outcome.session.tree.last();
    found.outcome = last == nullptr ? "no attempt" : last->evaluation.reason;
    return;
  }
  found.speedup = judged->speedup_eager;
  found.candidate = *best->candidate;
  if (found.speedup && found.speedup->median <= 1) found.outcome = "no faster than eager";
}

}  // namespace

Result<std::unique_ptr<TaskBench>> OpenPart(Workbench& bench, const std::filesystem::path& file,
                                            const PartWish& wish, const Deadline& deadline) {
  const VerifyOptions options{
      .judging = wish.judging, .deadline = deadline, .precision = Precision::kRough};
  return TaskBench::Open(bench, file, options, Measure::kEager);
}

Result<PartFound> SearchPart(const AppContext& context, Workbench& bench, TaskBench& part,
                             const std::filesystem::path& file, const PartWish& wish,
                             const Deadline& deadline, const SearchObserver& observer) {
  if (wish.lint) TRY(part.EnsureLint({}));
  SearchPlan plan = PlanFor(wish, bench, part, deadline);
  plan.run = TRY(StartRun(bench.store(), part.task(), file, plan.settings));
  const SearchOutcome outcome = TRY(RunSearch(context, bench, part, plan, observer));
  if (outcome.session.stopped == StopReason::kInterrupted)
    return Fail(ErrorKind::kInterrupted,
                fmt::format("interrupted while optimising {}: its attempts are kept (pragma show "
                            "{}), no kernel was put into the model",
                            part.task().name, plan.run.id));
  PartFound found{.run = plan.run.id, .bundle = outcome.bundle};
  Note(outcome, found);
  return found;
}

}  // namespace pragma
