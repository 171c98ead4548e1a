// ValuePolicy: which calls of a candidate must be right, how often it gets a second opinion, and
// what is reported when it is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "values/batteries.h"
#include "values/comparator.h"
#include "verify/checked_calls.h"
#include "verify/input_sets.h"
#include "verify/options.h"

namespace pragma {

struct Judging;

class ValuePolicy final {
 public:
  // All references must outlive it.
  ValuePolicy(InputSets& sets, CheckedCalls& calls, Judging& judging, const VerifyOptions& options,
              const VerifyProgress& progress);

  [[nodiscard]] Result<void> NominalSets();
  // Checks one secret input set. Returns KernelBench's verdict on it.
  [[nodiscard]] Result<bool> NominalSet(int index);
  // Checks one call on the set in the slot. Returns KernelBench's verdict on it.
  [[nodiscard]] Result<bool> JudgeCall(std::uint32_t slot, int index);
  // Calls the last set of NominalSets again (for a large task no earlier set is kept). The outputs
  // must be the same bits or, where the order of summation varies from run to run, right as well.
  // Torch's own sums vary too, so equal bits cannot be required.
  [[nodiscard]] Result<void> Again(std::string_view where);
  // The slot of that set and those of the other drawn sets. RestoreDrawn puts all of them back.
  struct DrawnSlots {
    std::uint32_t last = 0;
    std::vector<std::uint32_t> others;  // may be empty
  };
  [[nodiscard]] Result<DrawnSlots> RestoreDrawn();
  // Returns, after a call on the last set, whether the outputs are the same bits as at first. If
  // they are not, they must be right, or the candidate is rejected: "right values at first, wrong
  // ones WHERE".
  [[nodiscard]] Result<bool> SameAsAtFirst(std::string_view where);
  // True if the last call on the slot wrote nothing but its outputs. Otherwise rejects the
  // candidate.
  [[nodiscard]] bool GuardsHold(std::uint32_t slot);
  // Judges the results after a call on a battery's set. Rejects the candidate where they are wrong.
  [[nodiscard]] Result<void> JudgeBattery(std::uint32_t slot, Battery battery,
                                          const BatteryDraw& draw);
  [[nodiscard]] std::size_t LastDraw() const { return static_cast<std::size_t>(drawn_ - 1); }
  // True if the bits vary from process to process or from call to call.
  [[nodiscard]] bool reordered() const { return reordered_; }
  [[nodiscard]] Result<void> Batteries();
  void Summarise();
  [[nodiscard]] bool strict() const { return options_.judging.mode == CheckMode::kStrict; }

 private:
  [[nodiscard]] std::uint32_t SlotOf(std::size_t draw) const {
    return static_cast<std::uint32_t>(draw % sets_.sets());
  }
  [[nodiscard]] Comparison Compare(std::uint32_t slot, const std::vector<Tolerance>& tolerances) {
    return sets_.Compare(calls_.process(), slot, tolerances);
  }
  // Writes fresh poison into the outputs, so that a call that writes nothing is seen.
  void Poison(std::uint32_t slot);
  Result<void> JudgeNominal(std::uint32_t slot, int index, bool official);
  // Whether small elements are also examined on their own.
  enum class SmallValues : std::uint8_t { kCount, kMayBeLost };
  // Completes a comparison with a second opinion and a check of small values.
  Result<Comparison> Hold(std::uint32_t slot, const std::vector<Tolerance>& tolerances,
                          Comparison compared, SmallValues small);
  Result<Comparison> SecondOpinion(std::uint32_t slot, const std::vector<Tolerance>& tolerances,
                                   Comparison first);
  [[nodiscard]] std::vector<Battery> Shuffled(std::vector<Battery> batteries);
  [[nodiscard]] std::vector<Battery> Required() const;
  [[nodiscard]] bool OutOfTime(std::string_view battery);
  Result<bool> TryOne(Battery battery);
  Result<bool> EachOfConstants();
  Result<bool> OneBattery(const BatteryWish& wish, const std::string& name);
  Result<bool> EachNan();
  Result<Comparison> CompareBattery(std::uint32_t slot, Battery battery, const BatteryDraw& draw);
  void NoteBattery(Battery battery, const Comparison& compared);
  void JudgeNan(const BatteryWish& wish, const BatteryDraw& draw, const Comparison& compared);
  void Show(const std::string& phase) const {
    if (progress_) progress_(phase);
  }

  InputSets& sets_;
  CheckedCalls& calls_;
  Judging& judging_;
  const VerifyOptions& options_;
  const VerifyProgress& progress_;
  Rng side_rng_;  // random numbers for batteries; separate, so that their number does not shift
                  // other draws
  std::optional<TimePoint> late_;  // deadline for the batteries from now on; nullopt: no deadline
  std::vector<std::string> run_;   // batteries that were run
  bool warned_ = false;            // in official mode: that the strict rule would reject it
  std::vector<std::string> left_out_;
  int drawn_;  // number of input sets that are examined
  bool reordered_ = false;
  bool expected_ = false;  // the expected outputs of the last set are available
};

}  // namespace pragma
