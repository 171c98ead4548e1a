#include "verify/call_timing.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/call_figures.h"
#include "core/evaluation.h"
#include "task/torch_server.h"
#include "verify/executor.h"
#include "verify/judging.h"
#include "verify/timed_sides.h"
#include "verify/timing_record.h"
#include "verify/timing_session.h"
#include "verify/timing_sessions.h"

namespace pragma {
namespace {

constexpr int kProcessesOfDefaults = 3;  // this session only tells what the allocator contributes

double FaultsOfCall(const SideTiming& side) {
  return side.samples == 0 ? 0 : side.page_faults / static_cast<double>(side.samples);
}

class CallTiming final {
 public:
  CallTiming(Executor& executor, Judging& judging, const VerifyProgress& progress)
      : executor_(executor), judging_(judging), sessions_(executor, judging, progress) {}

  Result<void> Run(bool compile);

 private:
  Result<std::optional<TimedSession>> Time(const std::vector<SideRole>& torch, Allocator allocator,
                                           int processes);
  Result<bool> AddDefaults(SideRole baseline, CallFigures& figures);
  [[nodiscard]] CallSession Figures(const TimedSession& session, std::size_t baseline) const;

  Executor& executor_;
  Judging& judging_;
  TimingSessions sessions_;
};

Result<void> CallTiming::Run(bool compile) {
  const bool on_device = executor_.rules().on_device;
  std::vector<SideRole> torch{SideRole::kEager};
  if (compile) torch.push_back(SideRole::kCompile);
  const std::optional<TimedSession> kept = TRY(Time(torch, Allocator::kKeep, 0));
  if (!kept) return {};
  compile = compile && kept->no_compile.empty();
  const bool compiled_is_faster = compile && kept->outcome.Ratio(1, 2).median > 1;
  const std::size_t baseline = compiled_is_faster ? 2 : 1;
  CallFigures figures{.over = compiled_is_faster ? "torch.compile" : "eager",
                      .kept = Figures(*kept, baseline),
                      .defaults = {},
                      .trust = judging_.evaluation.environment.trust};
  // On a device, memory comes from Torch's own allocator, which keeps it.
  if (!on_device && TRY(AddDefaults(torch[baseline - 1], figures))) return {};
  judging_.evaluation.call = std::move(figures);
  return {};
}

// Adds the figures with malloc's defaults, where they differ. Returns true if the candidate failed.
Result<bool> CallTiming::AddDefaults(SideRole baseline, CallFigures& figures) {
  const std::optional<TimedSession> session =
      TRY(Time({baseline}, Allocator::kDefault, kProcessesOfDefaults));
  if (!session) return true;
  CallSession defaults = Figures(*session, 1);
  if (DifferNotably(defaults.speedup.median, figures.kept.speedup.median)) {
    figures.defaults = std::move(defaults);
  }
  return false;
}

// Runs one session. nullopt: the candidate failed in it, and the evaluation says how.
Result<std::optional<TimedSession>> CallTiming::Time(const std::vector<SideRole>& torch,
                                                     Allocator allocator, int processes) {
  std::vector<Side> sides{{.role = SideRole::kCandidate,
                           .kernel = judging_.kernel,
                           .allocator = allocator,
                           .as_call = true}};
  for (const SideRole role : torch) {
    sides.push_back({.role = role, .allocator = allocator, .as_call = true});
  }
  TimedSession session = TRY(sessions_.Run(sides, executor_.options().timing_budget, processes));
  if (session.outcome.failed) {
    judging_.Reject(session.outcome.failed->failure);
    return std::optional<TimedSession>();
  }
  if (judging_.evaluation.noisy.empty()) judging_.evaluation.noisy = session.outcome.noisy;
  KeepSamples(judging_.evaluation, "call, malloc: " + std::string(AllocatorName(allocator)),
              NamesOf(sides, true), session.outcome);
  return std::optional(std::move(session));
}

CallSession CallTiming::Figures(const TimedSession& session, std::size_t baseline) const {
  const TimingOutcome& outcome = session.outcome;
  const int threads = executor_.machine().threads;
  return {.speedup = outcome.Ratio(baseline, 0),
          .timing = ToTiming(outcome.sides[0], threads, session.plan),
          .baseline = ToTiming(outcome.sides[baseline], threads, session.plan),
          .page_faults = FaultsOfCall(outcome.sides[0]),
          .baseline_page_faults = FaultsOfCall(outcome.sides[baseline])};
}

}  // namespace

Result<void> TimeCalls(Executor& executor, Judging& judging, bool compile,
                       const VerifyProgress& progress) {
  const PhaseTimer timer(judging.evaluation, "time");
  const Result<void> timed = CallTiming(executor, judging, progress).Run(compile);
  executor.Leave();
  return timed;
}

}  // namespace pragma
