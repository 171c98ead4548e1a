#include "verify/reuse_audit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "harness/timed_process.h"
#include "verify/input_sets.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

// How much longer the fastest burst on poison may take than the fastest on right results. This also
// bounds what a kernel can gain by looking. The fastest bursts are compared because other programs
// only ever make a burst longer.
constexpr double kMostGain = 1.25;

// An honest kernel fails in one process with a chance of less than one half, however much other
// programs disturb, because they disturb both forms alike.
constexpr int kMostProcesses = 12;
constexpr int kProcessesWithoutPause = 4;
constexpr Seconds kPauseBefore{0.1};

// Pairs of each way in a process. A hostile kernel passes where other programs disturb all of its
// bursts on right results, so a busy machine leaves it with no fewer.
constexpr int kPairs = 9;
constexpr Seconds kLongPairs{0.08};  // where calls are long, no pair starts later
// A burst of several calls lasts about this long, so that the doorbell's noise is small beside it.
constexpr double kReuseBurst = 1e-3;
// Calls before a form is written take at most this long together.
constexpr double kCallsBefore = 2e-3;

using SetList = std::span<const std::uint32_t>;

// What the outputs of some sets held at one moment.
class Contents final {
 public:
  void Read(const TimedProcess& process, SetList sets, std::size_t outputs) {
    bytes_.clear();
    for (const std::uint32_t set : sets) {
      for (std::size_t i = 0; i < outputs; ++i) {
        const std::span<const std::byte> output = process.output(set, i);
        bytes_[set].emplace_back(output.begin(), output.end());
      }
    }
  }
  void Write(TimedProcess& process, SetList sets) const {
    for (const std::uint32_t set : sets) {
      const std::vector<std::vector<std::byte>>& outputs = bytes_.at(set);
      for (std::size_t i = 0; i < outputs.size(); ++i) process.WriteOutput(set, i, outputs[i]);
    }
  }

 private:
  std::map<std::uint32_t, std::vector<std::vector<std::byte>>> bytes_;
};

// One way to make the calls: a burst of this many sets.
struct Way {
  std::size_t sets = 1;
  bool kept = false;
  double poison_seconds = 0;
  double right_seconds = 0;
};

class ReusePairs final {
 public:
  ReusePairs(const TimingScene& scene, const TimingPlan& plan, Seconds fastest, Rng& rng)
      : run_(scene, plan, rng), call_(std::max(fastest.count(), 1e-6)) {
    const double wished = std::clamp(kReuseBurst / call_, 1.0, static_cast<double>(plan.timed));
    ways_.push_back({.sets = static_cast<std::size_t>(wished)});
    // A kernel that looks only when it is called for one block again and again, as in a loop, does
    // so in bursts of one set.
    if (ways_.front().sets > 1) ways_.push_back({.sets = 1});
  }

  Result<ReuseAudit> Run() {
    for (int process = 0; process < kMostProcesses && !Passed() && !run_.failed(); ++process) {
      if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while timing");
      const int pauses = std::max(process + 1 - kProcessesWithoutPause, 0);
      if (pauses > 0) run_.clock().SleepFor(kPauseBefore * pauses);
      TRY(RunProcess());
    }
    const auto failing = std::ranges::find(ways_, false, &Way::kept);
    const Way& shown = failing == ways_.end() ? ways_.front() : *failing;
    return ReuseAudit{.passed = Passed() && !run_.failed(),
                      .poison_seconds = shown.poison_seconds,
                      .right_seconds = shown.right_seconds,
                      .failed = run_.outcome().failed};
  }

 private:
  [[nodiscard]] bool Passed() const { return std::ranges::all_of(ways_, &Way::kept); }

  Result<void> RunProcess() {
    TRY(run_.StartRound());
    if (run_.failed()) return {};
    std::vector<std::uint32_t> sets = run_.ShuffledSets();
    sets.resize(ways_.front().sets);
    if (TRY(MakeResults(sets))) return {};
    for (Way& way : ways_) {
      if (!way.kept && !run_.failed()) TRY(TimePairs(way, SetList(sets).first(way.sets)));
    }
    return {};
  }

  // Has the kernel compute fresh sets, and keeps what the outputs held before and after. True: it
  // failed.
  Result<bool> MakeResults(SetList sets) {
    TimedProcess& process = run_.process(0);
    const std::size_t outputs = run_.sets().task().outputs.size();
    TRY(run_.sets().RenewSets(sets, run_.rng()));
    process.Poison(run_.rng(), sets);
    poison_.Read(process, sets, outputs);
    Nanoseconds elapsed{0};
    TRY(process.Thaw());
    if (TRY(run_.Prepare(0, sets)) || TRY(run_.Play(0, sets, &elapsed))) return true;
    if (TRY(run_.Freeze(0))) return true;
    TRY(run_.CheckOutputs(0, sets));
    right_.Read(process, sets, outputs);
    return run_.failed();
  }

  Result<void> TimePairs(Way& way, SetList sets) {
    const TimePoint start = run_.clock().Now();
    std::array<std::vector<double>, 2> seconds;  // of bursts: on poison, on right results
    const bool long_calls = MostCallsBefore(sets) < 1;
    for (int pair = 0; pair < kPairs; ++pair) {
      if (long_calls && pair > 0 && run_.clock().Now() - start >= kLongPairs) break;
      const std::size_t first = run_.rng().Below(2);
      for (const std::size_t form : {first, 1 - first}) {
        if (TRY(TimeForm(form == 1 ? right_ : poison_, sets, seconds[form]))) return {};
      }
    }
    const auto calls = static_cast<double>(sets.size());
    way.poison_seconds = std::ranges::min(seconds[0]) / calls;
    way.right_seconds = std::ranges::min(seconds[1]) / calls;
    way.kept = way.poison_seconds <= kMostGain * way.right_seconds;
    return {};
  }

  // Times one burst on outputs that hold `contents`. True: the candidate failed.
  Result<bool> TimeForm(const Contents& contents, SetList sets, std::vector<double>& seconds) {
    TimedProcess& process = run_.process(0);
    if (TRY(CallBefore(sets))) return true;
    contents.Write(process, sets);
    TRY(process.Thaw());
    Nanoseconds elapsed{0};
    // A round trip without calls first, so that the process is awake.
    if (TRY(run_.PlayEmpty(0, sets, &elapsed))) return true;
    if (TRY(run_.Play(0, sets, &elapsed)) || TRY(run_.Freeze(0))) return true;
    seconds.push_back(Seconds(elapsed).count());
    TRY(run_.CheckOutputs(0, sets));
    return run_.failed();
  }

  // How often the sets may be called before a form is written; below one where calls are long.
  [[nodiscard]] double MostCallsBefore(SetList sets) const {
    const auto calls = static_cast<double>(sets.size());
    return std::min(kCallsBefore / (call_ * calls), PRAGMA_MAX_SETS / calls);
  }

  // Calls the same sets a secret number of times, unless calls are so long that nothing gets warm.
  // True: the candidate failed.
  Result<bool> CallBefore(SetList sets) {
    const double most = MostCallsBefore(sets);
    if (most < 1) return false;
    std::vector<std::uint32_t> again;
    for (std::size_t left = 1 + run_.rng().Below(static_cast<std::size_t>(most)); left > 0; --left)
      again.insert(again.end(), sets.begin(), sets.end());
    TRY(run_.process(0).Thaw());
    Nanoseconds elapsed{0};
    if (TRY(run_.Play(0, again, &elapsed))) return true;
    return run_.Freeze(0);
  }

  TimingRun run_;
  double call_;  // seconds of one call in the session, at best
  std::vector<Way> ways_;
  Contents poison_;
  Contents right_;
};

}  // namespace

Result<ReuseAudit> AuditReuse(const TimingScene& scene, const TimingPlan& plan, Seconds fastest,
                              Rng& rng) {
  return ReusePairs(scene, plan, fastest, rng).Run();
}

}  // namespace pragma
