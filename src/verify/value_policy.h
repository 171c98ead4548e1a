// ValuePolicy: which calls of a candidate must be right, how often it gets a second opinion, and
// what is said when it is wrong. Where its calls are made and what they are held against differs
// between the host and a device: CheckedCalls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/batteries.h"
#include "verify/comparator.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/stage.h"

namespace pragma {

// Single calls of one candidate's process on the sets of a stage. What a call left is asked for
// before the next one.
class CheckedCalls {
 public:
  CheckedCalls() = default;
  CheckedCalls(const CheckedCalls&) = delete;
  CheckedCalls& operator=(const CheckedCalls&) = delete;
  virtual ~CheckedCalls() = default;

  // As the stage has them.
  [[nodiscard]] virtual const Task& task() const = 0;
  [[nodiscard]] virtual std::size_t sets() const = 0;
  [[nodiscard]] virtual Result<void> DrawSet(std::size_t draw, std::uint64_t seed,
                                             std::uint32_t slot) = 0;
  // The arguments; Expect makes what outputs of a restored set are compared with.
  [[nodiscard]] virtual Result<void> RestoreSet(std::size_t draw, std::uint32_t slot) = 0;
  [[nodiscard]] virtual Result<void> Expect(std::uint32_t slot) = 0;
  [[nodiscard]] virtual Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                        std::uint32_t slot) = 0;
  [[nodiscard]] virtual std::vector<Tolerance> Tolerances(std::uint32_t slot) const = 0;
  [[nodiscard]] virtual Result<Comparison> SecondOpinion(std::uint32_t slot,
                                                         std::vector<Tolerance> tolerances,
                                                         Rng& rng) = 0;

  // Which element that is small beside others is wrong, in words; empty: none.
  [[nodiscard]] virtual Result<std::string> WrongSmallValues(std::uint32_t slot, Rng& rng) = 0;

  // Fresh poison and one call. These three say false when the candidate failed; the evaluation then
  // says why.
  [[nodiscard]] virtual Result<bool> Call(std::uint32_t slot) = 0;
  // The same, noting how long it and a round without a call take at least, and what of its
  // comparison is done already.
  [[nodiscard]] virtual Result<bool> MeasuredCall(std::uint32_t slot) = 0;
  // Nothing was written but the outputs.
  [[nodiscard]] virtual bool GuardsHold(std::uint32_t slot) = 0;

  [[nodiscard]] virtual Comparison Compare(std::uint32_t slot,
                                           const std::vector<Tolerance>& tolerances) = 0;
  // The candidate's processes: one that has made the checked calls, and one that has made few.
  enum class History : std::uint8_t { kUsed, kPristine };
  // Who makes the calls from now on.
  virtual void Choose(History history) = 0;
  // One call on whatever earlier ones left: only the outputs are filled anew.
  [[nodiscard]] virtual Result<bool> CallOnKept(std::uint32_t slot) = 0;
  // The same in three steps, with other calls between them: its outputs are filled; calls on slots
  // one after the other, with nothing renewed; what the last call on the slot left is looked at.
  [[nodiscard]] virtual Result<void> Refill(std::uint32_t slot) = 0;
  [[nodiscard]] virtual Result<bool> CallMany(std::span<const std::uint32_t> slots) = 0;
  [[nodiscard]] virtual Result<void> LookAt(std::uint32_t slot) = 0;
  // What was put into the slot reaches the candidate, whose outputs stay as they are.
  [[nodiscard]] virtual Result<void> Publish(std::uint32_t slot) = 0;
  // Its own memory (data, scratch), and what calls left below the stack pointers of its threads.
  enum class Kept : std::uint8_t { kOwn, kStacks };
  // What that memory holds from call to call, as far as it can be read; may be empty.
  [[nodiscard]] virtual Result<std::vector<std::byte>> ReadKept(Kept where) = 0;
  // Of the places that were read last. False: they cannot be written.
  [[nodiscard]] virtual Result<bool> WriteKept(Kept where, std::span<const std::byte> kept) = 0;

  // KernelBench's rule; only for the slot that was drawn last.
  [[nodiscard]] virtual bool Official(std::uint32_t slot) = 0;
  // Remembers the outputs, for AsKept: the same bits.
  [[nodiscard]] virtual Result<void> Keep(std::uint32_t slot) = 0;
  [[nodiscard]] virtual bool AsKept(std::uint32_t slot) = 0;
};

class ValuePolicy final {
 public:
  // All outlive it.
  ValuePolicy(CheckedCalls& calls, Judging& judging, const VerifyOptions& options,
              const VerifyProgress& progress);

  [[nodiscard]] Result<void> NominalSets();
  // One secret input set. Returns KernelBench's verdict on it.
  [[nodiscard]] Result<bool> NominalSet(int index);
  // One call on what lies in the slot. Returns KernelBench's verdict on it.
  [[nodiscard]] Result<bool> JudgeCall(std::uint32_t slot, int index);
  // The last set of NominalSets once more (a large task keeps no earlier one): the same bits, or,
  // where the order of summation varies from run to run, values that are right as well. Torch's own
  // sums vary too, so equal bits cannot be asked for.
  [[nodiscard]] Result<void> Again(std::string_view where);
  // The slot of that set, and those of the other drawn sets; all hold them again.
  struct DrawnSlots {
    std::uint32_t last = 0;
    std::vector<std::uint32_t> others;  // may be empty
  };
  [[nodiscard]] Result<DrawnSlots> RestoreDrawn();
  // After a call on the last set: whether the outputs are the same bits as at first. Where they are
  // not they must be right, or the candidate is rejected: "right values at first, wrong ones
  // WHERE".
  [[nodiscard]] Result<bool> SameAsAtFirst(std::string_view where);
  // After a call on such a battery's set: whether its results are right; the candidate is rejected
  // where they are not.
  [[nodiscard]] Result<void> JudgeBattery(std::uint32_t slot, Battery battery,
                                          const BatteryDraw& draw);
  [[nodiscard]] std::size_t LastDraw() const {
    return static_cast<std::size_t>(options_.check_sets - 1);
  }
  // The bits vary from process to process, or from call to call.
  [[nodiscard]] bool reordered() const { return reordered_; }
  [[nodiscard]] Result<void> Batteries();
  void Summarise();
  [[nodiscard]] bool strict() const { return options_.mode == CheckMode::kStrict; }

 private:
  [[nodiscard]] std::uint32_t SlotOf(std::size_t draw) const {
    return static_cast<std::uint32_t>(draw % calls_.sets());
  }
  Result<void> JudgeNominal(std::uint32_t slot, int index, bool official);
  // Whether elements that are small beside others are looked at for themselves.
  enum class SmallValues : std::uint8_t { kCount, kMayBeLost };
  // With a second opinion, and a look at small values.
  Result<Comparison> Hold(std::uint32_t slot, const std::vector<Tolerance>& tolerances,
                          Comparison compared, SmallValues small);
  Result<Comparison> SecondOpinion(std::uint32_t slot, std::vector<Tolerance> tolerances,
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

  CheckedCalls& calls_;
  Judging& judging_;
  const VerifyOptions& options_;
  const VerifyProgress& progress_;
  Rng side_rng_;  // of batteries: how many of them there is time for must not shift other draws
  std::optional<TimePoint> late_;  // for the batteries from now on; none: time does not cut them
  std::vector<std::string> run_;   // batteries
  std::vector<std::string> left_out_;
  bool reordered_ = false;
  bool expected_ = false;  // what the last set should give is there
};

}  // namespace pragma
