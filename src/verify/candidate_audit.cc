#include "verify/candidate_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "machine/machine.h"
#include "verify/bounds.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {
namespace {

// A candidate is audited if it is faster than eager by this factor, or this close to the bound
// where eager is not.
constexpr double kAuditedSpeedup = 10;
constexpr double kAuditedShareOfBound = 0.8;
// Two honest measurements of one kernel differ by less than this factor.
constexpr double kAuditAgreement = 1.25;

bool NearBound(const Evaluation& evaluation, double ms) {
  return evaluation.lower_bound_ms && *evaluation.lower_bound_ms > kAuditedShareOfBound * ms;
}

// Returns why the figures call for a second look. Empty: they do not.
std::string Suspicion(const AuditSubject& subject, const Evaluation& evaluation) {
  if (evaluation.speedup_eager && evaluation.speedup_eager->median > kAuditedSpeedup)
    return fmt::format("{:.1f} times as fast as eager", evaluation.speedup_eager->median);
  const double measured = evaluation.timing->ms.median;
  const bool as_eager = evaluation.eager && NearBound(evaluation, evaluation.eager->ms.median);
  if (NearBound(evaluation, measured) && !as_eager)
    return fmt::format("{:.0f} % of the hard bound", 100 * *evaluation.lower_bound_ms / measured);
  if (SoftBoundMs(subject.task, subject.machine) > measured)
    return "fewer operations than the task as written";
  return {};
}

void KeepSlower(Judging& judging, const Evaluation& again, const std::string& why) {
  Evaluation& evaluation = judging.evaluation;
  const double first = evaluation.speedup_eager->median;
  const double second = again.speedup_eager->median;
  const bool agree = std::max(first, second) <= kAuditAgreement * std::min(first, second);
  judging.Note("audit", agree ? CheckVerdict::kPass : CheckVerdict::kNote,
               fmt::format("{}; with new seeds {:.2f} times as fast as eager, before {:.2f}", why,
                           second, first));
  if (agree || second >= first) return;
  evaluation.timing = again.timing;
  evaluation.eager = again.eager;
  evaluation.speedup_eager = again.speedup_eager;
  evaluation.samples = again.samples;
}

}  // namespace

Result<void> AuditCandidate(const AuditSubject& subject, const Judges& judges, Judging& judging,
                            const VerifyProgress& progress) {
  Evaluation& evaluation = judging.evaluation;
  const std::string why = Suspicion(subject, evaluation);
  if (why.empty()) return {};
  if (progress) progress("audit");
  Judging again{.evaluation = {.status = Status::kPassed},
                .kernel = judging.kernel,
                .seed = DeriveSeed(judging.seed, "audit")};
  again.rng = Rng(again.seed);
  TRY(judges.check(again));
  if (!again.failed()) TRY(judges.time(again));
  for (const auto& [phase, ms] : again.evaluation.phases_ms) evaluation.phases_ms["audit"] += ms;
  if (again.failed()) {
    judging.Note("audit", CheckVerdict::kFail, why);
    judging.Reject(again.evaluation.status,
                   "failed its audit (" + why + "): " + again.evaluation.reason);
    if (again.evaluation.error) evaluation.error = again.evaluation.error;
    return {};
  }
  KeepSlower(judging, again.evaluation, why);
  return {};
}

}  // namespace pragma
