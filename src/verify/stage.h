// Stage: everything that candidates of one task are judged on: the ring, the secret input sets and
// the expected outputs. A stage is reused from candidate to candidate, but its values never are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/judging.h"
#include "core/task.h"
#include "harness/ring.h"
#include "harness/timed_process.h"
#include "task/set_layout.h"
#include "task/torch_server.h"
#include "values/batteries.h"
#include "values/battery_rules.h"
#include "values/comparator.h"
#include "values/conditioning.h"
#include "verify/input_pool.h"
#include "verify/input_sets.h"
#include "verify/structure.h"

namespace pragma {

struct StageSize {
  std::size_t sets = 2;   // number of sets in the ring (K)
  std::size_t draws = 5;  // number of drawn sets in the pool
  bool warm = false;      // all sets together fit in the last-level cache
};

// Chooses the size of a stage. Warm: as many sets (2 to 64) as fit in `last_level_cache` bytes, or
// two if not even those fit. Cold: more than four times the cache, at most 64 sets.
[[nodiscard]] StageSize ChooseStageSize(const Task& task, CacheState cache,
                                        std::size_t last_level_cache, int check_sets);

// True if refills need the fp64 truth, that is if an output holds integers. Integers must be exact,
// and Torch's own differ from the truth at near ties.
[[nodiscard]] bool RefillsNeedTruth(const Task& task);

// Returns the shared memory that a stage of this size takes, in bytes, with one worker's outputs.
[[nodiscard]] std::size_t StageBytes(const Task& task, const StageSize& size);

// Returns the index of the drawn set that a battery rewrites.
[[nodiscard]] std::size_t DrawFor(const BatteryWish& wish, std::size_t draws, Rng& rng);
// Makes the request for a battery, with its own seed.
[[nodiscard]] BatteryRequest RequestFor(const Task& task, const BatteryWish& wish, double rung,
                                        Rng& rng);

class Stage final : public InputSets, public LateInputs {
 public:
  // `server` must outlive the stage. Its task is the one that is judged.
  [[nodiscard]] static Result<Stage> Create(TorchServer& server, const StageSize& size);

  [[nodiscard]] const Task& task() const override { return server_->task(); }
  [[nodiscard]] std::size_t sets() const override { return ring_.sets(); }
  [[nodiscard]] TorchServer& server() { return *server_; }
  [[nodiscard]] const Ring& ring() const { return ring_; }

  void Forget() override;
  [[nodiscard]] Result<void> DrawSet(std::size_t draw, std::uint64_t seed,
                                     std::size_t slot) override;
  [[nodiscard]] Result<void> RestoreSet(std::size_t draw, std::size_t slot) override;
  [[nodiscard]] Result<void> ExpectTruth(std::size_t slot) override;
  [[nodiscard]] Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                std::size_t slot) override;
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::size_t slot) const override;

  // Outputs are in memory that pragma can read, so there is nothing to look at in advance.
  [[nodiscard]] Result<void> LookAt(const TimedProcess& /*process*/,
                                    std::span<const std::uint32_t> /*slots*/) override {
    return {};
  }
  [[nodiscard]] Damage DamageIn(const TimedProcess& process, std::uint32_t slot) const override {
    return {.outside = process.BrokenGuard(slot).value_or(""), .written = {}};
  }
  [[nodiscard]] Comparison Compare(const TimedProcess& process, std::uint32_t slot,
                                   const std::vector<Tolerance>& tolerances) const override;
  [[nodiscard]] Result<Comparison> SecondOpinion(const TimedProcess& process, std::uint32_t slot,
                                                 const std::vector<Tolerance>& tolerances,
                                                 Rng& rng) override;
  [[nodiscard]] Result<std::string> WrongSmallValues(const TimedProcess& process,
                                                     std::uint32_t slot, Rng& rng) override;
  [[nodiscard]] bool Official(const TimedProcess& process, std::uint32_t slot) const override;
  [[nodiscard]] Result<void> Keep(const TimedProcess& process, std::uint32_t slot) override;
  [[nodiscard]] bool AsKept(const TimedProcess& process, std::uint32_t slot) const override;

  // Each set is a fresh splice of the drawn sets.
  [[nodiscard]] Result<void> RenewSets(std::span<const std::uint32_t> slots, Rng& rng) override;
  [[nodiscard]] Result<double> Upkeep(double compare_seconds, Rng& rng) override;
  // The ring shows its sets to all processes, so they are in place before the warm-up.
  [[nodiscard]] Result<void> BeforeWarmup(TimedProcess& /*process*/, const BurstSets& burst,
                                          Rng& /*rng*/) override {
    Warm(burst.all);
    return {};
  }
  [[nodiscard]] Result<void> AfterWarmup(TimedProcess& /*process*/, const BurstSets& /*burst*/,
                                         Rng& /*rng*/) override {
    return {};
  }
  [[nodiscard]] LateInputs* late() override { return this; }
  [[nodiscard]] Result<void> RenewInputs(std::size_t slot, Rng& rng) override;
  [[nodiscard]] Result<void> StageInputs(std::size_t slot, Rng& rng) override;
  void Publish(std::size_t slot) override;
  void Warm(std::span<const std::uint32_t> slots) const override;
  // True if no floating argument can be spliced, or a splice once gave NaN or infinity where drawn
  // sets do not.
  [[nodiscard]] bool draws_refills() const override { return draws_refills_; }

  // Like Compare, for outputs from any source in PackedLayout(task), such as those of lint.
  [[nodiscard]] Comparison CompareOutputs(std::span<const std::byte> outputs, std::size_t slot,
                                          const std::vector<Tolerance>& tolerances) const;
  // Applies KernelBench's rule to such outputs. Only for the slot that was drawn last.
  [[nodiscard]] bool OfficialOutputs(std::span<const std::byte> outputs, std::size_t slot) const;
  // `native` returns Torch's own outputs for the slot that was drawn last. NativeOutputs computes
  // them for any arguments in PackedLayout.
  [[nodiscard]] std::span<const std::byte> native() const;
  [[nodiscard]] Result<std::vector<std::byte>> NativeOutputs(std::span<const std::byte> arguments);
  [[nodiscard]] std::span<const std::byte> arguments(std::size_t slot) const;

 private:
  Stage(TorchServer& server, Ring ring, InputPool pool, bool warm);
  [[nodiscard]] OutputView View(const TimedProcess& process, std::size_t slot, std::size_t output,
                                bool native) const;
  [[nodiscard]] std::span<const std::byte> Expected(std::size_t slot, std::size_t output) const;
  [[nodiscard]] Result<void> RenewSet(std::size_t slot, Rng& rng);
  [[nodiscard]] Result<void> StageDraw(std::size_t slot, Rng& rng);
  // Computes Torch's own result, with which the slot's outputs are compared from now on.
  // (ExpectTruth does so with the fp64 truth.)
  [[nodiscard]] Result<void> ExpectTorch(std::size_t slot);
  [[nodiscard]] Result<void> ExpectRefill(std::size_t slot);
  [[nodiscard]] Result<void> MakeNative(std::size_t slot);
  [[nodiscard]] std::size_t TruthOffset(std::size_t slot) const;
  [[nodiscard]] std::span<const std::byte> Native(std::size_t slot, std::size_t output) const;
  [[nodiscard]] OutputView NativeView(std::size_t slot, std::size_t output) const;
  [[nodiscard]] Result<BatteryDraw> TryBattery(const BatteryWish& wish, double rung, Rng& rng,
                                               std::size_t slot);
  [[nodiscard]] std::string BatteryComplaint(Battery battery, std::size_t slot,
                                             BatteryDraw& draw) const;
  [[nodiscard]] std::span<std::byte> Staged(std::size_t slot);
  [[nodiscard]] bool AnyOfOneSign(const TimedProcess& process, std::size_t slot) const;
  [[nodiscard]] std::vector<std::byte> Outputs(const TimedProcess& process, std::size_t slot) const;
  // Returns how far the outputs of the slot move, by output. Entries of integer outputs stay empty.
  [[nodiscard]] Result<std::vector<Movement>> Movements(std::size_t slot, int rounds, Rng& rng);
  // Adds the movements of many more changed copies (kFurtherMovements).
  [[nodiscard]] Result<void> MoveFurther(std::size_t slot, Rng& rng,
                                         std::vector<Movement>& movements);
  struct ChangedCopies {
    int rounds = 0;
    double factor = 1;  // of each element's movement (Movement::Add)
  };
  [[nodiscard]] Result<void> Move(std::size_t slot, const ChangedCopies& copies, Rng& rng,
                                  std::vector<Movement>& movements);
  // Computes the truth of a copy of the set with changed inputs.
  [[nodiscard]] Result<void> MakeMoved(std::size_t slot, Rng& rng);
  // Returns tolerances that also leave room for Torch's errors on such copies.
  [[nodiscard]] Result<std::vector<Tolerance>> TolerancesNearby(std::size_t slot,
                                                                std::vector<Tolerance> tolerances,
                                                                Rng& rng);
  [[nodiscard]] Result<void> MoveOnce(std::size_t slot, double factor, Rng& rng,
                                      std::vector<Movement>& movements);
  // Allows what rounding errors of the inputs explain. The truth of the set must be there.
  [[nodiscard]] Result<Comparison> CompareIllConditioned(const TimedProcess& process,
                                                         std::uint32_t slot,
                                                         const std::vector<Tolerance>& tolerances,
                                                         Rng& rng);
  [[nodiscard]] Comparison CompareMoved(const TimedProcess& process, std::size_t slot,
                                        const std::vector<Tolerance>& tolerances,
                                        const std::vector<Movement>& movements,
                                        Jumps jumps = Jumps::kWhereSeen) const;
  // Returns the first wrong small value in words. Empty: no small value is wrong.
  [[nodiscard]] std::string WrongSmallValue(const TimedProcess& process, std::size_t slot,
                                            const std::vector<Movement>& movements) const;
  [[nodiscard]] Result<void> MakePerturbed();
  void KeepSymmetry(std::span<std::byte> packed) const;
  [[nodiscard]] Tolerance ToleranceOf(std::size_t slot, std::size_t output) const;
  [[nodiscard]] bool ExpectsNonFinite(std::size_t slot) const;

  TorchServer* server_;
  Ring ring_;
  InputPool pool_;
  SetLayout packed_;
  SetLayout wide_;
  SharedMemory staging_;    // ring_.sets() sets in packed layout: what the reference reads
  SharedMemory native_;     // Torch's own outputs of those sets, in packed layout
  SharedMemory truth_;      // fp64 outputs, either of the slot computed last or of each slot
  SharedMemory perturbed_;  // one changed set of arguments; made when first needed
  SharedMemory perturbed_truth_;
  std::vector<Tolerance> tolerances_;        // tolerance, by output
  std::vector<double> nominal_rms_;          // by output: rms of the truth of the set drawn last
  std::vector<TensorStructure> structures_;  // by argument; empty until a set is drawn
  std::vector<char> against_torch_;          // by slot: the expected outputs are Torch's own result
  std::size_t truth_slot_ = 0;               // slot whose truth was computed last
  std::size_t native_slot_ = 0;              // slot whose outputs native() shows
  std::vector<std::byte> kept_;              // outputs that Keep remembered
  TermsOf terms_ = TermsOf::kRandomValues;   // terms of the set that was made last
  bool warm_;
  bool drawn_finite_ = true;
  bool draws_refills_ = false;
};

}  // namespace pragma
