#include "search/session.h"

#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/roles.h"
#include "agent/window.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/stopping.h"
#include "search/strategy.h"

namespace pragma {
namespace {

// What an attempt came to: a trial, or the reason why the run ends without one.
struct Outcome {
  std::optional<Trial> trial;
  std::string stopped;
};

// The state of one RunSession call.
class Loop final {
 public:
  Loop(const std::string& run, const SessionParts& parts, const Preset& preset,
       const Budget& budget)
      : run_(run), parts_(parts), preset_(preset), budget_(budget) {}

  Result<SessionResult> Run();

 private:
  Result<void> Restore();
  Result<std::string> RunUntilStopped();
  Result<Outcome> Attempt();
  Result<Outcome> Interruptible(bool settle);
  Result<Outcome> AttemptOn(const SearchTree& seen);
  Result<void> Settle();
  void StartConfirming();
  void Tell() const;
  Result<void> Advise(const Window& window, Trial& trial) const;
  Result<std::optional<Candidate>> Propose(const Window& window, Trial& trial) const;
  Result<void> Judge(Candidate& candidate, Trial& trial) const;
  Result<void> Keep(Trial trial);
  [[nodiscard]] Window WindowFor(const SearchTree& tree, const Move& move) const;
  void Announce(std::string_view phase) const;

  const std::string& run_;
  const SessionParts& parts_;
  const Preset& preset_;
  const Budget& budget_;
  SessionResult result_;
  std::future<Result<Evaluation>> confirming_;  // of the tree's last trial, not yet in the store
};

bool WasSanitized(const Evaluation& evaluation) {
  return BeforeSanitizers(evaluation).checks.size() < evaluation.checks.size();
}

int ParentFor(const SearchTree& tree, const Move& move, const std::optional<Advice>& advice) {
  const Trial* best = tree.best();
  switch (advice ? advice->base : Base::kCurrent) {
    case Base::kCurrent: return move.node;
    case Base::kBest: return best == nullptr ? move.node : best->node;
    case Base::kReference: return 0;
  }
  return move.node;
}

Result<SessionResult> Loop::Run() {
  const UniqueFd lock = TRY(parts_.store->LockRun(run_));
  TRY(Restore());
  result_.stopped = TRY(RunUntilStopped());
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

Result<std::string> Loop::RunUntilStopped() {
  while (true) {
    std::string stopped = StopReason(result_.tree, result_.spent, preset_, budget_);
    if (!stopped.empty() && !confirming_.valid()) return stopped;
    Result<Outcome> outcome = Interruptible(!stopped.empty());
    if (!outcome) {
      static_cast<void>(Settle());  // what was found before is not lost
      return std::unexpected(outcome.error());
    }
    if (outcome->trial) {
      TRY(Keep(std::move(*outcome->trial)));
    } else if (!outcome->stopped.empty()) {
      TRY(Settle());
      return outcome->stopped;
    }
  }
}

// An attempt that the user broke off is dropped: no trial, no error. `settle`: nothing is tried,
// the best's sanitizers are waited for.
Result<Outcome> Loop::Interruptible(bool settle) {
  if (Interrupted()) return Outcome{.trial = {}, .stopped = "interrupted"};
  Result<Outcome> outcome = Outcome{};
  if (settle) {
    if (auto settled = Settle(); !settled) outcome = std::unexpected(settled.error());
  } else {
    outcome = Attempt();
  }
  if (outcome || outcome.error().kind != ErrorKind::kInterrupted) return outcome;
  return Outcome{.trial = {}, .stopped = "interrupted"};
}

// The attempt after one that sanitizers rejected was made before their verdict was known: so it is
// when it is resumed or replayed.
Result<Outcome> Loop::Attempt() {
  const Trial* last = result_.tree.last();
  if (confirming_.valid() || last == nullptr || !RejectedBySanitizer(last->evaluation))
    return AttemptOn(result_.tree);
  SearchTree seen = result_.tree;
  Trial trial = seen.TakeLast();
  trial.evaluation = BeforeSanitizers(std::move(trial.evaluation));
  trial.best = true;
  seen.Insert(std::move(trial));
  return AttemptOn(seen);
}

Result<Outcome> Loop::AttemptOn(const SearchTree& seen) {
  const Move move = parts_.strategy->Next(seen);
  const Window window = WindowFor(seen, move);
  Trial trial{.node = seen.next_node(), .role = move.role};
  const bool advised = parts_.conductor != nullptr && preset_.conductor && move.role != Role::kSeed;
  if (advised) {
    TRY(Advise(window, trial));
    if (trial.advice->stop) {
      result_.spent += trial.spent;
      return Outcome{.trial = {}, .stopped = "advice"};
    }
    if (Interrupted()) return Outcome{.trial = {}, .stopped = "interrupted"};
  }
  trial.parent = ParentFor(seen, move, trial.advice);
  trial.candidate = TRY(Propose(window, trial));
  TRY(Settle());  // from here on `seen` and `window` are gone
  if (Interrupted()) return Outcome{.trial = {}, .stopped = "interrupted"};
  if (trial.candidate) TRY(Judge(*trial.candidate, trial));
  trial.best = trial.candidate && BecomesBest(trial.evaluation, result_.tree.best());
  return Outcome{.trial = std::move(trial), .stopped = {}};
}

Result<void> Loop::Advise(const Window& window, Trial& trial) const {
  Announce("conductor");
  Advised advised = TRY(parts_.conductor->Advise(window, {.run = run_, .node = trial.node}));
  trial.advice = std::move(advised.advice);
  trial.spent += advised.spent;
  return {};
}

Result<std::optional<Candidate>> Loop::Propose(const Window& window, Trial& trial) const {
  Announce("coder");
  const Advice* advice = trial.advice ? &*trial.advice : nullptr;
  Proposal proposal = TRY(parts_.coder->Propose(window, advice, {.run = run_, .node = trial.node}));
  trial.author = std::move(proposal.author);
  trial.spent += proposal.spent;
  if (!proposal.candidate) {
    trial.evaluation.status = Status::kUnsupported;
    trial.evaluation.reason = std::move(proposal.reason);
  }
  return std::move(proposal.candidate);
}

Result<void> Loop::Judge(Candidate& candidate, Trial& trial) const {
  Announce("build");
  const TimePoint start = parts_.clock->Now();
  trial.evaluation = TRY(parts_.evaluate(candidate, result_.tree.best(), trial.node));
  if (trial.evaluation.passed() && preset_.profile && parts_.observe) {
    trial.profile =
        TRY(parts_.observe(candidate, trial.evaluation, result_.tree.best(), trial.node));
  }
  trial.spent.seconds += Seconds(parts_.clock->Now() - start).count();
  return {};
}

// On disk before anything else happens; what is said of a new best waits for its sanitizers.
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

// An interruption leaves the trial as it is: resumed, the run asks its sanitizers again.
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

Window Loop::WindowFor(const SearchTree& tree, const Move& move) const {
  Window window{
      .task = parts_.task, .kernel_header = parts_.kernel_header, .machine = parts_.machine};
  window.current = move.node == 0 ? nullptr : &tree.at(move.node);
  const bool sees_best = preset_.history == "best" || preset_.history == "all";
  window.best = sees_best ? tree.best() : nullptr;
  for (const int node : move.others) window.others.push_back(&tree.at(node));
  window.attempt = tree.next_node();
  window.attempts = parts_.shown_attempts > 0 ? parts_.shown_attempts : budget_.attempts;
  window.advice_from_user = parts_.advice_from_user;
  return window;
}

void Loop::Announce(std::string_view phase) const {
  if (parts_.observer.on_phase) parts_.observer.on_phase(result_.tree.next_node(), phase);
}

}  // namespace

Result<SessionResult> RunSession(const std::string& run, const SessionParts& parts,
                                 const Preset& preset, const Budget& budget) {
  return Loop(run, parts, preset, budget).Run();
}

}  // namespace pragma
