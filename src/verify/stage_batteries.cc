// The part of Stage that judges inputs with other distributions than the task's own.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/task.h"
#include "harness/timed_process.h"
#include "task/torch_server.h"
#include "values/batteries.h"
#include "values/battery_rules.h"
#include "values/comparator.h"
#include "values/element.h"
#include "values/output_pass.h"
#include "verify/stage.h"

namespace pragma {
namespace {

void Perturb(const TensorSpec& tensor, double size, Rng& rng, std::byte* data) {
  WithReader(tensor.dtype, [&](auto read) {
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      StoreElement(tensor.dtype, data, i, read(data, i) * (1 + size * rng.Normal()));
    }
  });
}

// Makes zeros, which a relative change leaves equal, different from each other. They stay far
// smaller than all other elements.
void PartZeros(const TensorSpec& tensor, double size, Rng& rng, std::byte* data) {
  WithReader(tensor.dtype, [&](auto read) {
    double smallest = 1;
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      const double magnitude = std::abs(static_cast<double>(read(data, i)));
      if (magnitude > 0) smallest = std::min(smallest, magnitude);
    }
    for (std::size_t i = 0; i < tensor.elements(); ++i) {
      if (read(data, i) == 0) StoreElement(tensor.dtype, data, i, smallest * size * rng.Normal());
    }
  });
}

Jumps JumpsOf(const Task& task) {
  return ChoosesAmongEquals(task) ? Jumps::kAnywhere : Jumps::kWhereSeen;
}

std::vector<double> ConstantsFor(const Task& task, const BatteryWish& wish) {
  if (wish.battery != Battery::kConstants) return {};
  std::vector<double> numbers = ConstantsOf(task);
  numbers.insert(numbers.end(), wish.constants.begin(), wish.constants.end());
  return numbers;
}

}  // namespace

BatteryRequest RequestFor(const Task& task, const BatteryWish& wish, double rung, Rng& rng) {
  return {.name = BatteryName(wish.battery),
          .rung = rung,
          .integer_bound = IntegerBound(task),
          .argument = wish.argument,
          .seed = rng() >> 1U,
          .constants = ConstantsFor(task, wish),
          .part = wish.part};
}

std::size_t DrawFor(const BatteryWish& wish, std::size_t draws, Rng& rng) {
  return wish.draw < 0 ? rng.Below(draws) : static_cast<std::size_t>(wish.draw) % draws;
}

Result<BatteryDraw> Stage::DrawBattery(const BatteryWish& wish, Rng& rng, std::size_t slot) {
  terms_ = MakesEqualTerms(wish.battery) ? TermsOf::kEqualValues : TermsOf::kRandomValues;
  BatteryDraw draw;
  draw.not_admitted = LeftOut(task(), wish.battery);
  if (!draw.not_admitted.empty()) return draw;
  for (const double rung : RungsFor(task(), wish.battery)) {
    draw = TRY(TryBattery(wish, rung, rng, slot));
    if (draw.not_admitted.empty()) break;
  }
  return draw;
}

Result<BatteryDraw> Stage::TryBattery(const BatteryWish& wish, double rung, Rng& rng,
                                      std::size_t slot) {
  const std::span<std::byte> packed = Staged(slot);
  const std::size_t drawn = DrawFor(wish, pool_.drawn(), rng);
  std::memcpy(packed.data(), pool_.set(drawn).data(), packed.size());
  TRY(server_->ApplyBattery(RequestFor(task(), wish, rung, rng), staging_,
                            slot * packed_.argument_bytes));
  ring_.Fill(task(), slot, packed);
  BatteryDraw draw;
  Result<void> expected = ExpectTruth(slot);
  if (expected) expected = MakeNative(slot);
  if (!expected) {
    if (expected.error().kind != ErrorKind::kTask) return std::unexpected(expected.error());
    draw.not_admitted = "the reference refuses it: " + expected.error().message;
    return draw;
  }
  draw.not_admitted = BatteryComplaint(wish.battery, slot, draw);
  return draw;
}

// Fills in the tolerances. Returns why they cannot be used, or an empty string.
std::string Stage::BatteryComplaint(Battery battery, std::size_t slot, BatteryDraw& draw) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    OutputView view = NativeView(slot, i);
    const TensorSpec& spec = *view.spec;
    TorchStanding torch;
    if (IsFloating(spec.dtype)) {
      const BlockSquares squares = SquaresOfAll(spec, view.expected);
      const std::int64_t finite = squares.finite;
      torch.rms = std::sqrt(squares.sum / static_cast<double>(std::max<std::int64_t>(finite, 1)));
      torch.nominal_rms = nominal_rms_[i];
      torch.finite =
          finite == static_cast<std::int64_t>(spec.elements()) && AllFinite(spec, view.native);
      torch.finite_somewhere = finite > 0;
      torch.tolerance = DeriveTolerance(
          view, {.count = task().reduction_length, .repeat = MakesEqualTerms(battery)});
      torch.peak_over_rms = SpansRange(battery) ? PeakOverRms(view) : 1;
      Tolerance own = torch.tolerance;
      own.where_finite = MayBeNonFinite(battery);
      view.actual = view.native;
      torch.fits = pragma::Compare(view, own).ok;
      std::string complaint = ComplaintOf(spec, battery, torch);
      if (!complaint.empty()) return complaint;
    }
    draw.finite = draw.finite && torch.finite;
    draw.tolerances.push_back(BatteryTolerance(task(), battery, torch));
    draw.exact.push_back(battery == Battery::kIntegers && ExactIntegers(view) ? 1 : 0);
  }
  return {};
}

Result<void> Stage::MakePerturbed() {
  if (perturbed_.size() != 0) return {};
  const auto at_least_one = [](std::size_t bytes) { return std::max<std::size_t>(bytes, 1); };
  perturbed_ = TRY(SharedMemory::Create("pragma-perturbed", at_least_one(packed_.argument_bytes)));
  perturbed_truth_ =
      TRY(SharedMemory::Create("pragma-perturbed-truth", at_least_one(wide_.output_bytes)));
  return {};
}

std::span<const std::byte> Stage::arguments(std::size_t slot) const {
  return staging_.bytes().subspan(slot * packed_.argument_bytes, packed_.argument_bytes);
}

Result<std::vector<std::byte>> Stage::NativeOutputs(std::span<const std::byte> arguments) {
  TRY(MakePerturbed());
  std::memmove(perturbed_.data(), arguments.data(), arguments.size());  // they may be there already
  TRY(server_->Reference(TorchServer::Precision::kNative, perturbed_, 0, perturbed_truth_, 0));
  const auto bytes = perturbed_truth_.bytes().first(packed_.output_bytes);
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Comparison Stage::CompareOutputs(std::span<const std::byte> outputs, std::size_t slot,
                                 const std::vector<Tolerance>& tolerances) const {
  std::vector<OutputView> views;
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    views.push_back(NativeView(slot, i));
    views.back().native = {};
    views.back().actual = outputs.subspan(packed_.output_offsets[i], views.back().spec->bytes());
  }
  return CompareAll(views, tolerances);
}

bool Stage::OfficialOutputs(std::span<const std::byte> outputs, std::size_t slot) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    OutputView view = NativeView(slot, i);
    view.actual = outputs.subspan(packed_.output_offsets[i], view.spec->bytes());
    if (!OfficiallyCorrect(view)) return false;
  }
  return true;
}

Comparison Stage::CompareMoved(const TimedProcess& process, std::size_t slot,
                               const std::vector<Tolerance>& tolerances,
                               const std::vector<Movement>& movements, Jumps jumps) const {
  return WorstOf(task().outputs.size(), [&](std::size_t i) {
    OutputView view = View(process, slot, i, RefillsNeedTruth(task()));
    if (IsFloating(view.spec->dtype)) {
      return CompareConditioned(view, tolerances[i], movements[i], jumps);
    }
    const std::vector<std::byte> explained =
        movements[i].Explained(view.actual, view.expected, DTypeSize(view.spec->dtype));
    view.actual = explained;
    return pragma::Compare(view, tolerances[i]);
  });
}

// The truth of one set only is kept where timed sets are compared with Torch. Such a set is
// compared with Torch again afterwards, because the next second opinion on another set replaces its
// truth.
Result<Comparison> Stage::SecondOpinion(const TimedProcess& process, std::uint32_t slot,
                                        const std::vector<Tolerance>& tolerances, Rng& rng) {
  const bool timed = against_torch_[slot] != 0;
  if (timed) TRY(ExpectTruth(slot));
  Result<Comparison> compared = CompareIllConditioned(process, slot, tolerances, rng);
  if (timed) against_torch_[slot] = 1;
  return compared;
}

Result<Comparison> Stage::CompareIllConditioned(const TimedProcess& process, std::uint32_t slot,
                                                const std::vector<Tolerance>& tolerances,
                                                Rng& rng) {
  std::vector<Movement> movements = TRY(Movements(slot, kMovements, rng));
  if (RefillsNeedTruth(task())) TRY(MakeNative(slot));
  Comparison compared = CompareMoved(process, slot, tolerances, movements);
  if (compared.ok || !MayBeJumps(task(), compared)) return compared;
  TRY(MoveFurther(slot, rng, movements));
  const Jumps jumps = JumpsOf(task());
  compared = CompareMoved(process, slot, tolerances, movements, jumps);
  if (compared.ok) return compared;
  return CompareMoved(process, slot, TRY(TolerancesNearby(slot, tolerances, rng)), movements,
                      jumps);
}

// Torch's error on one set is partly luck. Where a single sum decides all of an output's error (the
// mean of a row that is nearly constant), Torch may happen to round it well. So its errors on
// changed copies of the set count too.
Result<std::vector<Tolerance>> Stage::TolerancesNearby(std::size_t slot,
                                                       std::vector<Tolerance> tolerances,
                                                       Rng& rng) {
  for (int round = 0; round < kTorchsErrors; ++round) {
    TRY(MakeMoved(slot, rng));
    const std::span<const std::byte> wide = perturbed_truth_.bytes();
    const std::vector<std::byte> truth(wide.begin(), wide.end());
    const std::vector<std::byte> native =
        TRY(NativeOutputs(perturbed_.bytes().first(packed_.argument_bytes)));
    for (std::size_t i = 0; i < task().outputs.size(); ++i) {
      const TensorSpec& spec = task().outputs[i];
      if (!IsFloating(spec.dtype)) continue;
      const OutputView view{
          .spec = &spec,
          .actual = {},
          .expected = std::span(truth).subspan(wide_.output_offsets[i], Expected(slot, i).size()),
          .native = std::span(native).subspan(packed_.output_offsets[i], spec.bytes())};
      const Tolerance nearby = DeriveTolerance(view, {.count = task().reduction_length});
      tolerances[i] = Looser(tolerances[i], nearby);
    }
  }
  return tolerances;
}

bool Stage::AnyOfOneSign(const TimedProcess& process, std::size_t slot) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    if (IsFloating(task().outputs[i].dtype) && OfOneSign(View(process, slot, i, false)))
      return true;
  }
  return false;
}

std::string Stage::WrongSmallValue(const TimedProcess& process, std::size_t slot,
                                   const std::vector<Movement>& movements) const {
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    if (!IsFloating(task().outputs[i].dtype)) continue;
    const OutputView view = View(process, slot, i, true);
    if (AddsUp(task()) && !OfOneSign(view)) continue;
    if (const auto wrong = pragma::WrongSmallValue(view, movements[i], JumpsOf(task()))) {
      return "a small value is wrong: " + *wrong;
    }
  }
  return {};
}

Result<std::string> Stage::WrongSmallValues(const TimedProcess& process, std::uint32_t slot,
                                            Rng& rng) {
  if (AddsUp(task()) && !AnyOfOneSign(process, slot)) return std::string();
  std::vector<Movement> movements = TRY(Movements(slot, kMovementsOfSmall, rng));
  if (WrongSmallValue(process, slot, movements).empty()) return std::string();
  TRY(MoveFurther(slot, rng, movements));
  return WrongSmallValue(process, slot, movements);
}

Result<std::vector<Movement>> Stage::Movements(std::size_t slot, int rounds, Rng& rng) {
  std::vector<Movement> movements;
  for (const TensorSpec& output : task().outputs) {
    movements.emplace_back(IsFloating(output.dtype) ? output.elements() : 0);
  }
  TRY(Move(slot, {.rounds = rounds, .factor = kConditionFactor}, rng, movements));
  return movements;
}

Result<void> Stage::MoveFurther(std::size_t slot, Rng& rng, std::vector<Movement>& movements) {
  return Move(slot, {.rounds = kFurtherMovements, .factor = kFurtherFactor}, rng, movements);
}

Result<void> Stage::Move(std::size_t slot, const ChangedCopies& copies, Rng& rng,
                         std::vector<Movement>& movements) {
  for (int round = 0; round < copies.rounds; ++round) {
    TRY(MoveOnce(slot, copies.factor, rng, movements));
  }
  for (Movement& movement : movements) movement.Settle();
  return {};
}

Result<void> Stage::MakeMoved(std::size_t slot, Rng& rng) {
  TRY(MakePerturbed());
  std::memcpy(perturbed_.data(), Staged(slot).data(), packed_.argument_bytes);
  const double size = RoundingSize(task(), terms_);
  const bool parts_zeros = ChoosesAmongEquals(task());
  for (std::size_t i = 0; i < task().arguments.size(); ++i) {
    const TensorSpec& tensor = task().arguments[i];
    if (!IsFloating(tensor.dtype) || tensor.role == TensorRole::kConstant) continue;
    std::byte* data = perturbed_.data() + packed_.argument_offsets[i];
    Perturb(tensor, size, rng, data);
    if (parts_zeros) PartZeros(tensor, size, rng, data);
  }
  return server_->Reference(TorchServer::Precision::kFloat64, perturbed_, 0, perturbed_truth_, 0);
}

Result<void> Stage::MoveOnce(std::size_t slot, double factor, Rng& rng,
                             std::vector<Movement>& movements) {
  TRY(MakeMoved(slot, rng));
  for (std::size_t i = 0; i < task().outputs.size(); ++i) {
    const std::span<const std::byte> expected = Expected(slot, i);
    const auto moved = perturbed_truth_.bytes().subspan(wide_.output_offsets[i], expected.size());
    const DType dtype = task().outputs[i].dtype;
    if (IsFloating(dtype))
      movements[i].Add(expected, moved, factor);
    else if (!TiesAreDecided(task()))
      movements[i].AddIntegers(expected, moved, DTypeSize(dtype));
  }
  return {};
}

}  // namespace pragma
