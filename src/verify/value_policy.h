// ValuePolicy: which calls of a candidate must be right, how often it gets a second opinion, and
// what is reported when it is wrong. CheckedCalls hides where the calls are made and what they are
// compared with, which differs between a host and a device.
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

// Single calls of one candidate's process on the sets of a stage. The results of a call must be
// examined before the next call.
class CheckedCalls {
 public:
  CheckedCalls() = default;
  CheckedCalls(const CheckedCalls&) = delete;
  CheckedCalls& operator=(const CheckedCalls&) = delete;
  virtual ~CheckedCalls() = default;

  // The next functions forward to the stage.
  [[nodiscard]] virtual const Task& task() const = 0;
  [[nodiscard]] virtual std::size_t sets() const = 0;
  [[nodiscard]] virtual Result<void> DrawSet(std::size_t draw, std::uint64_t seed,
                                             std::uint32_t slot) = 0;
  // RestoreSet restores the arguments. Expect makes what outputs of a restored set are compared
  // with.
  [[nodiscard]] virtual Result<void> RestoreSet(std::size_t draw, std::uint32_t slot) = 0;
  [[nodiscard]] virtual Result<void> Expect(std::uint32_t slot) = 0;
  [[nodiscard]] virtual Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                        std::uint32_t slot) = 0;
  [[nodiscard]] virtual std::vector<Tolerance> Tolerances(std::uint32_t slot) const = 0;
  [[nodiscard]] virtual Result<Comparison> SecondOpinion(std::uint32_t slot,
                                                         std::vector<Tolerance> tolerances,
                                                         Rng& rng) = 0;

  // Returns in words which small element is wrong; empty: none is.
  [[nodiscard]] virtual Result<std::string> WrongSmallValues(std::uint32_t slot, Rng& rng) = 0;

  // Writes fresh poison and makes one call. Call, MeasuredCall and GuardsHold return false when the
  // candidate failed; the evaluation then says why.
  [[nodiscard]] virtual Result<bool> Call(std::uint32_t slot) = 0;
  // Like Call, but also records the shortest time of a call and of a round trip without one, and
  // the time for the part of the comparison that is already done.
  [[nodiscard]] virtual Result<bool> MeasuredCall(std::uint32_t slot) = 0;
  // True if nothing but the outputs was written.
  [[nodiscard]] virtual bool GuardsHold(std::uint32_t slot) = 0;

  [[nodiscard]] virtual Comparison Compare(std::uint32_t slot,
                                           const std::vector<Tolerance>& tolerances) = 0;
  // The candidate's processes: one that has made the checked calls, and one that has made few
  // calls.
  enum class History : std::uint8_t { kUsed, kPristine };
  // Chooses the process that makes the calls from now on.
  virtual void Choose(History history) = 0;
  // Makes one call on the memory as earlier calls left it. Only the outputs are filled again.
  [[nodiscard]] virtual Result<bool> CallOnKept(std::uint32_t slot) = 0;
  // CallOnKept in three steps, with other calls between them. Refill fills the outputs. CallMany
  // calls the slots one after the other and renews nothing. LookAt examines what the last call on
  // the slot left.
  [[nodiscard]] virtual Result<void> Refill(std::uint32_t slot) = 0;
  [[nodiscard]] virtual Result<bool> CallMany(std::span<const std::uint32_t> slots) = 0;
  [[nodiscard]] virtual Result<void> LookAt(std::uint32_t slot) = 0;
  // Makes the slot's new contents visible to the candidate. Its outputs stay as they are.
  [[nodiscard]] virtual Result<void> Publish(std::uint32_t slot) = 0;
  // The candidate's own memory (data, scratch), and what calls left below the stack pointers of its
  // threads.
  enum class Kept : std::uint8_t { kOwn, kStacks };
  // Returns what that memory keeps from call to call, as far as it can be read. May be empty.
  [[nodiscard]] virtual Result<std::vector<std::byte>> ReadKept(Kept where) = 0;
  // Writes the places that were read last. False: they cannot be written.
  [[nodiscard]] virtual Result<bool> WriteKept(Kept where, std::span<const std::byte> kept) = 0;

  // Applies KernelBench's rule. Only for the slot that was drawn last.
  [[nodiscard]] virtual bool Official(std::uint32_t slot) = 0;
  // Keep remembers the outputs. AsKept returns whether the outputs are the same bits again.
  [[nodiscard]] virtual Result<void> Keep(std::uint32_t slot) = 0;
  [[nodiscard]] virtual bool AsKept(std::uint32_t slot) = 0;
};

class ValuePolicy final {
 public:
  // All references must outlive it.
  ValuePolicy(CheckedCalls& calls, Judging& judging, const VerifyOptions& options,
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
  // Judges the results after a call on a battery's set. Rejects the candidate where they are wrong.
  [[nodiscard]] Result<void> JudgeBattery(std::uint32_t slot, Battery battery,
                                          const BatteryDraw& draw);
  [[nodiscard]] std::size_t LastDraw() const {
    return static_cast<std::size_t>(options_.check_sets - 1);
  }
  // True if the bits vary from process to process or from call to call.
  [[nodiscard]] bool reordered() const { return reordered_; }
  [[nodiscard]] Result<void> Batteries();
  void Summarise();
  [[nodiscard]] bool strict() const { return options_.judging.mode == CheckMode::kStrict; }

 private:
  [[nodiscard]] std::uint32_t SlotOf(std::size_t draw) const {
    return static_cast<std::uint32_t>(draw % calls_.sets());
  }
  Result<void> JudgeNominal(std::uint32_t slot, int index, bool official);
  // Whether small elements are also examined on their own.
  enum class SmallValues : std::uint8_t { kCount, kMayBeLost };
  // Completes a comparison with a second opinion and a check of small values.
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
  Rng side_rng_;  // random numbers for batteries; separate, so that their number does not shift
                  // other draws
  std::optional<TimePoint> late_;  // deadline for the batteries from now on; nullopt: no deadline
  std::vector<std::string> run_;   // batteries that were run
  std::vector<std::string> left_out_;
  bool reordered_ = false;
  bool expected_ = false;  // the expected outputs of the last set are available
};

}  // namespace pragma
