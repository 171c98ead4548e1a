#include "verify/stage.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"
#include "harness/ring.h"
#include "harness/timed_process.h"
#include "task/set_layout.h"
#include "task/torch_server.h"
#include "values/comparator.h"
#include "values/output_pass.h"
#include "verify/input_pool.h"
#include "verify/timing_plan.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

constexpr std::size_t kMinSets = 2;
// For sets larger than this, two drawn sets must be enough: memory is short and drawing is slow.
constexpr std::size_t kLargeSet = std::size_t{256} << 20U;
constexpr Seconds kEnoughUpkeep{0.3};  // no further refill is measured after this time

// Returns the number of sets for which the truth is stored. Checks examine one set after the other,
// so one truth is enough for them.
std::size_t TruthSets(const Task& task, std::size_t sets) {
  return RefillsNeedTruth(task) ? sets : 1;
}

}  // namespace

bool RefillsNeedTruth(const Task& task) {
  return !std::ranges::all_of(task.outputs,
                              [](const TensorSpec& output) { return IsFloating(output.dtype); });
}

StageSize ChooseStageSize(const Task& task, CacheState cache, std::size_t last_level_cache,
                          int check_sets) {
  const std::size_t set = std::max<std::size_t>(task.set_bytes(), 1);
  StageSize size;
  size.draws = set > kLargeSet ? kMinSets : static_cast<std::size_t>(std::max(check_sets, 2));
  if (cache == CacheState::kCold) {
    size.sets = std::clamp<std::size_t>(4 * last_level_cache / set + 2, kMinSets, PRAGMA_MAX_SETS);
  } else {
    // A quarter of the cache stays free for everything else.
    const std::size_t inside = last_level_cache * 3 / 4 / set;
    size.sets = std::clamp<std::size_t>(inside, kMinSets, PRAGMA_MAX_SETS);
    size.warm = inside >= kMinSets;
  }
  return size;
}

std::size_t StageBytes(const Task& task, const StageSize& size) {
  const SetLayout packed = PackedLayout(task);
  const SetLayout wide = ExpectedLayout(task);
  return size.draws * packed.argument_bytes +
         size.sets * 2 * (packed.argument_bytes + packed.output_bytes) +
         TruthSets(task, size.sets) * wide.output_bytes;
}

Stage::Stage(TorchServer& server, Ring ring, InputPool pool, bool warm)
    : server_(&server),
      ring_(std::move(ring)),
      pool_(std::move(pool)),
      packed_(PackedLayout(server.task())),
      wide_(ExpectedLayout(server.task())),
      warm_(warm),
      // Without floating arguments, refills must be drawn. Integers are taken whole from a few
      // draws, so a kernel could remember them.
      draws_refills_(std::ranges::none_of(server.task().arguments, [](const TensorSpec& tensor) {
        return IsFloating(tensor.dtype) && tensor.role != TensorRole::kConstant;
      })) {}

Result<Stage> Stage::Create(TorchServer& server, const StageSize& size) {
  const Task& task = server.task();
  Ring ring = TRY(Ring::Create(task, size.sets));
  InputPool pool = TRY(InputPool::Create(task, size.draws));
  Stage stage(server, std::move(ring), std::move(pool), size.warm);
  stage.against_torch_.resize(size.sets);
  const auto at_least_one = [](std::size_t bytes) { return std::max<std::size_t>(bytes, 1); };
  stage.staging_ = TRY(SharedMemory::Create(
      "pragma-staging", at_least_one(size.sets * stage.packed_.argument_bytes)));
  stage.native_ = TRY(
      SharedMemory::Create("pragma-native", at_least_one(size.sets * stage.packed_.output_bytes)));
  const std::size_t truths = TruthSets(task, size.sets) * stage.wide_.output_bytes;
  stage.truth_ = TRY(SharedMemory::Create("pragma-truth", at_least_one(truths)));
  return stage;
}

std::span<const std::byte> Stage::Expected(std::size_t slot, std::size_t output) const {
  if (against_torch_[slot] != 0) return Native(slot, output);
  assert(slot == truth_slot_ || RefillsNeedTruth(task()));
  const TensorSpec& spec = task().outputs[output];
  const std::size_t bytes =
      IsFloating(spec.dtype) ? spec.elements() * sizeof(double) : spec.bytes();
  return truth_.bytes().subspan(TruthOffset(slot) + wide_.output_offsets[output], bytes);
}

std::span<const std::byte> Stage::Native(std::size_t slot, std::size_t output) const {
  return native_.bytes().subspan(slot * packed_.output_bytes + packed_.output_offsets[output],
                                 task().outputs[output].bytes());
}

std::span<const std::byte> Stage::native() const {
  return native_.bytes().subspan(native_slot_ * packed_.output_bytes, packed_.output_bytes);
}

std::size_t Stage::TruthOffset(std::size_t slot) const {
  return RefillsNeedTruth(task()) ? slot * wide_.output_bytes : 0;
}

Result<void> Stage::DrawSet(std::size_t draw, std::uint64_t seed, std::size_t slot) {
  terms_ = TermsOf::kRandomValues;
  draw %= pool_.size();
  if (auto drawn = pool_.Draw(*server_, draw, seed); !drawn) return drawn;
  const std::span<const std::byte> set = pool_.set(draw);
  if (structures_.empty()) structures_ = DetectStructures(task(), set);
  std::memcpy(staging_.data() + slot * packed_.argument_bytes, set.data(), packed_.argument_bytes);
  ring_.Fill(task(), slot, set);
  TRY(ExpectTruth(slot));
  TRY(MakeNative(slot));
  tolerances_.resize(task().outputs.size());
  nominal_rms_.resize(task().outputs.size());
  for (std::size_t i = 0; i < tolerances_.size(); ++i) {
    nominal_rms_[i] = RmsOfFinite(task().outputs[i], Expected(slot, i));
    const Tolerance tolerance =
        DeriveTolerance(NativeView(slot, i), {.count = task().reduction_length});
    tolerances_[i] = Looser(tolerances_[i], tolerance);
  }
  drawn_finite_ = drawn_finite_ && !ExpectsNonFinite(slot);
  return {};
}

void Stage::KeepSymmetry(std::span<std::byte> packed) const {
  for (std::size_t i = 0; i < structures_.size(); ++i) {
    if (structures_[i].symmetric)
      MirrorMatrices(task().arguments[i], packed.data() + packed_.argument_offsets[i]);
  }
}

void Stage::Forget() {
  tolerances_.clear();
  kept_ = {};
}

Result<void> Stage::RestoreSet(std::size_t draw, std::size_t slot) {
  terms_ = TermsOf::kRandomValues;
  const std::span<const std::byte> set = pool_.set(draw % pool_.size());
  std::memcpy(Staged(slot).data(), set.data(), packed_.argument_bytes);
  ring_.Fill(task(), slot, set);
  return {};
}

Result<void> Stage::MakeNative(std::size_t slot) {
  native_slot_ = slot;
  return server_->Reference(TorchServer::Precision::kNative, staging_,
                            slot * packed_.argument_bytes, native_, slot * packed_.output_bytes);
}

OutputView Stage::NativeView(std::size_t slot, std::size_t output) const {
  const TensorSpec& spec = task().outputs[output];
  return {.spec = &spec,
          .actual = {},
          .expected = Expected(slot, output),
          .native = Native(slot, output)};
}

std::span<std::byte> Stage::Staged(std::size_t slot) {
  return staging_.bytes().subspan(slot * packed_.argument_bytes, packed_.argument_bytes);
}

bool Stage::ExpectsNonFinite(std::size_t slot) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    if (HasNonFinite(task().outputs[i], Expected(slot, i))) return true;
  }
  return false;
}

// Draws a whole set under its own seed.
Result<void> Stage::StageDraw(std::size_t slot, Rng& rng) {
  TRY(server_->Draw(rng() >> 1U, staging_, slot * packed_.argument_bytes));
  return ExpectRefill(slot);
}

void Stage::Publish(std::size_t slot) { ring_.Fill(task(), slot, Staged(slot)); }

void Stage::Warm(std::span<const std::uint32_t> slots) const {
  if (!warm_) return;
  for (const std::uint32_t slot : slots) ring_.Touch(task(), slot);
}

Result<void> Stage::RenewSets(std::span<const std::uint32_t> slots, Rng& rng) {
  for (const std::uint32_t slot : slots) TRY(RenewSet(slot, rng));
  return {};
}

// Refills some slots without using them. The first refill warms the reference up.
Result<double> Stage::Upkeep(double compare_seconds, Rng& rng) {
  TRY(RenewSet(0, rng));
  const std::size_t slots = std::min(sets(), kSlotsForUpkeep);
  const TimePoint before = std::chrono::steady_clock::now();
  std::size_t renewed = 0;
  while (renewed < slots && (renewed == 0 || Since(before) < kEnoughUpkeep))
    TRY(RenewSet(renewed++, rng));
  return Since(before).count() / static_cast<double>(renewed) + 2 * compare_seconds;
}

Result<void> Stage::RenewSet(std::size_t slot, Rng& rng) {
  if (!draws_refills_) {
    const std::span<std::byte> packed = Staged(slot);
    pool_.Splice(task(), rng, packed);
    KeepSymmetry(packed);
    TRY(ExpectRefill(slot));
    // The task needs more structure in its inputs than a splice keeps.
    draws_refills_ = drawn_finite_ && ExpectsNonFinite(slot);
  }
  if (draws_refills_) TRY(StageDraw(slot, rng));
  Publish(slot);
  return {};
}

Result<void> Stage::RenewInputs(std::size_t slot, Rng& rng) {
  TRY(StageInputs(slot, rng));
  Publish(slot);
  return {};
}

Result<void> Stage::StageInputs(std::size_t slot, Rng& rng) {
  if (draws_refills_) return StageDraw(slot, rng);
  const std::span<std::byte> packed = Staged(slot);
  pool_.SpliceInputs(task(), rng, packed);
  KeepSymmetry(packed);
  return ExpectRefill(slot);
}

Result<void> Stage::ExpectTruth(std::size_t slot) {
  against_torch_[slot] = 0;
  truth_slot_ = slot;
  return server_->Reference(TorchServer::Precision::kFloat64, staging_,
                            slot * packed_.argument_bytes, truth_, TruthOffset(slot));
}

Result<void> Stage::ExpectTorch(std::size_t slot) {
  against_torch_[slot] = 1;
  // While a large task is timed, memory is needed for the outputs of both sides.
  if (wide_.output_bytes > kLargeSet) TRY(truth_.Discard());
  return MakeNative(slot);
}

Result<void> Stage::ExpectRefill(std::size_t slot) {
  return RefillsNeedTruth(task()) ? ExpectTruth(slot) : ExpectTorch(slot);
}

Tolerance Stage::ToleranceOf(std::size_t slot, std::size_t output) const {
  const Tolerance& tolerance = tolerances_[output];
  return against_torch_[slot] != 0 ? AgainstTorch(tolerance) : tolerance;
}

OutputView Stage::View(const TimedProcess& process, std::size_t slot, std::size_t output,
                       bool native) const {
  const TensorSpec& spec = task().outputs[output];
  OutputView view{.spec = &spec,
                  .actual = process.output(static_cast<std::uint32_t>(slot), output),
                  .expected = Expected(slot, output),
                  .native = {}};
  if (native) view.native = Native(slot, output);
  return view;
}

std::vector<Tolerance> Stage::Tolerances(std::size_t slot) const {
  std::vector<Tolerance> all;
  for (std::size_t i = 0; i < task().outputs.size(); ++i) all.push_back(ToleranceOf(slot, i));
  return all;
}

Comparison Stage::Compare(const TimedProcess& process, std::uint32_t slot,
                          const std::vector<Tolerance>& tolerances) const {
  return WorstOf(task().outputs.size(), [&](std::size_t i) {
    return pragma::Compare(View(process, slot, i, false), tolerances[i]);
  });
}

std::vector<std::byte> Stage::Outputs(const TimedProcess& process, std::size_t slot) const {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    const auto output = process.output(static_cast<std::uint32_t>(slot), i);
    all.insert(all.end(), output.begin(), output.end());
  }
  return all;
}

Result<void> Stage::Keep(const TimedProcess& process, std::uint32_t slot) {
  kept_ = Outputs(process, slot);
  return {};
}

bool Stage::AsKept(const TimedProcess& process, std::uint32_t slot) const {
  return Outputs(process, slot) == kept_;
}

bool Stage::Official(const TimedProcess& process, std::uint32_t slot) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    if (!OfficiallyCorrect(View(process, slot, i, true))) return false;
  }
  return true;
}

}  // namespace pragma
