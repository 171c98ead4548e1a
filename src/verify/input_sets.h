// InputSets: the secret input sets that candidates of one task are judged on, and what their
// outputs are compared with. Stage implements it for processors, DeviceStage for a GPU. What is
// decided with it (ValuePolicy, TimingRun, TimingCheck) is written once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/task.h"
#include "harness/timed_process.h"
#include "values/batteries.h"
#include "values/comparator.h"

namespace pragma {

// One battery's set in a slot, and how outputs on it are judged.
struct BatteryDraw {
  std::string not_admitted;           // why the reference cannot judge it; empty: it can
  std::vector<Tolerance> tolerances;  // tolerance, by output
  std::vector<char> exact;            // by output: integers that any order of summation gets right
  bool finite = true;                 // the truth is finite everywhere
};

// What a process wrote although it must not.
struct Damage {
  std::string outside;  // the name of an output outside of which something was written
  std::string written;  // an argument that was written, in words
  [[nodiscard]] bool any() const { return !outside.empty() || !written.empty(); }
  [[nodiscard]] std::string What() const {
    return outside.empty() ? written : "outside its output " + outside;
  }
};

// The calls of one burst. Where there is a single set, the warm-up uses its slot with other values.
struct BurstSets {
  std::span<const std::uint32_t> all;
  std::span<const std::uint32_t> warmup;  // may be empty
  std::span<const std::uint32_t> timed;
};

// Inputs that arrive only when a call is due, for the audit of work done ahead of time.
class LateInputs {
 public:
  LateInputs() = default;
  LateInputs(const LateInputs&) = delete;
  LateInputs& operator=(const LateInputs&) = delete;
  virtual ~LateInputs() = default;
  // Puts fresh inputs into the slot. Parameters, buffers and constants stay as they are, except
  // where refills must be drawn.
  [[nodiscard]] virtual Result<void> RenewInputs(std::size_t slot, Rng& rng) = 0;
  // RenewInputs in two steps. StageInputs draws the values and computes what to expect, but no
  // process sees the new values before Publish.
  [[nodiscard]] virtual Result<void> StageInputs(std::size_t slot, Rng& rng) = 0;
  virtual void Publish(std::size_t slot) = 0;
  // Brings the arguments of these sets back into the last-level cache, if they fit. Computing their
  // expected outputs evicts them.
  virtual void Warm(std::span<const std::uint32_t> slots) const = 0;
  // True if refills are drawn instead of spliced, with parameters of their own.
  [[nodiscard]] virtual bool draws_refills() const = 0;

 protected:
  LateInputs(LateInputs&&) = default;
  LateInputs& operator=(LateInputs&&) = default;
};

class InputSets {
 public:
  InputSets() = default;
  InputSets(const InputSets&) = delete;
  InputSets& operator=(const InputSets&) = delete;
  virtual ~InputSets() = default;

  [[nodiscard]] virtual const Task& task() const = 0;
  [[nodiscard]] virtual std::size_t sets() const = 0;  // number of slots

  // Call it for each new candidate: the tolerances start again with its first drawn set.
  virtual void Forget() = 0;
  // Draws a set into the slot, with its fp64 truth. Widens the tolerance of each output to what
  // Torch's own error on this set requires.
  [[nodiscard]] virtual Result<void> DrawSet(std::size_t draw, std::uint64_t seed,
                                             std::size_t slot) = 0;
  // Puts set `draw` into the slot again, as it was drawn. ExpectTruth makes what outputs of a
  // restored set are compared with. Mostly it is not needed, because the outputs are the same bits
  // again.
  [[nodiscard]] virtual Result<void> RestoreSet(std::size_t draw, std::size_t slot) = 0;
  [[nodiscard]] virtual Result<void> ExpectTruth(std::size_t slot) = 0;
  // Makes a battery's set from a drawn one and puts it into the slot with its fp64 outputs. The set
  // is admitted when the reference and Torch's own result are finite (for batteries with infinities
  // or NaN: in the same places) and close enough to tell right from wrong.
  [[nodiscard]] virtual Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                        std::size_t slot) = 0;
  // Returns the tolerances for what the slot's outputs are compared with now.
  [[nodiscard]] virtual std::vector<Tolerance> Tolerances(std::size_t slot) const = 0;

  // Examines what the process's last calls left in the slots. The functions after it refer to that.
  [[nodiscard]] virtual Result<void> LookAt(const TimedProcess& process,
                                            std::span<const std::uint32_t> slots) = 0;
  [[nodiscard]] virtual Damage DamageIn(const TimedProcess& process, std::uint32_t slot) const = 0;
  // Returns the first wrong output, or else (ok) the figures of the least exact one.
  [[nodiscard]] virtual Comparison Compare(const TimedProcess& process, std::uint32_t slot,
                                           const std::vector<Tolerance>& tolerances) const = 0;
  // Called when an output is about to be called wrong: could honest rounding have caused it?
  // Compares with the fp64 truth, and allows each element what rounding of the inputs does to it.
  // For this, the slot's floating arguments are changed by what rounding does to sums of their
  // length, and the truth is computed again. Integers may equal Torch's own instead, because
  // rounding can decide which of two values is larger.
  [[nodiscard]] virtual Result<Comparison> SecondOpinion(const TimedProcess& process,
                                                         std::uint32_t slot,
                                                         const std::vector<Tolerance>& tolerances,
                                                         Rng& rng) = 0;
  // Called when outputs are right except for elements that are wrong by a large part of themselves.
  // Returns in words which of them is wrong; empty: none is. Only for the slot that was drawn last.
  [[nodiscard]] virtual Result<std::string> WrongSmallValues(const TimedProcess& process,
                                                             std::uint32_t slot, Rng& rng) = 0;
  // Applies KernelBench's rule. Only for the slot that was drawn last.
  [[nodiscard]] virtual bool Official(const TimedProcess& process, std::uint32_t slot) const = 0;
  // Keep remembers the outputs. AsKept returns whether the outputs are the same bits again.
  [[nodiscard]] virtual Result<void> Keep(const TimedProcess& process, std::uint32_t slot) = 0;
  [[nodiscard]] virtual bool AsKept(const TimedProcess& process, std::uint32_t slot) const = 0;

  // Fills the slots with values that no call has seen. If every output is floating, the expected
  // outputs are Torch's own result: the candidate was compared with fp64 before, and the truth of
  // the drawn sets is forgotten. Otherwise they are the fp64 truth.
  [[nodiscard]] virtual Result<void> RenewSets(std::span<const std::uint32_t> slots, Rng& rng) = 0;
  // Measures the seconds that one set of a timed burst costs besides its call: refill, expected
  // values, comparison. `compare_seconds` is what a comparison took when values were checked.
  [[nodiscard]] virtual Result<double> Upkeep(double compare_seconds, Rng& rng) = 0;
  // Puts the values of a burst before a process that is frozen, where processes do not all see the
  // same memory. AfterWarmup is called when the warm-up has ended, and puts there what must not
  // arrive earlier.
  [[nodiscard]] virtual Result<void> BeforeWarmup(TimedProcess& process, const BurstSets& burst,
                                                  Rng& rng) = 0;
  [[nodiscard]] virtual Result<void> AfterWarmup(TimedProcess& process, const BurstSets& burst,
                                                 Rng& rng) = 0;
  // nullptr: the inputs of timed calls always arrive after the warm-up, so there is nothing to
  // audit.
  [[nodiscard]] virtual LateInputs* late() { return nullptr; }

 protected:
  InputSets(InputSets&&) = default;
  InputSets& operator=(InputSets&&) = default;
};

}  // namespace pragma
