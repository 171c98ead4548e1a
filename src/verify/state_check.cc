#include "verify/state_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "base/text.h"
#include "core/evaluation.h"
#include "values/batteries.h"
#include "verify/judging.h"
#include "verify/value_policy.h"

namespace pragma {
namespace {

using History = CheckedCalls::History;
using Kept = CheckedCalls::Kept;

// Outputs with fewer numbers than this are tried several times with partly changed inputs.
constexpr std::size_t kFewNumbers = 64;
constexpr int kTriesOfFewNumbers = 4;
constexpr std::size_t kBurst = 64;  // calls per command
// So many calls, or as many as fit in the budget on an idle machine, are made even if the machine
// is busy and they take longer.
constexpr std::uint64_t kManyCalls = 3000;
constexpr double kPatience = 5;
constexpr double kBurstsInBudget = 8;
constexpr std::size_t kFewCalls = 8;  // calls that are made no matter how long they take
constexpr std::uint64_t kMostCalls = std::uint64_t{1} << 17U;
constexpr double kShareWithoutPlaces = 1.0 / 3;
constexpr std::uint64_t kAges = 12;  // number of ages to which counters are advanced
constexpr std::uint64_t kLeastAgeBits = 6;
constexpr std::uint64_t kMostAgeBits = 40;
constexpr std::size_t kMostCounters = 64;  // with more of them it is changing data, not counters
constexpr std::size_t kWord = 8;

std::uint64_t LoadWord(std::span<const std::byte> bytes, std::size_t offset, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, size);
  return word;
}

// True for a word that may be an address in x86-64's or AArch64's user space: below 2^47 and not a
// small number.
bool LooksLikeAddress(std::uint64_t word) {
  return word >= (std::uint64_t{1} << 32U) && word < (std::uint64_t{1} << 47U);
}

bool IsCounter(std::span<const std::byte> first, std::span<const std::byte> second,
               std::span<const std::byte> third, std::size_t offset, std::size_t size,
               std::uint64_t& step) {
  const std::uint64_t mask = size == kWord ? ~std::uint64_t{0} : 0xffffffffU;
  const std::uint64_t before = (LoadWord(second, offset, size) - LoadWord(first, offset, size));
  const std::uint64_t after = (LoadWord(third, offset, size) - LoadWord(second, offset, size));
  step = before & mask;
  return step != 0 && step == (after & mask);
}

}  // namespace

std::vector<std::byte> Exchanged(std::span<const std::byte> own, std::span<const std::byte> other) {
  std::vector<std::byte> mixed(own.begin(), own.end());
  for (std::size_t at = 0; at < own.size(); at += kWord) {
    const std::size_t size = std::min(kWord, own.size() - at);
    if (size == kWord && (LooksLikeAddress(LoadWord(own, at, size)) ||
                          LooksLikeAddress(LoadWord(other, at, size)))) {
      continue;
    }
    std::memcpy(mixed.data() + at, other.data() + at, size);
  }
  return mixed;
}

std::vector<KeptCounter> FindCounters(std::span<const std::byte> first,
                                      std::span<const std::byte> second,
                                      std::span<const std::byte> third) {
  std::vector<KeptCounter> counters;
  const std::size_t end = std::min({first.size(), second.size(), third.size()});
  for (std::size_t at = 0; at + kWord / 2 <= end; at += kWord / 2) {
    if (std::memcmp(first.data() + at, second.data() + at, kWord / 2) == 0) continue;
    // A small step leaves the upper half of a 64-bit counter unchanged. A changed word is therefore
    // taken for a 32-bit counter unless its upper half exists and is zero, as in a young 64-bit
    // counter.
    const bool may_be_long =
        at % kWord == 0 && at + kWord <= end && LoadWord(third, at + kWord / 2, kWord / 2) == 0;
    const std::size_t size = may_be_long ? kWord : kWord / 2;
    std::uint64_t step = 0;
    if (IsCounter(first, second, third, at, size, step)) counters.push_back({at, size, step});
  }
  return counters;
}

std::vector<std::byte> Advanced(std::span<const std::byte> kept,
                                std::span<const KeptCounter> counters, std::uint64_t calls) {
  std::vector<std::byte> aged(kept.begin(), kept.end());
  for (const KeptCounter& counter : counters) {
    const std::uint64_t value =
        LoadWord(kept, counter.offset, counter.bytes) + counter.step * calls;
    std::memcpy(aged.data() + counter.offset, &value, counter.bytes);
  }
  return aged;
}

Result<void> StateCheck::Run() {
  const PhaseTimer timer(judging_.evaluation, "state");
  slots_ = TRY(policy_.RestoreDrawn());
  TRY(LeftResults());
  if (judging_.failed()) return {};
  slots_ = TRY(policy_.RestoreDrawn());
  TRY(ManyCalls());
  if (!judging_.failed()) TRY(ExplainBits());
  if (!judging_.failed()) TRY(Exchange());
  for (const Kept where : {Kept::kOwn, Kept::kStacks}) {
    if (!judging_.failed() && runs_) TRY(Age(where));
  }
  if (!judging_.failed()) Summarise();
  return {};
}

// The outputs still hold the results of a call, and only a part of the inputs is new. Work that
// looks done is therefore not done. A result of a few numbers, such as a mean, may lie so close to
// the one before that a kernel that returns the latter passes by chance. Such results are tried
// more often.
Result<void> StateCheck::LeftResults() {
  calls_.Choose(History::kUsed);
  Rng rng(DeriveSeed(judging_.seed, "left results"));
  const std::vector<std::uint32_t> call{slots_.last};
  TRY(calls_.Refill(slots_.last));
  if (!TRY(calls_.CallMany(call))) return {};
  std::size_t numbers = 0;
  for (const TensorSpec& output : sets_.task().outputs) numbers += output.elements();
  const int tries = numbers < kFewNumbers ? kTriesOfFewNumbers : 1;
  for (int i = 0; i < tries && !judging_.failed(); ++i) {
    if (!TRY(PartlyChanged(rng))) return {};
  }
  return {};
}

// Changes a part of the inputs, calls and judges. False: there is nothing more to try.
Result<bool> StateCheck::PartlyChanged(Rng& rng) {
  const BatteryWish wish{.battery = Battery::kPartlyChanged,
                         .draw = static_cast<int>(policy_.LastDraw())};
  const BatteryDraw draw = TRY(sets_.DrawBattery(wish, rng, slots_.last));
  if (!draw.not_admitted.empty()) return false;
  TRY(calls_.Publish(slots_.last));
  const std::vector<std::uint32_t> call{slots_.last};
  if (judging_.failed() || !TRY(calls_.CallMany(call))) return false;
  if (!TRY(LookAtLast())) return false;
  TRY(policy_.JudgeBattery(slots_.last, wish.battery, draw));
  return true;
}

// Examines what the last call on the last set left. False: it wrote outside its outputs.
Result<bool> StateCheck::LookAtLast() {
  const std::array<std::uint32_t, 1> last{slots_.last};
  TRY(sets_.LookAt(calls_.process(), last));
  return policy_.GuardsHold(slots_.last);
}

// Makes stretches of calls of secret length. Each stretch is longer than all earlier ones together
// and ends with the set whose result is known. Nothing happens between the calls of a stretch, so
// that whatever the system or we would clear is kept.
Result<void> StateCheck::ManyCalls() {
  calls_.Choose(History::kUsed);
  Rng rng(DeriveSeed(judging_.seed, "state"));
  const bool places = !judging_.kernel->kept.empty();
  const Seconds budget = budget_ * (places ? 1.0 : kShareWithoutPlaces);
  const std::uint64_t total = kMostCalls / 2 + rng.Below(kMostCalls / 2);
  const double in_budget = budget.count() / judging_.call_seconds();
  const auto expected =
      static_cast<std::uint64_t>(std::min(static_cast<double>(kManyCalls), in_budget));
  const TimePoint start = std::chrono::steady_clock::now();
  const auto in_time = [&] {
    const Seconds spent = Since(start);
    return made_ < kFewCalls || spent < budget || (made_ < expected && spent < budget * kPatience);
  };
  while (made_ < total && in_time()) {
    TRY(calls_.Refill(slots_.last));
    const std::uint64_t end = made_ + 1 + made_ / 2 + rng.Below(made_ + kFewCalls);
    while (made_ < end && in_time()) {
      if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
      if (!TRY(calls_.CallMany(Burst(end - made_, rng)))) return {};
    }
    if (!TRY(Look(fmt::format("after {} calls of the same process", made_)))) return {};
  }
  return {};
}

// Chooses calls on other sets. If calls are long, there are only a few, so that the budget is kept.
std::vector<std::uint32_t> StateCheck::Burst(std::uint64_t most, Rng& rng) {
  const double affordable = budget_.count() / kBurstsInBudget / judging_.call_seconds();
  const double longest = std::min(static_cast<double>(most), static_cast<double>(kBurst));
  const auto count = static_cast<std::size_t>(std::clamp(affordable, 1.0, std::max(longest, 1.0)));
  std::vector<std::uint32_t> burst(count, slots_.last);
  if (!slots_.others.empty()) {
    for (std::uint32_t& slot : burst) slot = slots_.others[rng.Below(slots_.others.size())];
  }
  made_ += count;
  return burst;
}

// Makes a burst that ends with the set whose result is known. The outputs must have been filled
// before. False: the candidate was rejected.
Result<bool> StateCheck::Look(const std::string& where) {
  Rng rng(DeriveSeed(judging_.seed, where));
  std::vector<std::uint32_t> burst = Burst(kBurst - 1, rng);
  burst.push_back(slots_.last);
  if (!TRY(calls_.CallMany(burst))) return false;
  ++made_;
  if (!TRY(LookAtLast())) return false;
  if (!TRY(policy_.SameAsAtFirst(where))) other_bits_ = true;
  return !judging_.failed();
}

// The bits differ after many calls. Finds out whether this comes from the order of additions, which
// varies in a pristine process as well, or from something that was kept.
Result<void> StateCheck::ExplainBits() {
  if (!other_bits_ || policy_.reordered()) return {};
  calls_.Choose(History::kPristine);
  other_bits_ = false;
  constexpr int kTries = 3;
  for (int i = 0; i < kTries && !other_bits_ && !judging_.failed(); ++i) {
    TRY(calls_.Refill(slots_.last));
    TRY(Look("in a pristine process"));
  }
  bits_ = other_bits_ ? "the last bits vary from call to call"
                      : "after many calls the last bits are others than in a pristine process";
  return {};
}

// Makes one call with memory that is not the process's own. A crash is our fault, because we may
// have changed an index or a length. False: the candidate was rejected, or this cannot be tried.
Result<bool> StateCheck::TryWith(Kept where, const std::vector<std::byte>& kept,
                                 const std::string& words) {
  if (!TRY(calls_.WriteKept(where, kept))) return false;
  const Evaluation before = judging_.evaluation;
  if (!TRY(calls_.CallOnKept(slots_.last))) {
    runs_ = false;
    judging_.evaluation = before;
    judging_.Note("state", CheckVerdict::kNote, "does not run with kept memory changed: " + words);
    return false;
  }
  TRY(policy_.SameAsAtFirst(words));
  return !judging_.failed();
}

Result<std::vector<std::byte>> StateCheck::KeptAfterCall(Kept where) {
  if (!TRY(calls_.CallOnKept(slots_.last))) return std::vector<std::byte>();
  return calls_.ReadKept(where);
}

// Exchanges the memory of two processes with different histories. What they kept may contain sizes
// that vary.
Result<void> StateCheck::Exchange() {
  calls_.Choose(History::kPristine);
  const std::vector<std::byte> pristine = TRY(KeptAfterCall(Kept::kOwn));
  if (judging_.failed() || pristine.empty()) return {};
  calls_.Choose(History::kUsed);
  const std::vector<std::byte> used = TRY(calls_.ReadKept(Kept::kOwn));
  if (used.size() != pristine.size()) return {};
  constexpr const char* kWords = "with what another of its processes had kept";
  exchanged_ = TRY(TryWith(Kept::kOwn, Exchanged(used, pristine), kWords));
  if (!exchanged_) return {};
  calls_.Choose(History::kPristine);
  exchanged_ = TRY(TryWith(Kept::kOwn, Exchanged(pristine, used), kWords));
  return {};
}

// Advances the counters of the used process.
Result<void> StateCheck::Age(Kept where) {
  calls_.Choose(History::kUsed);
  const std::vector<std::byte> first = TRY(KeptAfterCall(where));
  const std::vector<std::byte> second = TRY(KeptAfterCall(where));
  const std::vector<std::byte> third = TRY(KeptAfterCall(where));
  if (judging_.failed() || third.empty()) return {};
  const std::vector<KeptCounter> counters = FindCounters(first, second, third);
  if (counters.empty() || counters.size() > kMostCounters) return {};
  // What threads left on their stacks usually belongs to the runtime.
  if (where == Kept::kOwn) counters_ = counters.size();
  Rng rng(DeriveSeed(judging_.seed, "ages"));
  for (std::uint64_t i = 0; i < kAges; ++i) {
    const std::uint64_t bits = kLeastAgeBits + (kMostAgeBits - kLeastAgeBits) * i / kAges;
    const std::uint64_t calls = (std::uint64_t{1} << bits) + rng.Below(std::uint64_t{1} << bits);
    const std::string words = fmt::format("as if it had been called {} times", calls);
    if (!TRY(TryWith(where, Advanced(third, counters, calls), words))) return {};
  }
  return {};
}

void StateCheck::Summarise() const {
  const std::vector<std::string>& places = judging_.kernel->kept;
  std::string detail = places.empty() ? "there is nowhere to keep any" : Join(places, ", ");
  detail += fmt::format("; right after {} calls", made_);
  if (exchanged_) detail += ", and with what two processes had kept exchanged";
  if (counters_ > 0) {
    detail += fmt::format(", and with {} counter{} advanced", counters_, counters_ == 1 ? "" : "s");
  }
  if (!bits_.empty()) detail += "; " + bits_;
  judging_.Note("state", CheckVerdict::kPass, detail);
}

}  // namespace pragma
