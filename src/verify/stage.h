// Stage: everything of one task that candidates are judged on: the ring, the secret input sets and
// the expected outputs. Reused from candidate to candidate; its values never are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "harness/ring.h"
#include "harness/worker_process.h"
#include "task/set_layout.h"
#include "task/torch_server.h"
#include "verify/batteries.h"
#include "verify/battery_rules.h"
#include "verify/comparator.h"
#include "verify/conditioning.h"
#include "verify/input_pool.h"
#include "verify/structure.h"

namespace pragma {

// What a timed call finds in the caches: its inputs, or nothing of its own.
enum class CacheState : std::uint8_t { kWarm, kCold };

struct StageSize {
  std::size_t sets = 2;   // K of the ring
  std::size_t draws = 5;  // of the pool
  bool warm = false;      // all sets together stay inside the last-level cache
};

// Warm: as many sets (2 to 64) as stay inside `last_level_cache` bytes, two when not even those do.
// Cold: more than four times the cache, at most 64.
[[nodiscard]] StageSize ChooseStageSize(const Task& task, CacheState cache,
                                        std::size_t last_level_cache, int check_sets);

// Integers must be exact, and Torch's own differ from the truth at near ties.
[[nodiscard]] bool RefillsNeedTruth(const Task& task);

// Shared memory a stage of that size takes, in bytes, with one worker's outputs.
[[nodiscard]] std::size_t StageBytes(const Task& task, const StageSize& size);

// One battery's set in a ring slot, and how outputs of it are judged.
struct BatteryDraw {
  std::string not_admitted;           // why the reference cannot judge it; empty: it can
  std::vector<Tolerance> tolerances;  // by output
  std::vector<char> exact;            // by output: integers that any order of summation gets right
  bool finite = true;                 // the truth is, everywhere
};
// Which of the drawn sets a battery rewrites.
[[nodiscard]] std::size_t DrawFor(const BatteryWish& wish, std::size_t draws, Rng& rng);
// With a seed of its own.
[[nodiscard]] BatteryRequest RequestFor(const Task& task, const BatteryWish& wish, double rung,
                                        Rng& rng);

class Stage final {
 public:
  // `server` outlives the stage; its task is the one judged.
  [[nodiscard]] static Result<Stage> Create(TorchServer& server, const StageSize& size);

  [[nodiscard]] const Task& task() const { return server_->task(); }
  [[nodiscard]] TorchServer& server() { return *server_; }
  [[nodiscard]] const Ring& ring() const { return ring_; }
  [[nodiscard]] std::size_t draws() const { return pool_.size(); }

  // Draws pool set `draw` under `seed`, puts it into ring slot `slot` and computes its expected
  // outputs. The tolerance of each output is widened by what Torch's own error on it asks for.
  [[nodiscard]] Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::size_t slot);
  // Puts a fresh splice of the drawn sets into the slot and computes what it should give: Torch's
  // own result where every output is floating (the candidate was held against fp64 before; drawn
  // sets' truth is forgotten), else the fp64 truth.
  [[nodiscard]] Result<void> RenewSet(std::size_t slot, Rng& rng);
  // The same for the inputs only; parameters, buffers and constants stay as they are, except where
  // refills must be drawn.
  [[nodiscard]] Result<void> RenewInputs(std::size_t slot, Rng& rng);
  // The same in two steps: StageInputs draws and knows what to expect, but no worker sees the new
  // values before Publish.
  [[nodiscard]] Result<void> StageInputs(std::size_t slot, Rng& rng);
  void Publish(std::size_t slot);
  // Brings the arguments of these sets back into the last-level cache, where they fit: making their
  // expected outputs drives them out.
  void Warm(std::span<const std::uint32_t> slots) const;

  // Puts set `draw` as it was drawn into the slot once more. What its outputs should be is made by
  // ExpectTruth: mostly nobody asks, since they are the same bits again.
  void RestoreSet(std::size_t draw, std::size_t slot);
  // What the slot's outputs are held against from now on: the fp64 truth.
  [[nodiscard]] Result<void> ExpectTruth(std::size_t slot);
  // Makes a battery's set from a drawn one and puts it into the slot with its fp64 outputs. It is
  // admitted when reference and Torch's own result are finite (batteries with infinities or NaN: in
  // the same places) and close enough to tell right from wrong.
  [[nodiscard]] Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng,
                                                std::size_t slot);
  // Asked when an output is about to be called wrong: could honest rounding have done it? Compares
  // with the fp64 truth, and allows each element what rounding of the inputs does to it: the slot's
  // floating arguments are changed by what rounding does to sums of their length, and the truth is
  // computed again. Integers may be Torch's own instead: which of two values is larger can
  // be lost in rounding.
  [[nodiscard]] Result<Comparison> SecondOpinion(const WorkerProcess& worker, std::size_t slot,
                                                 std::vector<Tolerance> tolerances, Rng& rng);

  // Asked when outputs are right but for elements that are off by a large part of themselves: which
  // of them is wrong, in words; empty: none. Only for the slot that was drawn last.
  [[nodiscard]] Result<std::string> WrongSmallValues(const WorkerProcess& worker, std::size_t slot,
                                                     Rng& rng);

  // The first wrong output of a slot, else (ok) the figures of the least exact one. `native`:
  // Torch's own integers are right as well; they are of the slot (ExpectNative).
  [[nodiscard]] Comparison CompareSlot(const WorkerProcess& worker, std::size_t slot) const;
  [[nodiscard]] Comparison CompareSlot(const WorkerProcess& worker, std::size_t slot,
                                       const std::vector<Tolerance>& tolerances,
                                       bool native = false) const;
  // The same for outputs of anybody (PackedLayout(task) of outputs), as lint has them.
  [[nodiscard]] Comparison CompareOutputs(std::span<const std::byte> outputs, std::size_t slot,
                                          const std::vector<Tolerance>& tolerances) const;
  // KernelBench's rule on them; only for the slot that was drawn last.
  [[nodiscard]] bool OfficialOutputs(std::span<const std::byte> outputs, std::size_t slot) const;
  // Torch's own outputs of the slot that was drawn last, and of any arguments in PackedLayout.
  [[nodiscard]] std::span<const std::byte> native() const;
  [[nodiscard]] Result<std::vector<std::byte>> NativeOutputs(std::span<const std::byte> arguments);
  [[nodiscard]] std::span<const std::byte> arguments(std::size_t slot) const;
  // The tolerances that CompareSlot uses for the slot by itself.
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::size_t slot) const;
  // KernelBench's rule; only for the slot that DrawSet filled last.
  [[nodiscard]] bool Official(const WorkerProcess& worker, std::size_t slot) const;
  // A new candidate: tolerances start anew with its first drawn set.
  void ForgetTolerances() { tolerances_.clear(); }
  // True where refills are drawn: no floating argument that could be spliced, or once a splice gave
  // NaN or infinity where drawn sets do not.
  [[nodiscard]] bool draws_refills() const { return draws_refills_; }

 private:
  Stage(TorchServer& server, Ring ring, InputPool pool, bool warm);
  [[nodiscard]] OutputView View(const WorkerProcess& worker, std::size_t slot, std::size_t output,
                                bool native) const;
  [[nodiscard]] std::span<const std::byte> Expected(std::size_t slot, std::size_t output) const;
  [[nodiscard]] Result<void> StageDraw(std::size_t slot, Rng& rng);
  // Likewise Torch's own result.
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
  [[nodiscard]] bool AnyOfOneSign(const WorkerProcess& worker, std::size_t slot) const;
  // How far the outputs of the slot move, by output; those of integers stay empty.
  [[nodiscard]] Result<std::vector<Movement>> Movements(std::size_t slot, int rounds, Rng& rng);
  // What many more changed copies show (kFurtherMovements).
  [[nodiscard]] Result<void> MoveFurther(std::size_t slot, Rng& rng,
                                         std::vector<Movement>& movements);
  [[nodiscard]] Result<void> MoveOnce(std::size_t slot, double factor, Rng& rng,
                                      std::vector<Movement>& movements);
  [[nodiscard]] Comparison CompareMoved(const WorkerProcess& worker, std::size_t slot,
                                        const std::vector<Tolerance>& tolerances,
                                        const std::vector<Movement>& movements) const;
  // Empty: no small value is wrong.
  [[nodiscard]] std::string WrongSmallValue(const WorkerProcess& worker, std::size_t slot,
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
  SharedMemory native_;     // likewise of Torch's own outputs
  SharedMemory truth_;      // fp64 outputs: of the slot they were made for last, or of each slot
  SharedMemory perturbed_;  // one set of arguments, and its outputs; made when first needed
  SharedMemory perturbed_truth_;
  std::vector<Tolerance> tolerances_;        // by output
  std::vector<double> nominal_rms_;          // likewise, of the truth of the set drawn last
  std::vector<TensorStructure> structures_;  // of the arguments; empty until a set is drawn
  std::vector<char> against_torch_;          // by slot: what is expected is Torch's own result
  std::size_t truth_slot_ = 0;               // whose truth was made last
  std::size_t native_slot_ = 0;              // whose outputs native() and NativeView show
  TermsOf terms_ = TermsOf::kRandomValues;   // of the set that was made last
  bool warm_;
  bool drawn_finite_ = true;
  bool draws_refills_ = false;
};

}  // namespace pragma
