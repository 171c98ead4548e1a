// StateCheck: does a result depend on what earlier calls left behind? A kernel may keep state
// (tables, scratch, counters), but the state must not matter. There are three tests, on hosts and
// on devices (docs/trust.md). The first calls the same set again after many calls on other sets.
// The second exchanges what two processes kept. The third advances what counts its calls to ages
// that no test could wait for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/checked_calls.h"
#include "verify/input_sets.h"
#include "verify/value_policy.h"

namespace pragma {

struct Judging;

// Returns `own` with the values of `other`, except for words that look like addresses, which only
// have a meaning in their own process. Both must have the same length.
[[nodiscard]] std::vector<std::byte> Exchanged(std::span<const std::byte> own,
                                               std::span<const std::byte> other);

// A word of kept memory that three calls in a row changed by the same step.
struct KeptCounter {
  std::size_t offset = 0;
  std::size_t bytes = 4;  // 4 or 8
  std::uint64_t step = 0;
};
// Finds counters. `first`, `second` and `third` are the memory after three calls on one set. They
// must have the same length.
[[nodiscard]] std::vector<KeptCounter> FindCounters(std::span<const std::byte> first,
                                                    std::span<const std::byte> second,
                                                    std::span<const std::byte> third);
// Returns `kept` with `calls` steps added to each counter.
[[nodiscard]] std::vector<std::byte> Advanced(std::span<const std::byte> kept,
                                              std::span<const KeptCounter> counters,
                                              std::uint64_t calls);

class StateCheck final {
 public:
  // All references must outlive it. Both of the candidate's processes must exist, and the policy
  // must have seen its sets. `budget` is the target time for the many calls. A third of it is used
  // where no state can exist.
  StateCheck(InputSets& sets, CheckedCalls& calls, ValuePolicy& policy, Judging& judging,
             Seconds budget)
      : sets_(sets), calls_(calls), policy_(policy), judging_(judging), budget_(budget) {}

  // Runs all tests. Rejects the candidate, or notes what was found.
  [[nodiscard]] Result<void> Run();

 private:
  [[nodiscard]] Result<void> LeftResults();
  [[nodiscard]] Result<bool> PartlyChanged(Rng& rng);
  [[nodiscard]] Result<void> ManyCalls();
  [[nodiscard]] Result<void> Exchange();
  [[nodiscard]] Result<void> Age(CheckedCalls::Kept where);
  [[nodiscard]] std::vector<std::uint32_t> Burst(std::uint64_t most, Rng& rng);
  [[nodiscard]] Result<bool> Look(const std::string& where);
  [[nodiscard]] Result<std::vector<std::byte>> KeptAfterCall(CheckedCalls::Kept where);
  [[nodiscard]] Result<bool> TryWith(CheckedCalls::Kept where, const std::vector<std::byte>& kept,
                                     const std::string& words);
  [[nodiscard]] Result<void> ExplainBits();
  [[nodiscard]] Result<bool> LookAtLast();
  void Summarise() const;

  InputSets& sets_;
  CheckedCalls& calls_;
  ValuePolicy& policy_;
  Judging& judging_;
  Seconds budget_;
  ValuePolicy::DrawnSlots slots_;
  std::uint64_t made_ = 0;   // number of calls of the used process
  bool other_bits_ = false;  // the bits once differed from the first result
  bool exchanged_ = false;
  bool runs_ = true;          // the candidate runs with memory that we changed
  std::size_t counters_ = 0;  // number of counters that were advanced
  std::string bits_;          // text: what the last bits depend on
};

}  // namespace pragma
