// Match: the processes of one timing session and the steps of the session. RunTiming and the audit
// of work done ahead (ahead_audit.h) put the steps in order. Not for use by other code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "harness/peer.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "verify/stage.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

// One process of one side. Exactly one of `worker` and `timer` is set.
struct Player {
  std::optional<WorkerProcess> worker;
  std::optional<TimerProcess> timer;
  std::vector<double> bursts;    // seconds per burst, including the doorbell's cost
  std::vector<double> empty;     // seconds per burst without calls: the doorbell's cost
  double processor_seconds = 0;  // CPU time from waking up to being stopped again
  double accounted_seconds = 0;  // wall time of the same intervals, by our clock

  [[nodiscard]] Peer& peer() { return worker ? worker->peer() : timer->peer(); }
  [[nodiscard]] Result<void> Wake() { return worker ? worker->Thaw() : timer->peer().Thaw(); }
};

// Steps that return bool return true when a candidate failed in them. outcome().failed says why.
class Match final {
 public:
  Match(const TimingContext& context, const std::vector<Side>& sides, const TimingPlan& plan,
        Rng& rng);

  // Starts fresh processes of every side. Afterwards they are loaded, have made one call and are
  // frozen.
  [[nodiscard]] Result<void> StartAll();
  // Makes fresh sets, then times each side, in a new random order.
  [[nodiscard]] Result<void> RunBurst();
  // Turns the burst times of the processes into the outcome's times.
  void Settle();
  // Rejects a candidate that kept more processors busy than it may.
  void CheckProcessors();
  void EndAll() { players_.clear(); }

  // Steps for a single side, which is given by its index.
  [[nodiscard]] Result<bool> PlayFirst(std::size_t index, std::span<const std::uint32_t> sets);
  [[nodiscard]] Result<bool> Play(std::size_t index, std::span<const std::uint32_t> sets,
                                  Nanoseconds* elapsed);
  // Like Play, but without calls: measures the doorbell's cost.
  [[nodiscard]] Result<bool> PlayEmpty(std::size_t index, std::span<const std::uint32_t> sets,
                                       Nanoseconds* elapsed);
  // Calls pragma_prepare. Needed after each change of parameters; not timed here.
  [[nodiscard]] Result<bool> Prepare(std::size_t index, std::span<const std::uint32_t> sets);
  [[nodiscard]] Result<bool> Freeze(std::size_t index);
  [[nodiscard]] Result<void> CheckOutputs(std::size_t index, std::span<const std::uint32_t> sets);

  // Returns the numbers of all sets in a new secret order.
  [[nodiscard]] std::vector<std::uint32_t> ShuffledSets();
  [[nodiscard]] Player& player(std::size_t index) { return players_[index]; }
  [[nodiscard]] const Side& side(std::size_t index) const { return sides_[index]; }
  [[nodiscard]] const TimingContext& context() const { return context_; }
  [[nodiscard]] const TimingPlan& plan() const { return plan_; }
  [[nodiscard]] Stage& stage() const { return *context_.stage; }
  [[nodiscard]] Rng& rng() { return rng_; }
  [[nodiscard]] TimingOutcome& outcome() { return outcome_; }
  [[nodiscard]] bool failed() const { return outcome_.failed.has_value(); }

 private:
  [[nodiscard]] Result<Player> Start(const Side& side);
  [[nodiscard]] Result<void> MakeReady(std::size_t index);
  [[nodiscard]] Result<void> TimeSide(std::size_t index, const std::vector<std::uint32_t>& sets);
  [[nodiscard]] Result<bool> PrepareFrozen(std::size_t index, std::span<const std::uint32_t> sets);
  [[nodiscard]] Result<bool> Note(std::size_t index, Result<std::optional<WorkerFailure>> result);
  void Fault(std::size_t index, WorkerFailure failure);
  void SettleOne(const Player& player, SideTiming& side) const;
  void CheckProcessorsOf(std::size_t index);

  const TimingContext& context_;
  const std::vector<Side>& sides_;
  const TimingPlan& plan_;
  Rng& rng_;
  TimingOutcome outcome_;
  std::vector<Player> players_;
};

}  // namespace pragma
