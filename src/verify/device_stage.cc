#include "verify/device_stage.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
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
#include "values/conditioning.h"
#include "verify/device_side.h"
#include "verify/input_sets.h"
#include "verify/options.h"
#include "verify/stage.h"
#include "verify/timing_plan.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

// Number of calls in a burst.
constexpr std::size_t kBurstSets = 32;
// Number of sets in the interpreter, where only checks are made.
constexpr std::size_t kCheckedSets = 2;
// Copies of each set's arguments: the referee's, and those in the areas of the candidate, of Torch
// and of a kernel that is timed beside it. Its outputs are in the areas of the two kernels, and
// once as Torch's own.
constexpr std::size_t kArgumentCopies = 4;
constexpr std::size_t kOutputCopies = 3;
// References that are in memory at the same time: a result may be judged by several of them.
constexpr std::size_t kReferences = 2;
// Draws are kept so that sets can be filled again. Together they take at most one part in this many
// of the device's memory, but there are always two, so that timed sets can be mixed from them.
constexpr std::size_t kShareOfDraws = 32;
constexpr std::size_t kFewestDraws = 2;
// What a driver and Torch keep for each process (context, code, workspaces of libraries).
constexpr std::size_t kBytesOfProcess = std::size_t{600} << 20U;
// The server, those that check, and those of the four sides of a session.
constexpr std::size_t kProcesses = 3 + 4 * kDeviceProcesses;
// The sets may take up to one part in this many of the device's memory, so that several runs fit on
// it at the same time. In a sixteenth of 80 GB, the sets hold 0.6 GB of arguments. Even these few
// sets take 0.2 ms at full speed.
constexpr std::size_t kShareOfMemory = 16;

struct TensorBytes {
  std::size_t own = 0;   // in the tensors' own types
  std::size_t wide = 0;  // in float64
};

TensorBytes BytesOf(const std::vector<TensorSpec>& tensors) {
  TensorBytes bytes;
  for (const TensorSpec& tensor : tensors) {
    bytes.own += tensor.bytes();
    bytes.wide += tensor.elements() * sizeof(double);
  }
  return bytes;
}

// Returns the bytes that one more input set takes, with its float64 truth.
std::size_t SetNeed(const Task& task) {
  const TensorBytes outputs = BytesOf(task.outputs);
  return kArgumentCopies * BytesOf(task.arguments).own + kOutputCopies * outputs.own + outputs.wide;
}

// Returns the bytes that a float64 reference takes while it runs.
std::size_t ReferenceNeed(const Task& task) {
  const TensorBytes arguments = BytesOf(task.arguments);
  const TensorBytes outputs = BytesOf(task.outputs);
  const std::size_t width = outputs.own == 0 ? 1 : outputs.wide / outputs.own;
  return arguments.wide + width * std::max(task.peak_bytes, outputs.own);
}

// Returns the root mean square of the truth.
double RmsOf(const TensorSpec& spec, const ErrorPass& pass) {
  const std::size_t count = std::max<std::size_t>(spec.elements(), 1);
  return std::sqrt(pass.sum_squared / static_cast<double>(count));
}

}  // namespace

StageSize DeviceStageSize(const Task& task, const VerifyOptions& options, const Machine& machine) {
  if (!machine.device) {
    return {.sets = kCheckedSets,
            .draws = static_cast<std::size_t>(std::max(options.check_sets, 2))};
  }
  StageSize size =
      ChooseStageSize(task, options.judging.cache, machine.device->l2_bytes, options.check_sets);
  const std::size_t memory = machine.device->memory_bytes;
  const std::size_t draw = std::max<std::size_t>(BytesOf(task.arguments).own, 1);
  size.draws = std::min(size.draws, std::max(memory / (kShareOfDraws * draw), kFewestDraws));
  const bool two_fit = DeviceMemoryNeed(task, {.sets = 2, .draws = size.draws}) <= memory;
  const std::size_t least = two_fit ? 2 : 1;  // for very large sets a single one must be enough
  const std::size_t share = memory / kShareOfMemory / std::max<std::size_t>(SetNeed(task), 1);
  size.sets = std::clamp(std::max(size.sets, kBurstSets), least, std::max(share, least));
  size.sets = std::min<std::size_t>(size.sets, PRAGMA_MAX_SETS);
  return size;
}

std::size_t DeviceMemoryNeed(const Task& task, const StageSize& size) {
  return size.sets * SetNeed(task) + size.draws * BytesOf(task.arguments).own +
         kReferences * ReferenceNeed(task) + kProcesses * kBytesOfProcess;
}

CacheState DeviceCache(const Task& task, const StageSize& size, const Machine& machine) {
  const std::size_t l2 = machine.device ? machine.device->l2_bytes : 0;
  return size.sets * task.set_bytes() <= l2 ? CacheState::kWarm : CacheState::kCold;
}

Result<DeviceStage> DeviceStage::Create(TorchServer& server, const StageSize& size) {
  DeviceStage stage(server, size);
  TRY(stage.referee_.Open(size.sets, size.draws));
  return stage;
}

bool DeviceStage::floating() const {
  return std::ranges::all_of(task().outputs,
                             [](const TensorSpec& output) { return IsFloating(output.dtype); });
}

void DeviceStage::Forget() {
  tolerances_.clear();
  stale_.clear();
}

Result<void> DeviceStage::DrawSet(std::size_t draw, std::uint64_t seed, std::size_t slot) {
  stale_.insert(static_cast<std::uint32_t>(slot));
  terms_ = TermsOf::kRandomValues;
  const TruthFigures truth = TRY(referee_.Draw(seed, draw % size_.draws, slot));
  against_torch_[slot] = 0;
  tolerances_.resize(task().outputs.size());
  nominal_rms_.resize(task().outputs.size());
  for (std::size_t i = 0; i < tolerances_.size(); ++i) {
    nominal_rms_[i] = RmsOf(task().outputs[i], truth.outputs[i].torch.pass);
    tolerances_[i] =
        Looser(tolerances_[i], DeriveTolerance(task().outputs[i], truth.outputs[i].torch.pass,
                                               {.count = task().reduction_length}));
  }
  return {};
}

Result<void> DeviceStage::RestoreSet(std::size_t draw, std::size_t slot) {
  stale_.insert(static_cast<std::uint32_t>(slot));
  terms_ = TermsOf::kRandomValues;
  TRY(referee_.Restore(draw % size_.draws, slot));
  against_torch_[slot] = 0;
  return {};
}

Result<BatteryDraw> DeviceStage::DrawBattery(const BatteryWish& wish, Rng& rng, std::size_t slot) {
  stale_.insert(static_cast<std::uint32_t>(slot));
  terms_ = MakesEqualTerms(wish.battery) ? TermsOf::kEqualValues : TermsOf::kRandomValues;
  BatteryDraw draw;
  draw.not_admitted = LeftOut(task(), wish.battery);
  if (!draw.not_admitted.empty()) return draw;
  against_torch_[slot] = 0;
  for (const double rung : RungsFor(task(), wish.battery)) {
    const BatteryRequest request = RequestFor(task(), wish, rung, rng);
    const std::size_t drawn = DrawFor(wish, size_.draws, rng);
    const TruthFigures truth = TRY(referee_.Apply(request, drawn, slot));
    draw = {};
    draw.not_admitted = truth.refused.empty() ? Complaint(wish.battery, truth, draw)
                                              : "the reference refuses it: " + truth.refused;
    if (draw.not_admitted.empty()) break;
  }
  return draw;
}

// Fills in the tolerances. Returns why they cannot be used, or an empty string.
std::string DeviceStage::Complaint(Battery battery, const TruthFigures& truth,
                                   BatteryDraw& draw) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    const TensorSpec& spec = task().outputs[i];
    const TruthFigures::Output& output = truth.outputs[i];
    const ErrorPass& pass = output.torch.pass;
    const TorchStanding torch{
        .finite = output.finite,
        .finite_somewhere = output.finite_somewhere,
        .fits = pass.mismatched == 0 && (MayBeNonFinite(battery) || pass.odd_truth == 0),
        .peak_over_rms = output.peak_over_rms,
        .rms = RmsOf(spec, pass),
        .nominal_rms = nominal_rms_[i],
        .tolerance = DeriveTolerance(
            spec, pass, {.count = task().reduction_length, .repeat = MakesEqualTerms(battery)})};
    std::string complaint = IsFloating(spec.dtype) ? ComplaintOf(spec, battery, torch) : "";
    if (!complaint.empty()) return complaint;
    draw.finite = draw.finite && (output.finite || !IsFloating(spec.dtype));
    draw.tolerances.push_back(BatteryTolerance(task(), battery, torch));
    draw.exact.push_back(battery == Battery::kIntegers && output.exact ? 1 : 0);
  }
  return {};
}

Result<void> DeviceStage::RenewSets(std::span<const std::uint32_t> slots, Rng& rng) {
  TRY(referee_.Renew(slots, rng() >> 1U));
  for (const std::uint32_t slot : slots) against_torch_[slot] = floating() ? 1 : 0;
  return {};
}

// Refills and compares some slots without using the result. The first round is a warm-up.
Result<double> DeviceStage::Upkeep(double /*compare_seconds*/, Rng& rng) {
  std::vector<std::uint32_t> slots(std::min(size_.sets, kSlotsForUpkeep));
  std::iota(slots.begin(), slots.end(), 0U);
  Seconds all{0};
  for (int round = 0; round < 2; ++round) {
    const TimePoint before = std::chrono::steady_clock::now();
    TRY(RenewSets(slots, rng));
    TRY(Put(kCandidateArea, slots, rng));
    TRY(referee_.Compare(kCandidateArea, slots));
    all = Since(before);
  }
  return all.count() / static_cast<double>(slots.size());
}

Result<void> DeviceStage::BeforeWarmup(TimedProcess& process, const BurstSets& burst, Rng& rng) {
  return burst.warmup.empty() ? Result<void>() : Put(process.area(), burst.warmup, rng);
}

Result<void> DeviceStage::AfterWarmup(TimedProcess& process, const BurstSets& burst, Rng& rng) {
  if (size_.sets == 1) TRY(RenewSets(burst.timed, rng));
  return Put(process.area(), burst.timed, rng);
}

Result<void> DeviceStage::Put(std::size_t area, std::span<const std::uint32_t> slots, Rng& rng,
                              Referee::Outputs outputs) {
  for (const std::uint32_t slot : slots) stale_.erase(slot);
  return referee_.Put(area, slots, rng() >> 1U, outputs);
}

Result<void> DeviceStage::PutAllFresh(std::uint32_t slot, Rng& rng) {
  stale_.insert(slot);
  const std::vector<std::uint32_t> fresh(stale_.begin(), stale_.end());
  return Put(kCandidateArea, fresh, rng);
}

Result<void> DeviceStage::LookAt(const TimedProcess& process,
                                 std::span<const std::uint32_t> slots) {
  std::vector<SlotFigures> found = TRY(referee_.Compare(process.area(), slots));
  for (std::size_t i = 0; i < slots.size(); ++i) left_[slots[i]] = std::move(found[i]);
  return {};
}

Tolerance DeviceStage::ToleranceOf(std::size_t slot, std::size_t output) const {
  const Tolerance& tolerance = tolerances_[output];
  return against_torch_[slot] != 0 ? AgainstTorch(tolerance) : tolerance;
}

std::vector<Tolerance> DeviceStage::Tolerances(std::size_t slot) const {
  std::vector<Tolerance> all;
  for (std::size_t i = 0; i < task().outputs.size(); ++i) all.push_back(ToleranceOf(slot, i));
  return all;
}

Comparison DeviceStage::Judge(const SlotFigures& slot,
                              const std::vector<Tolerance>& tolerances) const {
  return WorstOf(task().outputs.size(), [&](std::size_t i) {
    const TensorSpec& spec = task().outputs[i];
    const OutputFigures& figures = slot.outputs[i];
    return pragma::Judge(spec, figures.pass, tolerances[i], [&](std::size_t flat) {
      const bool mismatch = figures.pass.mismatched > 0 && flat == figures.pass.first_mismatch;
      const bool odd = figures.pass.odd_truth > 0 && flat == figures.pass.first_odd;
      return ElementAt(spec, flat, mismatch ? figures.first : odd ? figures.odd : figures.worst);
    });
  });
}

Result<Comparison> DeviceStage::SecondOpinion(const TimedProcess& process, std::uint32_t slot,
                                              const std::vector<Tolerance>& tolerances, Rng& rng) {
  const std::size_t area = process.area();
  against_torch_[slot] = 0;
  Referee::Rounding rounding = Rounding(kMovements, rng);
  const Comparison compared =
      Judge(TRY(referee_.CompareConditioned(area, slot, rounding)).slot, tolerances);
  if (compared.ok || !MayBeJumps(task(), compared)) return compared;
  rounding.further = kFurtherMovements;
  const SlotFigures moved = TRY(referee_.CompareConditioned(area, slot, rounding)).slot;
  const Comparison further = Judge(moved, tolerances);
  return further.ok ? further : Judge(moved, TRY(TolerancesNearby(slot, tolerances, rng)));
}

// As Stage::TolerancesNearby: Torch's errors on changed copies of the set count too.
Result<std::vector<Tolerance>> DeviceStage::TolerancesNearby(std::size_t slot,
                                                             std::vector<Tolerance> tolerances,
                                                             Rng& rng) {
  Referee::Rounding rounding = Rounding(kTorchsErrors, rng);
  rounding.flush = false;
  for (const TruthFigures& copy : TRY(referee_.JudgeNearby(slot, rounding))) {
    for (std::size_t i = 0; i < task().outputs.size(); ++i) {
      const TensorSpec& spec = task().outputs[i];
      if (!IsFloating(spec.dtype)) continue;
      const Tolerance nearby =
          DeriveTolerance(spec, copy.outputs[i].torch.pass, {.count = task().reduction_length});
      tolerances[i] = Looser(tolerances[i], nearby);
    }
  }
  return tolerances;
}

std::string DeviceStage::WrongSmallValue(const ConditionedFigures& figures) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    const ConditionedFigures::Small& small = figures.small[i];
    if (small.wrong == 0) continue;
    return "a small value is wrong: " + ElementAt(task().outputs[i], small.first, small.values);
  }
  return {};
}

Result<std::string> DeviceStage::WrongSmallValues(const TimedProcess& process, std::uint32_t slot,
                                                  Rng& rng) {
  const std::size_t area = process.area();
  Referee::Rounding rounding = Rounding(kMovementsOfSmall, rng);
  std::string wrong = WrongSmallValue(TRY(referee_.CompareConditioned(area, slot, rounding)));
  if (wrong.empty()) return wrong;
  rounding.further = kFurtherMovements;
  return WrongSmallValue(TRY(referee_.CompareConditioned(area, slot, rounding)));
}

Referee::Rounding DeviceStage::Rounding(int rounds, Rng& rng) const {
  return {.size = RoundingSize(task(), terms_),
          .seed = rng() >> 1U,
          .rounds = rounds,
          .factor = kConditionFactor,
          .further = 0,
          .further_factor = kFurtherFactor,
          .adds_up = AddsUp(task()),
          .ties = !TiesAreDecided(task()),
          .flush = true};
}

}  // namespace pragma
