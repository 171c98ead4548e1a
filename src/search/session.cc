#include "search/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/authors.h"
#include "search/preset.h"
#include "search/stopping.h"
#include "search/strategy.h"

namespace pragma {
namespace {

// An attempt on which the authors are working.
struct Begun {
  InFlight flight;
  std::future<Result<Written>> outcome;
};

bool WasSanitized(const Evaluation& evaluation) {
  return BeforeSanitizers(evaluation).checks.size() < evaluation.checks.size();
}

// The state of one RunSession call.
class Loop final {
 public:
  Loop(const std::string& run, const SessionParts& parts, const Preset& preset,
       const Budget& budget)
      : run_(run),
        parts_(parts),
        preset_(preset),
        budget_(budget),
        authors_(run, parts, preset, budget) {}

  Result<SessionResult> Run();

 private:
  Result<void> Restore();
  Result<StopReason> RunUntilStopped();
  Result<Written> Step();
  Result<Written> Finish();
  void BeginAttempts();
  [[nodiscard]] Begun Begin(int node) const;
  [[nodiscard]] int EndedBefore(int node) const;
  [[nodiscard]] SearchTree SeenBy(int node) const;
  [[nodiscard]] Written SeedOf(int node) const;
  void Drop();
  Result<void> Settle();
  void StartConfirming();
  void Tell() const;
  bool LastWithoutCode(const Written& written);
  Result<void> Judge(Trial& trial) const;
  Result<void> EvaluateTrial(Trial& trial) const;
  Result<void> ProfileTrial(Trial& trial, const Trial* best) const;
  [[nodiscard]] StopReason Stopped() const;
  Result<void> Keep(Trial trial);

  const std::string& run_;
  const SessionParts& parts_;
  const Preset& preset_;
  const Budget& budget_;
  Authors authors_;
  SessionResult result_;
  int without_code_ = 0;
  std::deque<Begun> begun_;                     // the tree's next nodes, in order
  std::future<Result<Evaluation>> confirming_;  // for the last trial, before it is stored
};

Result<SessionResult> Loop::Run() {
  result_.hold = TRY(parts_.store->LockRun(run_));
  TRY(Restore());
  Result<StopReason> stopped = RunUntilStopped();
  if (!stopped) static_cast<void>(Settle());  // keeps results of earlier trials
  Drop();
  if (!stopped) return std::unexpected(stopped.error());
  // What was under way when the time was up is dropped, as if the user had asked to stop.
  result_.stopped =
      *stopped == StopReason::kInterrupted && TimeIsUp() ? StopReason::kBudget : *stopped;
  return std::move(result_);
}

Result<void> Loop::Restore() {
  for (Trial& trial : TRY(parts_.store->Trials(run_))) {
    if (trial.node != result_.tree.next_node()) {
      return Fail("the run " + run_ + " lacks the trial " +
                  std::to_string(result_.tree.next_node()));
    }
    result_.spent += trial.spent;
    result_.tree.Insert(std::move(trial));
  }
  const Trial* last = result_.tree.last();
  if (last != nullptr && !WasSanitized(last->evaluation)) StartConfirming();
  return {};
}

// An attempt that the user interrupts is dropped. It is neither a trial nor an error.
Result<StopReason> Loop::RunUntilStopped() {
  while (true) {
    Result<Written> outcome = Step();
    if (!outcome && outcome.error().kind == ErrorKind::kInterrupted)
      outcome = Written{.trial = {}, .stopped = StopReason::kInterrupted};
    if (!outcome) return std::unexpected(outcome.error());
    if (outcome->stopped != StopReason::kNone) {
      TRY(Settle());
      if (outcome->failure) result_.why = outcome->failure->message;
      result_.failure = std::move(outcome->failure);
      return outcome->stopped;
    }
    const bool ends = outcome->trial && LastWithoutCode(*outcome);
    if (outcome->trial) TRY(Keep(std::move(*outcome->trial)));
    if (ends) return StopReason::kNoCode;
  }
}

// Counts attempts in a row whose replies had no code. Returns whether they end the run: a model
// that cannot be understood costs money with each further one.
bool Loop::LastWithoutCode(const Written& written) {
  without_code_ = written.no_code ? without_code_ + 1 : 0;
  if (parts_.most_without_code == 0 || without_code_ < parts_.most_without_code) return false;
  result_.why = fmt::format("{} attempts in a row ended without code; the last: {}", without_code_,
                            written.trial->evaluation.reason);
  return true;
}

StopReason Loop::Stopped() const {
  const StopReason stopped = WhyStopped(result_.tree, result_.spent, preset_, budget_);
  if (stopped != StopReason::kNone) return stopped;
  const Seconds left = parts_.deadline.Left(parts_.clock->Now());
  return TimeForAttempt(result_.tree, left) ? StopReason::kNone : StopReason::kBudget;
}

// Returns the next trial, or nothing after it has waited for the sanitizers of the best.
Result<Written> Loop::Step() {
  const StopReason stopped = Stopped();
  if (stopped != StopReason::kNone && !confirming_.valid())
    return Written{.trial = {}, .stopped = stopped};
  if (Interrupted()) return Written{.trial = {}, .stopped = StopReason::kInterrupted};
  if (stopped != StopReason::kNone) {
    TRY(Settle());
    return Written{};
  }
  BeginAttempts();
  return Finish();
}

// Takes the oldest attempt under way and judges it.
Result<Written> Loop::Finish() {
  Begun oldest = std::move(begun_.front());
  begun_.pop_front();
  Written outcome = TRY(oldest.outcome.get());
  if (outcome.stopped != StopReason::kNone) {
    if (outcome.trial) result_.spent += outcome.trial->spent;
    return outcome;
  }
  TRY(Settle());
  if (Interrupted()) return Written{.trial = {}, .stopped = StopReason::kInterrupted};
  TRY(Judge(*outcome.trial));
  return outcome;
}

void Loop::BeginAttempts() {
  while (begun_.size() < static_cast<std::size_t>(std::max(parts_.jobs, 1))) {
    const int node = result_.tree.next_node() + static_cast<int>(begun_.size());
    const bool too_early = EndedBefore(node) > static_cast<int>(result_.tree.size());
    if (too_early || (node > budget_.attempts && !begun_.empty())) return;
    begun_.push_back(Begin(node));
  }
}

// Returns how many trials the decision about attempt `node` is based on. It is always the same
// number, whichever attempts end sooner or later.
int Loop::EndedBefore(int node) const {
  const auto seeds = static_cast<int>(parts_.seeds.size());
  return node <= seeds ? 0 : std::max(node - std::max(parts_.jobs, 1), seeds);
}

Begun Loop::Begin(int node) const {
  Begun begun{.flight = {.node = node, .move = {}}, .outcome = {}};
  if (node <= static_cast<int>(parts_.seeds.size())) {
    std::promise<Result<Written>> ready;
    ready.set_value(SeedOf(node));
    begun.outcome = ready.get_future();
    return begun;
  }
  SearchTree seen = SeenBy(node);
  std::vector<InFlight> others;
  for (const Begun& other : begun_) others.push_back(other.flight);
  begun.flight.move = parts_.strategy->Next(seen, others);
  const bool apart = parts_.jobs > 1 && parts_.overlap;
  begun.outcome = std::async(apart ? std::launch::async : std::launch::deferred,
                             [this, seen = std::move(seen), flight = begun.flight] {
                               return authors_.Write(seen, flight);
                             });
  return begun;
}

// An attempt that followed one rejected by the sanitizers was made before their verdict was known.
// When it is resumed or replayed, it must see the same tree.
SearchTree Loop::SeenBy(int node) const {
  SearchTree seen = result_.tree.UpTo(EndedBefore(node));
  if (seen.last() == nullptr || !RejectedBySanitizer(seen.last()->evaluation)) return seen;
  Trial trial = seen.TakeLast();
  trial.evaluation = BeforeSanitizers(std::move(trial.evaluation));
  trial.best = true;
  seen.Insert(std::move(trial));
  return seen;
}

Written Loop::SeedOf(int node) const {
  const SeedKernel& seed = parts_.seeds.at(static_cast<std::size_t>(node - 1));
  Trial trial{.node = node, .role = Role::kSeed, .author = seed.author};
  trial.candidate = seed.candidate;
  return {.trial = std::move(trial)};
}

// A call that is under way cannot be cancelled. Its reply will be in the store.
void Loop::Drop() {
  if (!begun_.empty() && parts_.jobs > 1)
    Log(LogLevel::kInfo, fmt::format("waiting for {} attempts under way", begun_.size()));
  for (Begun& begun : begun_) {
    if (parts_.jobs <= 1 || !parts_.overlap) continue;  // it has not really begun
    const Result<Written> outcome = begun.outcome.get();
    if (outcome && outcome->trial) result_.spent += outcome->trial->spent;
  }
  begun_.clear();
}

Result<void> Loop::Judge(Trial& trial) const {
  if (trial.edit && !trial.edit->inside() && preset_.edit_check == EditRule::kReject) {
    trial.evaluation.status = Status::kRejectedSource;
    trial.evaluation.reason = fmt::format(
        "the change left the block that the plan had marked: {} lines outside it are gone or "
        "altered",
        trial.edit->coder_lines);
  } else if (trial.candidate) {
    TRY(EvaluateTrial(trial));
  }
  trial.best = trial.candidate && BecomesBest(trial.evaluation, result_.tree.best());
  return {};
}

Result<void> Loop::EvaluateTrial(Trial& trial) const {
  if (parts_.observer.on_phase) parts_.observer.on_phase(trial.node, "build");
  const Trial* best = result_.tree.best();
  const TimePoint start = parts_.clock->Now();
  trial.evaluation = TRY(parts_.evaluate(*trial.candidate, best, trial.node));
  if (parts_.observer.on_best && BecomesBest(trial.evaluation, best))
    parts_.observer.on_best(trial);
  TRY(ProfileTrial(trial, best));
  trial.spent.seconds += Seconds(parts_.clock->Now() - start).count();
  return {};
}

// A request to stop ends the profile, and not an attempt that has its verdict.
Result<void> Loop::ProfileTrial(Trial& trial, const Trial* best) const {
  const bool wanted = trial.evaluation.passed() && preset_.profile && parts_.observe;
  if (!wanted || !TimeForProfile(parts_.deadline.Left(parts_.clock->Now()))) return {};
  Result<Profile> profile = parts_.observe(*trial.candidate, trial.evaluation, best, trial.node);
  if (profile) trial.profile = std::move(*profile);
  if (profile || profile.error().kind == ErrorKind::kInterrupted) return {};
  return std::unexpected(std::move(profile.error()));
}

// Stores the trial on disk before anything else happens. A new best is reported only after its
// sanitizers have finished.
Result<void> Loop::Keep(Trial trial) {
  TRY(parts_.store->AppendTrial(run_, trial));
  result_.spent += trial.spent;
  result_.tree.Insert(std::move(trial));
  StartConfirming();
  if (!confirming_.valid()) Tell();
  return {};
}

void Loop::StartConfirming() {
  const Trial* last = result_.tree.last();
  if (last == nullptr || !last->best || !parts_.confirm) return;
  confirming_ = std::async(std::launch::async, parts_.confirm, *last->candidate, last->evaluation);
}

// If it is interrupted, the trial stays as it is, and the resumed run runs its sanitizers again.
Result<void> Loop::Settle() {
  if (!confirming_.valid()) return {};
  Result<Evaluation> confirmed = confirming_.get();
  if (!confirmed && confirmed.error().kind != ErrorKind::kInterrupted)
    return std::unexpected(confirmed.error());
  if (confirmed) {
    Trial trial = result_.tree.TakeLast();
    trial.evaluation = std::move(*confirmed);
    trial.best = trial.evaluation.passed();
    TRY(parts_.store->AmendTrial(run_, trial));
    result_.tree.Insert(std::move(trial));
  }
  Tell();
  return {};
}

void Loop::Tell() const {
  if (parts_.observer.on_trial) parts_.observer.on_trial(*result_.tree.last(), result_.tree);
}

}  // namespace

Result<SessionResult> RunSession(const std::string& run, const SessionParts& parts,
                                 const Preset& preset, const Budget& budget) {
  return Loop(run, parts, preset, budget).Run();
}

}  // namespace pragma
