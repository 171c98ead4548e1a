// DeviceStage: what a Triton module is judged on. The sets, their truth and the areas lie with the
// referee (task/referee.h); here is what its figures mean. Reused from candidate to candidate; its
// values never are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
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

// Sets and draws for a device, or for the interpreter where there is none. Launches overlap with
// what was launched before them, so a burst of few calls is mostly their latency: as many sets as
// stay inside the second-level cache, but not fewer than make a burst, as far as memory goes.
[[nodiscard]] StageSize DeviceStageSize(const Task& task, const VerifyOptions& options,
                                        const Machine& machine);
// What a timed call of such a ring finds in the device's cache.
[[nodiscard]] CacheState DeviceCache(const Task& task, const StageSize& size,
                                     const Machine& machine);

// What is compared, and the number of the area where it computes (task/referee.h).
enum class DeviceArea : std::size_t { kCandidate, kEager, kCompile, kBest };
// Torch's two share theirs: they are never timed at once.
[[nodiscard]] constexpr std::size_t AreaNumber(DeviceArea area) {
  return static_cast<std::size_t>(area == DeviceArea::kCompile ? DeviceArea::kEager : area);
}
inline constexpr auto kCandidateArea = static_cast<std::size_t>(DeviceArea::kCandidate);

class DeviceStage final {
 public:
  // `server` outlives the stage.
  [[nodiscard]] static Result<DeviceStage> Create(TorchServer& server, const StageSize& size);

  [[nodiscard]] const Task& task() const { return server_->task(); }
  [[nodiscard]] TorchServer& server() { return *server_; }
  [[nodiscard]] Referee& referee() { return referee_; }
  [[nodiscard]] const StageSize& size() const { return size_; }

  // A new candidate: tolerances start anew with its first drawn set.
  void ForgetTolerances() { tolerances_.clear(); }
  // Draws a set into the slot, with its fp64 truth. Each drawn set widens the tolerances.
  [[nodiscard]] Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::size_t slot);
  [[nodiscard]] Result<void> RestoreSet(std::size_t draw, std::size_t slot);
  [[nodiscard]] Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                std::size_t slot);
  // Values that no call has seen, and Torch's own results of them.
  [[nodiscard]] Result<void> RenewSets(std::span<const std::uint32_t> slots, Rng& rng);

  [[nodiscard]] Tolerance ToleranceOf(std::size_t slot, std::size_t output) const;
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::size_t slot) const;
  // The first wrong output, else (ok) the figures of the least exact one.
  [[nodiscard]] Comparison Judge(const SlotFigures& slot,
                                 const std::vector<Tolerance>& tolerances) const;
  // Asked when an output is about to be called wrong, as Stage::SecondOpinion.
  [[nodiscard]] Result<Comparison> SecondOpinion(std::size_t area, std::uint32_t slot,
                                                 std::vector<Tolerance> tolerances, Rng& rng);
  // As Stage::WrongSmallValues.
  [[nodiscard]] Result<std::string> WrongSmallValues(std::size_t area, std::uint32_t slot,
                                                     Rng& rng);

 private:
  DeviceStage(TorchServer& server, const StageSize& size)
      : server_(&server), referee_(server), size_(size), against_torch_(size.sets) {}
  [[nodiscard]] std::string Complaint(Battery battery, const TruthFigures& truth,
                                      BatteryDraw& draw) const;
  [[nodiscard]] bool floating() const;
  [[nodiscard]] Referee::Rounding Rounding(int rounds, Rng& rng) const;
  // Empty: no small value is wrong.
  [[nodiscard]] std::string WrongSmallValue(const ConditionedFigures& figures) const;

  TorchServer* server_;
  Referee referee_;
  StageSize size_;
  TermsOf terms_ = TermsOf::kRandomValues;  // of the set that was made last
  std::vector<Tolerance> tolerances_;       // by output
  std::vector<double> nominal_rms_;  // by output: of the truth of the set that was drawn last
  std::vector<char> against_torch_;  // by slot: held against Torch's own result, not the truth
};

}  // namespace pragma
