// TimingRun: one timing session, step by step (docs/measuring.md). Each side has fresh processes in
// each round. Bursts run over the sets in secret order while the idle sides are frozen. The
// parent's clock measures the time. Every timed output of a candidate is compared. RunTiming
// (timing_rounds.h), the audit of work done ahead (ahead_audit.h) and the tuner put the steps in
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "harness/timed_process.h"
#include "verify/input_sets.h"
#include "verify/noise.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

// The processors that a candidate may keep busy. Where its share is all of them, it cannot use
// more. On a device nothing is accounted.
struct ProcessorShare {
  int allowed = 1;
  int available = 1;
};

// How much is subtracted from a candidate's bursts at most. A candidate can make its own empty
// round trips slow.
enum class DoorbellLimit : std::uint8_t {
  kRoundTrip,  // the longest usual round trip to a worker
  kTorch,      // the cost of Torch's own, which on a device includes a wait for an idle device
};

// All that a session needs besides its plan. References are borrowed.
struct TimingScene {
  InputSets& sets;
  TimedSides& sides;
  Clock& clock;  // for what is accounted around bursts
  ProcessorShare processors = {};
  DoorbellLimit doorbell = DoorbellLimit::kRoundTrip;
  std::function<void(int round, int rounds)> progress = {};
  NoiseRules noise = {};
  // A session that is older ends, once it has the process pairs of an interval.
  Seconds limit{std::numeric_limits<double>::infinity()};
  // Processors that no side may use. Other programs may use as many.
  [[nodiscard]] int spare_processors() const { return processors.available - processors.allowed; }
};

// Steps that return bool return true when a candidate failed in them. outcome().failed says why.
class TimingRun final {
 public:
  TimingRun(const TimingScene& scene, const TimingPlan& plan, Rng& rng);

  // Runs one round: fresh processes, the plan's bursts, and what they amount to. A burst that other
  // programs disturbed is repeated, up to twice as many bursts as planned. Whether it was is
  // decided without looking at its time.
  [[nodiscard]] Result<void> RunRound();

  // The steps of a round. StartRound provides fresh processes. RunBurst makes fresh sets, then
  // times each side, in a new random order. Settle turns the times of the round's bursts into the
  // outcome's times. CheckProcessors rejects a candidate that kept more processors busy than it
  // may.
  [[nodiscard]] Result<void> StartRound();
  [[nodiscard]] Result<void> RunBurst();
  void Settle();
  void CheckProcessors();

  // Steps for a single side, which is given by its index.
  [[nodiscard]] Result<bool> Play(std::size_t side, std::span<const std::uint32_t> sets,
                                  Nanoseconds* elapsed);
  [[nodiscard]] Result<bool> PlayEmpty(std::size_t side, std::span<const std::uint32_t> sets,
                                       Nanoseconds* elapsed);
  // Calls pragma_prepare. Needed after each change of parameters; not timed.
  [[nodiscard]] Result<bool> Prepare(std::size_t side, std::span<const std::uint32_t> sets);
  [[nodiscard]] Result<bool> Freeze(std::size_t side);
  [[nodiscard]] Result<void> CheckOutputs(std::size_t side, std::span<const std::uint32_t> sets);

  // Returns the numbers of all sets of the plan in a new secret order.
  [[nodiscard]] std::vector<std::uint32_t> ShuffledSets();
  [[nodiscard]] TimedProcess& process(std::size_t side) { return scene_.sides.process(side); }
  [[nodiscard]] const Side& side(std::size_t index) const { return scene_.sides.sides()[index]; }
  [[nodiscard]] const TimingPlan& plan() const { return plan_; }
  [[nodiscard]] InputSets& sets() const { return scene_.sets; }
  [[nodiscard]] Clock& clock() const { return scene_.clock; }
  [[nodiscard]] Rng& rng() { return rng_; }
  [[nodiscard]] TimingOutcome& outcome() { return outcome_; }
  [[nodiscard]] bool failed() const { return outcome_.failed.has_value(); }

 private:
  // What one side's process of this round took.
  struct Tally {
    std::vector<TimedBurst> bursts;   // including the doorbell's cost
    std::vector<double> empty;        // seconds per burst without calls: the doorbell's cost
    double call_seconds = 0;          // of one call in the last loop; 0: there was none
    double processor_seconds = 0;     // CPU time from waking up to being stopped again
    double accounted_seconds = 0;     // wall time of the same intervals, by our clock
    std::vector<double> page_faults;  // by burst
  };

  [[nodiscard]] Result<void> TimeSide(std::size_t side, std::span<const std::uint32_t> sets);
  [[nodiscard]] Result<bool> WarmUp(std::size_t side, std::span<const std::uint32_t> sets);
  [[nodiscard]] Result<bool> TimeBurst(std::size_t side, const BurstSets& burst);
  [[nodiscard]] Result<bool> PrepareFrozen(std::size_t side, std::span<const std::uint32_t> sets);
  [[nodiscard]] std::vector<std::size_t> ShuffledSides();
  [[nodiscard]] BurstSets Split(std::span<const std::uint32_t> sets) const;
  [[nodiscard]] Result<bool> Note(std::size_t side, Result<ProcessFailure> result);
  void Fault(std::size_t side, WorkerFailure failure);
  [[nodiscard]] double MostDoorbell() const;
  void CheckProcessorsOf(std::size_t side);
  [[nodiscard]] LoadReading ReadLoad() const;
  void NoteLoad(const Watched& watched);
  [[nodiscard]] int UndisturbedBursts() const;
  [[nodiscard]] bool DisturbedRound() const;
  template <typename T>
  [[nodiscard]] std::vector<T> Counting(const std::vector<T>& bursts) const;
  // Plays what is timed, or a part of a loop (TimingPlan::loop_seconds).
  [[nodiscard]] Result<bool> PlayTimed(std::size_t side, std::span<const std::uint32_t> sets,
                                       TimedBurst* burst);
  [[nodiscard]] Result<bool> Loop(std::size_t side, std::uint32_t set, double part,
                                  TimedBurst* burst);

  const TimingScene& scene_;
  const TimingPlan& plan_;
  Rng& rng_;
  TimingOutcome outcome_;
  std::vector<Tally> tallies_;
  std::vector<bool> disturbed_;  // by burst of this round
  LoadSum load_;
};

}  // namespace pragma
