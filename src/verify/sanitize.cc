#include "verify/sanitize.h"

#include <fmt/format.h>

#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "build/instrument.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "harness/instrumented_call.h"
#include "verify/judging.h"

namespace pragma {
namespace {

constexpr Seconds kLimit{60};
// A call that would take longer than this is not tried, because a search has better uses for its
// time.
constexpr Seconds kWorthwhile{30};

// Returns how much a sanitizer slows a kernel down. Measured on vectorised matrix products and
// convolutions; other kernels are slowed down less.
double Slowdown(Sanitizer sanitizer, int threads) {
  switch (sanitizer) {
    case Sanitizer::kMemory: return 160.0 * threads;  // memcheck runs the threads one by one
    case Sanitizer::kThread: return 30;
    case Sanitizer::kAddress: return 5;
  }
  return 1;
}

void Note(Evaluation& evaluation, Sanitizer sanitizer, CheckVerdict verdict, std::string detail) {
  evaluation.checks.push_back(
      {fmt::format("{}_sanitizer", SanitizerName(sanitizer)), verdict, std::move(detail)});
}

void Judge(Evaluation& evaluation, Sanitizer sanitizer, SanitizerOutcome outcome) {
  if (outcome.finding) {
    Note(evaluation, sanitizer, CheckVerdict::kFail, outcome.finding->reason);
    evaluation.status = outcome.finding->status;
    evaluation.reason =
        "right values, but a sanitizer found a defect that other inputs or another machine may "
        "turn into wrong ones: " +
        outcome.finding->reason;
    evaluation.log = std::move(outcome.finding->log);
  } else if (!outcome.skipped.empty()) {
    Note(evaluation, sanitizer, CheckVerdict::kSkipped, outcome.skipped);
  } else {
    Note(evaluation, sanitizer, CheckVerdict::kPass, "no report on one input set");
  }
}

Result<SanitizerOutcome> RunOne(const SanitizeParts& parts, Toolchains& toolchains,
                                Sanitizer sanitizer, const Candidate& candidate, double seconds,
                                const InstrumentedCall& call) {
  if (seconds * Slowdown(sanitizer, parts.threads) > kWorthwhile.count())
    return SanitizerOutcome{.skipped = "a call would take too long under it", .finding = {}};
  return RunSanitizer(parts.jail, toolchains, sanitizer, candidate, parts.kernel_header, call);
}

}  // namespace

Result<void> SanitizeKernel(const SanitizeParts& parts, const Candidate& candidate,
                            const BuiltKernel& kernel, Evaluation& evaluation,
                            const VerifyProgress& progress) {
  if (candidate.language != Language::kCpp || !evaluation.passed()) return {};
  const PhaseTimer timer(evaluation, "sanitize");
  const SharedMemory inputs = TRY(DrawInstrumentedInputs(parts.server));
  Toolchains toolchains;  // each compiler is searched for only once
  InstrumentedCall call = InstrumentedCallOf(parts.server.task(), kernel, inputs);
  call.threads = parts.threads;
  call.limit = kLimit;
  const double seconds = evaluation.timing ? evaluation.timing->ms.median * 1e-3 : 0;
  const auto run = [&](Sanitizer sanitizer) {
    return RunOne(parts, toolchains, sanitizer, candidate, seconds, call);
  };
  const auto show = [&progress](std::string_view what) {
    if (progress) progress(what);
  };

  // The address sanitizer is the fastest, and the other sanitizers need not look for what it finds.
  show("address sanitizer");
  Judge(evaluation, Sanitizer::kAddress, TRY(run(Sanitizer::kAddress)));
  if (!evaluation.passed()) return {};
  show("memory and thread sanitizers");
  // Memcheck uses only one processor, so another sanitizer can run at the same time.
  auto memory = std::async(std::launch::async, run, Sanitizer::kMemory);
  Result<SanitizerOutcome> thread = run(Sanitizer::kThread);
  Judge(evaluation, Sanitizer::kMemory, TRY(memory.get()));
  if (evaluation.passed()) Judge(evaluation, Sanitizer::kThread, TRY(std::move(thread)));
  return {};
}

}  // namespace pragma
