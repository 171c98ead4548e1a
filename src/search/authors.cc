#include "search/authors.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/anchors.h"
#include "agent/roles.h"
#include "agent/window.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "core/advice.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/status.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "search/preset.h"
#include "search/session.h"
#include "search/strategy.h"

namespace pragma {
namespace {

int ParentFor(const SearchTree& tree, const Move& move, const std::optional<Advice>& advice) {
  const Trial* best = tree.best();
  switch (advice ? advice->base : Base::kCurrent) {
    case Base::kCurrent: return move.node;
    case Base::kBest: return best == nullptr ? move.node : best->node;
    case Base::kReference: return 0;
  }
  return move.node;
}

// Returns the focus of a strategy in words.
std::string FocusText(const Preset& preset, const std::string& focus) {
  const auto family = std::ranges::find(preset.families, focus, &Family::name);
  if (family == preset.families.end() || family->about.empty()) return focus;
  return fmt::format("{}: {}", family->name, family->about);
}

Written Stopped(StopReason why) { return {.trial = {}, .stopped = why}; }

// Returns whether the error says that the model cannot be asked any longer. Then the run ends, and
// what it has found so far is kept.
bool IsOfModel(ErrorKind kind) {
  return kind == ErrorKind::kUnavailable || kind == ErrorKind::kUsage ||
         kind == ErrorKind::kTooLong || kind == ErrorKind::kTimeUp;
}

}  // namespace

Result<Written> Authors::Write(const SearchTree& seen, const InFlight& flight) const {
  const TimePoint start = parts_.clock->Now();
  Result<Written> written = Ask(seen, flight);
  if (written || !IsOfModel(written.error().kind)) return written;
  const bool time_up = written.error().kind == ErrorKind::kTimeUp;
  Trial spent{.node = flight.node};
  spent.spent.seconds = Seconds(parts_.clock->Now() - start).count();
  return Written{.trial = std::move(spent),
                 .stopped = time_up ? StopReason::kBudget : StopReason::kService,
                 .failure = std::move(written).error()};
}

Result<Written> Authors::Ask(const SearchTree& seen, const InFlight& flight) const {
  if (Interrupted()) return Stopped(StopReason::kInterrupted);
  const Move& move = flight.move;
  Trial trial{.node = flight.node, .role = move.role};
  trial.focus = move.focus;
  if (Advises(move)) {
    TRY(Advise(WindowFor(seen, flight, move.plan_window), trial));
    if (trial.advice->stop)
      return Written{.trial = std::move(trial), .stopped = StopReason::kAdvice};
    if (Interrupted()) return Stopped(StopReason::kInterrupted);
  }
  trial.parent = ParentFor(seen, move, trial.advice);
  const bool no_code = TRY(Propose(WindowFor(seen, flight, move.code_window), trial));
  if (Debugs(trial))
    trial.advice = seen.at(trial.parent).advice;  // the plan that it still carries out
  CheckEdit(seen, trial);
  if (trial.candidate && parts_.prepare && !Interrupted()) parts_.prepare(*trial.candidate);
  return Written{.trial = std::move(trial), .no_code = no_code};
}

bool Authors::Advises(const Move& move) const {
  const std::vector<std::string>& roles = preset_.advises;
  return parts_.conductor != nullptr && preset_.conductor &&
         std::ranges::find(roles, RoleName(move.role)) != roles.end();
}

bool Authors::Debugs(const Trial& trial) const {
  return preset_.debugger && trial.role == Role::kRepair;
}

// A linear strategy leaves the choice of the version to the advice. A tree strategy has already
// made it.
Result<void> Authors::Advise(const Window& window, Trial& trial) const {
  if (parts_.observer.on_phase)
    parts_.observer.on_phase(trial.node, preset_.anchors ? "planner" : "conductor");
  Advised advised = TRY(parts_.conductor->Advise(window, {.run = run_, .node = trial.node}));
  trial.advice = std::move(advised.advice);
  if (!AdviceChoosesBase(preset_)) trial.advice->base = Base::kCurrent;
  trial.spent += advised.spent;
  return {};
}

Result<bool> Authors::Propose(const Window& window, Trial& trial) const {
  const bool debugs = Debugs(trial) && parts_.debugger != nullptr;
  if (parts_.observer.on_phase) parts_.observer.on_phase(trial.node, debugs ? "debugger" : "coder");
  const Advice* advice = trial.advice ? &*trial.advice : nullptr;
  Proposal proposal = TRY((debugs ? parts_.debugger : parts_.coder)
                              ->Propose(window, advice, {.run = run_, .node = trial.node}));
  trial.author = std::move(proposal.author);
  trial.spent += proposal.spent;
  trial.candidate = std::move(proposal.candidate);
  if (trial.candidate) return false;
  trial.evaluation.status = Status::kUnsupported;
  trial.evaluation.reason = std::move(proposal.reason);
  return !proposal.unsupported;
}

// Checks every change that a planner marked in C++. The result is recorded as a fact. It becomes a
// verdict only if the preset says so.
void Authors::CheckEdit(const SearchTree& seen, Trial& trial) const {
  const bool marked = trial.role == Role::kImprove && trial.advice &&
                      !trial.advice->anchored.empty() && trial.parent > 0;
  if (preset_.edit_check == EditRule::kIgnore || !marked || !trial.candidate) return;
  const std::optional<Candidate>& base = seen.at(trial.parent).candidate;
  if (base)
    trial.edit = CompareEdit(base->source(), trial.advice->anchored, trial.candidate->source());
}

Window Authors::WindowFor(const SearchTree& tree, const InFlight& flight,
                          const std::vector<int>& others) const {
  Window window{
      .task = parts_.task, .kernel_header = parts_.kernel_header, .machine = parts_.machine};
  window.current = flight.move.node == 0 ? nullptr : &tree.at(flight.move.node);
  const bool sees_best =
      preset_.history == ShownHistory::kBest || preset_.history == ShownHistory::kAll;
  window.best = sees_best ? tree.best() : nullptr;
  for (const int node : others) window.others.push_back(&tree.at(node));
  window.attempt = flight.node;
  window.attempts = parts_.shown_attempts > 0 ? parts_.shown_attempts : budget_.attempts;
  window.example = parts_.example;
  window.focus = FocusText(preset_, flight.move.focus);
  window.advice_from_user = parts_.advice_from_user;
  return window;
}

}  // namespace pragma
