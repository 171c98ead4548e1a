// StateCheck: does a result depend on what earlier calls left behind? A kernel may keep state
// (tables, scratch, counters), but it must not matter. Three tests, on both kinds of machine
// (docs/trust.md): the same set again after many calls of others; with what two processes kept
// exchanged; with what counts its calls advanced to ages that no test could wait for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/judging.h"
#include "verify/value_policy.h"

namespace pragma {

// `own` with the values of `other`, but for words that look like addresses, which only mean
// something in their own process. Both are as long.
[[nodiscard]] std::vector<std::byte> Exchanged(std::span<const std::byte> own,
                                               std::span<const std::byte> other);

// A word of kept memory that three calls in a row changed by the same step.
struct KeptCounter {
  std::size_t offset = 0;
  std::size_t bytes = 4;  // or 8
  std::uint64_t step = 0;
};
// `first`, `second`, `third`: after three calls on one set. As long as each other.
[[nodiscard]] std::vector<KeptCounter> FindCounters(std::span<const std::byte> first,
                                                    std::span<const std::byte> second,
                                                    std::span<const std::byte> third);
// Adds `calls` steps to each.
[[nodiscard]] std::vector<std::byte> Advanced(std::span<const std::byte> kept,
                                              std::span<const KeptCounter> counters,
                                              std::uint64_t calls);

class StateCheck final {
 public:
  // All outlive it. Both of the candidate's processes are there, and the policy has seen its sets.
  // `budget`: aim for the many calls; a third where no state can live.
  StateCheck(CheckedCalls& calls, ValuePolicy& policy, Judging& judging, Seconds budget)
      : calls_(calls), policy_(policy), judging_(judging), budget_(budget) {}

  // Rejects, or notes what was found.
  [[nodiscard]] Result<void> Run();

 private:
  [[nodiscard]] Result<void> LeftResults();
  [[nodiscard]] Result<void> ManyCalls();
  [[nodiscard]] Result<void> Exchange();
  [[nodiscard]] Result<void> Age(CheckedCalls::Kept where);
  [[nodiscard]] std::vector<std::uint32_t> Burst(std::uint64_t most, Rng& rng);
  [[nodiscard]] Result<bool> Look(const std::string& where);
  [[nodiscard]] Result<std::vector<std::byte>> KeptAfterCall(CheckedCalls::Kept where);
  [[nodiscard]] Result<bool> TryWith(CheckedCalls::Kept where, const std::vector<std::byte>& kept,
                                     const std::string& words);
  [[nodiscard]] Result<void> ExplainBits();
  void Summarise() const;

  CheckedCalls& calls_;
  ValuePolicy& policy_;
  Judging& judging_;
  Seconds budget_;
  ValuePolicy::DrawnSlots slots_;
  std::uint64_t made_ = 0;   // calls of the used process
  bool other_bits_ = false;  // once there were others than at first
  bool exchanged_ = false;
  bool runs_ = true;          // with memory that we changed
  std::size_t counters_ = 0;  // that were advanced
  std::string bits_;          // what the last bits depend on
};

}  // namespace pragma
