#include "verify/value_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "values/batteries.h"
#include "values/battery_rules.h"
#include "values/comparator.h"
#include "verify/checked_calls.h"
#include "verify/input_sets.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {
namespace {

constexpr std::size_t kLeastBatteries = 4;
// Where time is short: the fewest input sets, and the parts of the time that is left for all of
// them and for the batteries that are not required.
constexpr int kFewestSets = 2;
constexpr double kPartForSets = 0.1;
constexpr double kPartForBatteries = 0.1;
// Tolerance for batteries on which a missing term would be the whole output.
constexpr Tolerance kEveryTermCounts{.rel = 0.01, .rel_l2 = 0.01};
// An integer that is wrong by less than this rounds to the right one.
constexpr double kHalf = 0.5;

}  // namespace

ValuePolicy::ValuePolicy(InputSets& sets, CheckedCalls& calls, Judging& judging,
                         const VerifyOptions& options, const VerifyProgress& progress)
    : sets_(sets),
      calls_(calls),
      judging_(judging),
      options_(options),
      progress_(progress),
      side_rng_(DeriveSeed(judging.seed, "batteries")),
      drawn_(options.check_sets) {}

Result<void> ValuePolicy::NominalSets() {
  const PhaseTimer timer(judging_.evaluation, "verify");
  bool official = true;
  const TimePoint start = std::chrono::steady_clock::now();
  for (int i = 0; i < drawn_ && !judging_.failed(); ++i) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    Show(fmt::format("check {}/{}", i + 1, options_.check_sets));
    official = TRY(NominalSet(i)) && official;
    if (i + 1 >= kFewestSets && Since(start) > options_.deadline.Left() * kPartForSets)
      drawn_ = i + 1;
  }
  if (drawn_ < options_.check_sets) {
    judging_.evaluation.partly_checked.push_back(
        fmt::format("{} of {} input sets", options_.check_sets - drawn_, options_.check_sets));
  }
  if (judging_.evaluation.error) judging_.evaluation.official_correct = official;
  if (judging_.failed()) return {};
  return sets_.Keep(calls_.process(), SlotOf(LastDraw()));
}

Result<bool> ValuePolicy::NominalSet(int index) {
  const auto draw = static_cast<std::size_t>(index);
  const std::uint32_t slot = SlotOf(draw);
  TRY(sets_.DrawSet(draw, judging_.rng() >> 1U, slot));
  return JudgeCall(slot, index);
}

Result<bool> ValuePolicy::JudgeCall(std::uint32_t slot, int index) {
  Poison(slot);
  if (!TRY(calls_.MeasuredCall(slot)) || !GuardsHold(slot)) return false;
  const bool official = sets_.Official(calls_.process(), slot);
  TRY(JudgeNominal(slot, index, official));
  return official;
}

Result<void> ValuePolicy::JudgeNominal(std::uint32_t slot, int index, bool official) {
  Evaluation& evaluation = judging_.evaluation;
  const TimePoint before = std::chrono::steady_clock::now();
  Comparison compared = Compare(slot, sets_.Tolerances(slot));
  judging_.compare_seconds += Since(before).count();
  if (strict()) {
    compared = TRY(Hold(slot, sets_.Tolerances(slot), std::move(compared), SmallValues::kCount));
  }
  const bool fine = strict() ? compared.ok : official;
  const bool worst = !evaluation.error || compared.error.rel_l2 > evaluation.error->rel_l2;
  if (worst || !fine) evaluation.error = compared.error;
  if (fine && !compared.ok && !std::exchange(warned_, true))
    judging_.Note("values", CheckVerdict::kNote, "wrong by the strict rule: " + compared.reason);
  if (fine) return {};
  judging_.Note("values", CheckVerdict::kFail, fmt::format("input set {}", index + 1));
  judging_.Reject(Status::kWrongValues, compared.ok
                                            ? "differs from Torch by more than KernelBench allows"
                                            : compared.reason);
  return {};
}

Result<Comparison> ValuePolicy::Hold(std::uint32_t slot, const std::vector<Tolerance>& tolerances,
                                     Comparison compared, SmallValues small) {
  if (!compared.ok) compared = TRY(SecondOpinion(slot, tolerances, std::move(compared)));
  if (!compared.ok || !compared.small_values || small == SmallValues::kMayBeLost) return compared;
  std::string wrong = TRY(sets_.WrongSmallValues(calls_.process(), slot, side_rng_));
  if (wrong.empty()) return compared;
  compared.ok = false;
  compared.reason = std::move(wrong);
  return compared;
}

Result<Comparison> ValuePolicy::SecondOpinion(std::uint32_t slot,
                                              const std::vector<Tolerance>& tolerances,
                                              Comparison first) {
  Comparison second = TRY(sets_.SecondOpinion(calls_.process(), slot, tolerances, side_rng_));
  if (!second.ok) return first;
  judging_.Note("values", CheckVerdict::kNote, "ill-conditioned inputs: " + first.reason);
  return second;
}

void ValuePolicy::Poison(std::uint32_t slot) {
  const std::array<std::uint32_t, 1> slots{slot};
  calls_.process().Poison(judging_.rng, slots);
}

bool ValuePolicy::GuardsHold(std::uint32_t slot) {
  const Damage damage = sets_.DamageIn(calls_.process(), slot);
  if (!damage.outside.empty()) {
    judging_.Note("guards", CheckVerdict::kFail, damage.outside);
    judging_.Reject(Status::kCrashed, "wrote " + damage.What());
  } else if (!damage.written.empty()) {
    judging_.Note("inputs", CheckVerdict::kFail, damage.written);
    judging_.Reject(Status::kCrashed,
                    "wrote " + damage.What() + "; inputs and parameters can only be read");
  }
  return !damage.any();
}

Result<void> ValuePolicy::Again(std::string_view where) {
  const PhaseTimer timer(judging_.evaluation, "verify");
  const std::uint32_t slot = SlotOf(LastDraw());  // so the addresses are the same, too
  TRY(sets_.RestoreSet(LastDraw(), slot));
  expected_ = false;
  Poison(slot);
  if (!TRY(calls_.Call(slot)) || !GuardsHold(slot)) return {};
  reordered_ = !TRY(SameAsAtFirst(where)) || reordered_;
  return {};
}

Result<bool> ValuePolicy::SameAsAtFirst(std::string_view where) {
  const std::uint32_t slot = SlotOf(LastDraw());
  if (sets_.AsKept(calls_.process(), slot)) return true;
  if (!std::exchange(expected_, true)) TRY(sets_.ExpectTruth(slot));
  Comparison compared = Compare(slot, sets_.Tolerances(slot));
  if (!compared.ok && strict())
    compared = TRY(SecondOpinion(slot, sets_.Tolerances(slot), std::move(compared)));
  if (compared.ok || !strict()) return false;
  judging_.Note("determinism", CheckVerdict::kFail, std::string(where));
  judging_.evaluation.error = compared.error;
  judging_.Reject(Status::kNondeterministic,
                  fmt::format("the same inputs gave right values at first and wrong ones {}: {}",
                              where, compared.reason));
  return false;
}

Result<ValuePolicy::DrawnSlots> ValuePolicy::RestoreDrawn() {
  DrawnSlots slots{.last = SlotOf(LastDraw()), .others = {}};
  for (std::size_t draw = 0; draw < LastDraw(); ++draw) {
    const std::uint32_t slot = SlotOf(draw);
    if (slot == slots.last || std::ranges::find(slots.others, slot) != slots.others.end()) continue;
    TRY(sets_.RestoreSet(draw, slot));
    slots.others.push_back(slot);
  }
  TRY(sets_.RestoreSet(LastDraw(), slots.last));
  expected_ = false;
  return slots;
}

// Signed inputs come first, because they find most. Then come the batteries that the operators
// require, no matter how long they take. The others follow as long as there is time; which ones
// these are is secret.
Result<void> ValuePolicy::Batteries() {
  const PhaseTimer timer(judging_.evaluation, "verify");
  const std::vector<Battery> required = Required();
  std::vector<Battery> others;
  for (const Battery battery : kAllBatteries) {
    const bool needed = std::ranges::find(required, battery) != required.end();
    if (!needed && !OnlyWhereNeeded(battery)) others.push_back(battery);
  }
  if (!TRY(TryOne(Battery::kSigned))) return {};
  for (const Battery battery : Shuffled(required)) {
    if (battery != Battery::kSigned && !TRY(TryOne(battery))) return {};
  }
  late_ = After(std::min(options_.battery_budget, options_.deadline.Left() * kPartForBatteries));
  for (const Battery battery : Shuffled(others)) {
    if (!TRY(TryOne(battery))) return {};
  }
  return {};
}

std::vector<Battery> ValuePolicy::Required() const {
  std::vector<Battery> required = RequiredBatteries(sets_.task());
  const bool asked = std::ranges::find(required, Battery::kNan) != required.end();
  if (options_.judging.strict_nan && !asked) required.push_back(Battery::kNan);
  return required;
}

std::vector<Battery> ValuePolicy::Shuffled(std::vector<Battery> batteries) {
  for (std::size_t i = batteries.size(); i > 1; --i)
    std::swap(batteries[i - 1], batteries[side_rng_.Below(i)]);
  return batteries;
}

bool ValuePolicy::OutOfTime(std::string_view battery) {
  const bool late = late_ && std::chrono::steady_clock::now() > *late_;
  if (!late || run_.size() < kLeastBatteries) return false;
  judging_.evaluation.partly_checked.emplace_back(battery);
  return true;
}

// Runs one battery if there is time. Returns false when the candidate failed.
Result<bool> ValuePolicy::TryOne(Battery battery) {
  if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
  if (battery == Battery::kNan) return EachNan();
  if (battery == Battery::kConstants) return EachOfConstants();
  if (OutOfTime(BatteryName(battery))) return true;
  return OneBattery({.battery = battery}, std::string(BatteryName(battery)));
}

Result<bool> ValuePolicy::EachOfConstants() {
  const std::string name(BatteryName(Battery::kConstants));
  const std::vector<double>& constants = judging_.kernel->constants;
  const int parts = ConstantParts(sets_.task(), constants.size());
  for (int part = 0; part < parts; ++part) {
    if (OutOfTime(name)) return true;
    const std::size_t left_out = left_out_.size();
    const BatteryWish wish{.battery = Battery::kConstants, .constants = constants, .part = part};
    if (!TRY(OneBattery(wish, name))) return false;
    if (left_out_.size() > left_out) return true;
  }
  return true;
}

Result<bool> ValuePolicy::EachNan() {
  const std::vector<TensorSpec>& arguments = sets_.task().arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TensorSpec& tensor = arguments[i];
    const bool floating = tensor.role == TensorRole::kInput && IsFloating(tensor.dtype);
    if (!floating || tensor.elements() == 0) continue;
    if (OutOfTime(BatteryName(Battery::kNan))) return true;
    const BatteryWish wish{.battery = Battery::kNan, .argument = static_cast<int>(i)};
    if (!TRY(OneBattery(wish, "nan in " + tensor.name))) return false;
  }
  return true;
}

// Runs one battery. Returns false when the candidate failed.
Result<bool> ValuePolicy::OneBattery(const BatteryWish& wish, const std::string& name) {
  constexpr std::uint32_t kSlot = 0;
  Show("battery " + name);
  const BatteryDraw draw = TRY(sets_.DrawBattery(wish, side_rng_, kSlot));
  if (!draw.not_admitted.empty()) {
    left_out_.push_back(fmt::format("{} ({})", name, draw.not_admitted));
    return true;
  }
  Poison(kSlot);
  if (!TRY(calls_.Call(kSlot))) {
    judging_.evaluation.reason += fmt::format("; it happened on {}", BatteryMeaning(wish.battery));
    return false;
  }
  if (!GuardsHold(kSlot)) return false;
  if (wish.battery == Battery::kNan) {
    JudgeNan(wish, draw, Compare(kSlot, draw.tolerances));
  } else {
    TRY(JudgeBattery(kSlot, wish.battery, draw));
  }
  // What a NaN left behind shows only in the next call, and not every battery's results are judged.
  if (!judging_.failed() && OnlyNoted(sets_.task(), wish.battery)) {
    TRY(Again("after " + std::string(BatteryMeaning(wish.battery))));
  }
  return !judging_.failed();
}

// Notes whether a NaN appears where Torch has it. It is a reason to reject only where strict_nan
// asks for that.
void ValuePolicy::JudgeNan(const BatteryWish& wish, const BatteryDraw& draw,
                           const Comparison& compared) {
  const bool same = compared.ok && compared.odd.empty();
  const std::string what = same && !draw.finite    ? "passed on"
                           : same                  ? "gone, as in Torch"
                           : !compared.odd.empty() ? "not passed on"
                                                   : "not as in Torch";
  const std::string& name = sets_.task().arguments[static_cast<std::size_t>(wish.argument)].name;
  std::vector<std::string>& found = judging_.evaluation.nan;
  found.push_back(fmt::format("NaN in {}: {}", name, what));
  if (same || !options_.judging.strict_nan) return;
  judging_.Note("nan", CheckVerdict::kFail, found.back());
  judging_.Reject(Status::kWrongValues,
                  fmt::format("right on finite inputs; a NaN in {} is {} (--strict-nan): {}", name,
                              what, compared.ok ? compared.odd : compared.reason));
}

// Compares what the candidate left in the slot, and gives it every benefit of the doubt.
Result<Comparison> ValuePolicy::CompareBattery(std::uint32_t slot, Battery battery,
                                               const BatteryDraw& draw) {
  Comparison compared = Compare(slot, draw.tolerances);
  const bool exact = std::ranges::all_of(draw.exact, [](char whole) { return whole != 0; });
  const bool inexact = exact && compared.ok && !(compared.error.max_abs < kHalf);
  if (inexact) {
    compared.ok = false;
    compared.reason =
        fmt::format("off by {:.3g} where integers must come out exactly", compared.error.max_abs);
  } else {
    const SmallValues small = MixesSizes(battery) ? SmallValues::kMayBeLost : SmallValues::kCount;
    compared = TRY(Hold(slot, draw.tolerances, std::move(compared), small));
  }
  if (!compared.ok && ShowsMissingTerms(battery)) {
    Comparison rough =
        Compare(slot, std::vector<Tolerance>(draw.tolerances.size(), kEveryTermCounts));
    if (rough.ok) judging_.Note("battery", CheckVerdict::kNote, "less exact: " + compared.reason);
    if (rough.ok) compared = std::move(rough);
  }
  return compared;
}

// Notes a battery that is not a reason to reject, or on which only elements differ whose true value
// is not finite.
void ValuePolicy::NoteBattery(Battery battery, const Comparison& compared) {
  const std::string& difference = compared.ok ? compared.odd : compared.reason;
  const std::string_view name = BatteryName(battery);
  if (compared.ok && (run_.empty() || run_.back() != name)) run_.emplace_back(name);
  if (difference.empty()) return;
  judging_.Note(std::string(BatteryName(battery)), CheckVerdict::kNote,
                "differs from Torch there: " + difference);
}

Result<void> ValuePolicy::JudgeBattery(std::uint32_t slot, Battery battery,
                                       const BatteryDraw& draw) {
  const bool noted = OnlyNoted(sets_.task(), battery);
  const Comparison compared =
      noted ? Compare(slot, draw.tolerances) : TRY(CompareBattery(slot, battery, draw));
  if (noted || compared.ok) {
    NoteBattery(battery, compared);
    return {};
  }
  judging_.Note("battery", CheckVerdict::kFail, std::string(BatteryName(battery)));
  judging_.evaluation.error = compared.error;
  judging_.Reject(Status::kWrongValues,
                  fmt::format("right on the task's own inputs, wrong on {}: {}",
                              BatteryMeaning(battery), compared.reason));
  return {};
}

void ValuePolicy::Summarise() {
  judging_.Note("values", CheckVerdict::kPass, fmt::format("{} input sets against fp64", drawn_));
  judging_.Note("guards", CheckVerdict::kPass, "nothing written outside the outputs");
  judging_.Note("determinism", CheckVerdict::kPass,
                reordered_ ? "the last bits vary from run to run, within the tolerance"
                           : "the same bits again, in the same and in a fresh process");
  if (!run_.empty()) judging_.Note("batteries", CheckVerdict::kPass, Join(run_, ", "));
  const std::vector<std::string>& late = judging_.evaluation.partly_checked;
  if (!late.empty())
    judging_.Note("batteries", CheckVerdict::kSkipped, "no time: " + Join(late, ", "));
  if (!left_out_.empty()) judging_.Note("batteries", CheckVerdict::kSkipped, Join(left_out_, "; "));
  const std::vector<std::string>& nan = judging_.evaluation.nan;
  if (!nan.empty()) judging_.Note("nan", CheckVerdict::kNote, Join(nan, "; "));
}

}  // namespace pragma
