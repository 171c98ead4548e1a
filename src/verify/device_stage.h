// DeviceStage: what a candidate for a GPU is judged on. The referee (task/referee.h) holds the
// sets, their truth and the areas; this class interprets its figures. It is reused from candidate
// to candidate, but its values never are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/task.h"
#include "machine/machine.h"
#include "task/referee.h"
#include "task/torch_server.h"
#include "verify/batteries.h"
#include "verify/battery_rules.h"
#include "verify/comparator.h"
#include "verify/options.h"
#include "verify/stage.h"

namespace pragma {

// Returns the numbers of sets and draws for a device, or for the interpreter where there is no
// device. Each launch overlaps with earlier ones, so a burst of few calls is mostly their latency.
// There are therefore as many sets as fit the second-level cache, but at least enough for a burst,
// as far as memory allows.
[[nodiscard]] StageSize DeviceStageSize(const Task& task, const VerifyOptions& options,
                                        const Machine& machine);
// Returns what a timed call on such a ring finds in the device's cache.
[[nodiscard]] CacheState DeviceCache(const Task& task, const StageSize& size,
                                     const Machine& machine);

// The sides that are compared. The value is the number of the area where a side computes
// (task/referee.h).
enum class DeviceArea : std::size_t { kCandidate, kEager, kCompile, kBest };
// The two Torch sides share one area, because they are never timed at the same time.
[[nodiscard]] constexpr std::size_t AreaNumber(DeviceArea area) {
  return static_cast<std::size_t>(area == DeviceArea::kCompile ? DeviceArea::kEager : area);
}
inline constexpr auto kCandidateArea = static_cast<std::size_t>(DeviceArea::kCandidate);

class DeviceStage final {
 public:
  // `server` must outlive the stage.
  [[nodiscard]] static Result<DeviceStage> Create(TorchServer& server, const StageSize& size);

  [[nodiscard]] const Task& task() const { return server_->task(); }
  [[nodiscard]] TorchServer& server() { return *server_; }
  [[nodiscard]] Referee& referee() { return referee_; }
  [[nodiscard]] const StageSize& size() const { return size_; }

  // Call it for each new candidate: the tolerances start again with its first drawn set.
  void ForgetTolerances() { tolerances_.clear(); }
  // Draws a set into the slot, with its fp64 truth. Each drawn set widens the tolerances.
  [[nodiscard]] Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::size_t slot);
  [[nodiscard]] Result<void> RestoreSet(std::size_t draw, std::size_t slot);
  [[nodiscard]] Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                std::size_t slot);
  // Fills the slots with values that no call has seen, and computes Torch's own results for them.
  [[nodiscard]] Result<void> RenewSets(std::span<const std::uint32_t> slots, Rng& rng);

  [[nodiscard]] Tolerance ToleranceOf(std::size_t slot, std::size_t output) const;
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::size_t slot) const;
  // Returns the first wrong output, or else (ok) the figures of the least exact one.
  [[nodiscard]] Comparison Judge(const SlotFigures& slot,
                                 const std::vector<Tolerance>& tolerances) const;
  // Called when an output is about to be called wrong. See Stage::SecondOpinion.
  [[nodiscard]] Result<Comparison> SecondOpinion(std::size_t area, std::uint32_t slot,
                                                 std::vector<Tolerance> tolerances, Rng& rng);
  // See Stage::WrongSmallValues.
  [[nodiscard]] Result<std::string> WrongSmallValues(std::size_t area, std::uint32_t slot,
                                                     Rng& rng);

 private:
  DeviceStage(TorchServer& server, const StageSize& size)
      : server_(&server), referee_(server), size_(size), against_torch_(size.sets) {}
  [[nodiscard]] std::string Complaint(Battery battery, const TruthFigures& truth,
                                      BatteryDraw& draw) const;
  [[nodiscard]] bool floating() const;
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
};

}  // namespace pragma
