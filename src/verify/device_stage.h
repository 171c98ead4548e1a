// DeviceStage: what a candidate for a GPU is judged on. The referee (task/referee.h) holds the
// sets, their truth and the areas; this class interprets its figures. It is reused from candidate
// to candidate, but its values never are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/task.h"
#include "harness/timed_process.h"
#include "machine/machine.h"
#include "task/referee.h"
#include "task/torch_server.h"
#include "values/batteries.h"
#include "values/battery_rules.h"
#include "values/comparator.h"
#include "verify/input_sets.h"
#include "verify/options.h"
#include "verify/stage.h"
#include "verify/timed_sides.h"

namespace pragma {

// Returns the numbers of sets and draws for a device, or for the interpreter where there is no
// device. Each launch overlaps with earlier ones, so a burst of few calls is mostly their latency.
// There are therefore as many sets as fit the second-level cache, but at least enough for a burst,
// as far as memory allows.
[[nodiscard]] StageSize DeviceStageSize(const Task& task, const VerifyOptions& options,
                                        const Machine& machine);
// Estimates the device memory that all processes of an evaluation take together: the sets with
// their references, and what a driver keeps for each process.
[[nodiscard]] std::size_t DeviceMemoryNeed(const Task& task, const StageSize& size);
// Returns what a timed call on such a ring finds in the device's cache.
[[nodiscard]] CacheState DeviceCache(const Task& task, const StageSize& size,
                                     const Machine& machine);

// Returns the number of the area where a side computes (task/referee.h). The two Torch sides share
// one, because they are never timed at the same time.
[[nodiscard]] constexpr std::size_t AreaNumber(SideRole role) {
  return static_cast<std::size_t>(role == SideRole::kCompile ? SideRole::kEager : role);
}
inline constexpr std::size_t kCandidateArea = AreaNumber(SideRole::kCandidate);

class DeviceStage final : public InputSets {
 public:
  // `server` must outlive the stage.
  [[nodiscard]] static Result<DeviceStage> Create(TorchServer& server, const StageSize& size);

  [[nodiscard]] const Task& task() const override { return server_->task(); }
  [[nodiscard]] std::size_t sets() const override { return size_.sets; }
  [[nodiscard]] TorchServer& server() { return *server_; }
  [[nodiscard]] Referee& referee() { return referee_; }
  [[nodiscard]] const StageSize& size() const { return size_; }

  void Forget() override;
  [[nodiscard]] Result<void> DrawSet(std::size_t draw, std::uint64_t seed,
                                     std::size_t slot) override;
  [[nodiscard]] Result<void> RestoreSet(std::size_t draw, std::size_t slot) override;
  [[nodiscard]] Result<void> ExpectTruth(std::size_t /*slot*/) override {
    return {};  // the referee has kept it
  }
  [[nodiscard]] Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                std::size_t slot) override;
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::size_t slot) const override;

  [[nodiscard]] Result<void> LookAt(const TimedProcess& process,
                                    std::span<const std::uint32_t> slots) override;
  [[nodiscard]] Damage DamageIn(const TimedProcess& /*process*/,
                                std::uint32_t slot) const override {
    return {.outside = left_[slot].outside, .written = left_[slot].written};
  }
  [[nodiscard]] Comparison Compare(const TimedProcess& /*process*/, std::uint32_t slot,
                                   const std::vector<Tolerance>& tolerances) const override {
    return Judge(left_[slot], tolerances);
  }
  [[nodiscard]] Result<Comparison> SecondOpinion(const TimedProcess& process, std::uint32_t slot,
                                                 const std::vector<Tolerance>& tolerances,
                                                 Rng& rng) override;
  [[nodiscard]] Result<std::string> WrongSmallValues(const TimedProcess& process,
                                                     std::uint32_t slot, Rng& rng) override;
  [[nodiscard]] bool Official(const TimedProcess& /*process*/, std::uint32_t slot) const override {
    return left_[slot].official;
  }
  [[nodiscard]] Result<void> Keep(const TimedProcess& process, std::uint32_t slot) override {
    return referee_.Keep(process.area(), slot);
  }
  [[nodiscard]] bool AsKept(const TimedProcess& /*process*/, std::uint32_t slot) const override {
    return left_[slot].as_kept;
  }

  [[nodiscard]] Result<void> RenewSets(std::span<const std::uint32_t> slots, Rng& rng) override;
  [[nodiscard]] Result<double> Upkeep(double compare_seconds, Rng& rng) override;
  // The timed sets reach the area only after the warm-up has finished.
  [[nodiscard]] Result<void> BeforeWarmup(TimedProcess& process, const BurstSets& burst,
                                          Rng& rng) override;
  [[nodiscard]] Result<void> AfterWarmup(TimedProcess& process, const BurstSets& burst,
                                         Rng& rng) override;

  // Puts the slots into an area, with poison in their outputs.
  [[nodiscard]] Result<void> Put(std::size_t area, std::span<const std::uint32_t> slots, Rng& rng,
                                 Referee::Outputs outputs = Referee::Outputs::kFilled);
  // Puts the slot into the candidate's area, and with it every slot that was drawn or restored and
  // is not there yet.
  [[nodiscard]] Result<void> PutAllFresh(std::uint32_t slot, Rng& rng);

 private:
  DeviceStage(TorchServer& server, const StageSize& size)
      : server_(&server),
        referee_(server),
        size_(size),
        against_torch_(size.sets),
        left_(size.sets) {}
  [[nodiscard]] Result<std::vector<Tolerance>> TolerancesNearby(std::size_t slot,
                                                                std::vector<Tolerance> tolerances,
                                                                Rng& rng);
  [[nodiscard]] Comparison Judge(const SlotFigures& slot,
                                 const std::vector<Tolerance>& tolerances) const;
  [[nodiscard]] std::string Complaint(Battery battery, const TruthFigures& truth,
                                      BatteryDraw& draw) const;
  [[nodiscard]] bool floating() const;
  [[nodiscard]] Tolerance ToleranceOf(std::size_t slot, std::size_t output) const;
  [[nodiscard]] Referee::Rounding Rounding(int rounds, Rng& rng) const;
  // Returns the first wrong small value in words. Empty: no small value is wrong.
  [[nodiscard]] std::string WrongSmallValue(const ConditionedFigures& figures) const;

  TorchServer* server_;
  Referee referee_;
  StageSize size_;
  TermsOf terms_ = TermsOf::kRandomValues;  // terms of the set that was made last
  std::vector<Tolerance> tolerances_;       // tolerance, by output
  std::vector<double> nominal_rms_;  // by output: rms of the truth of the set that was drawn last
  std::vector<char> against_torch_;  // by slot: compared with Torch's result, not with the truth
  std::vector<SlotFigures> left_;    // by slot: what LookAt found
  std::set<std::uint32_t> stale_;    // slots whose values are not in the candidate's area yet
};

}  // namespace pragma
