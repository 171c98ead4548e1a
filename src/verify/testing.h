// Fakes for tests of the rules of trust: a kernel that is a function, processes that call it, input
// sets that are single numbers, and an executor that builds nothing. Time is a counter, so that a
// whole evaluation takes microseconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "harness/timed_process.h"
#include "verify/input_sets.h"

namespace pragma::testing {

class FakeClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  void SleepFor(Seconds duration) override { Pass(duration.count()); }
  void Pass(double seconds) { now_ += std::chrono::duration_cast<Nanoseconds>(Seconds{seconds}); }

 private:
  TimePoint now_{};
};

// What one process of a kernel keeps: a count of its calls, and a number that it chooses itself.
struct Memory {
  std::uint64_t calls = 0;
  std::uint64_t number = 0;
};

// One call, as the kernel sees it. It writes its result for the set, or leaves it unwritten.
struct FakeCall {
  std::uint64_t input = 0;  // the right result
  std::uint32_t slot = 0;
  bool timed = false;       // in a timing session
  std::size_t process = 0;  // number of the process, from 0, in the order in which they started
  Memory& memory;
  std::map<std::uint32_t, std::uint64_t>& outputs;  // of all slots, as the process sees them
};
using FakeKernel = std::function<std::optional<std::uint64_t>(const FakeCall& call)>;
inline std::optional<std::uint64_t> RightResult(const FakeCall& call) { return call.input; }

// How a side behaves. One object stands for all processes of the side.
struct Behaviour {
  FakeKernel kernel = RightResult;
  double seconds = 1e-3;         // of a call
  double ahead_seconds = -1;     // of a call whose inputs were there early; negative: the same
  double batched_seconds = -1;   // of each call of several at once; negative: the same
  double doorbell = 1e-6;        // of a round trip
  double empty_doorbell = -1;    // of a round trip without calls; negative: the same
  double processors = 1;         // kept busy
  double pause = 0;              // that other programs make in every second burst or so
  double reuse_seconds = -1;     // of a call that finds its right result; negative: the same
  bool reuses_in_a_row = false;  // only where the call before was for the same set
  double faulting_seconds = -1;  // of a call that faults its outputs in; negative: the same
  std::uint64_t faults = 0;      // page faults of such a call
  bool writes_outside = false;
  std::optional<WorkerFailure> load_failure;
  std::vector<double> sessions;  // seconds of a call by timing session; overrides `seconds`
};

// What all fakes of one test share.
struct World {
  FakeClock clock;
  std::vector<std::string> events;  // what happened, in order
  std::size_t processes = 0;        // started so far
  std::size_t sessions = 0;         // timing sessions so far
  int awake = 0;                    // timed processes that are not frozen
  int most_awake = 0;
  std::set<std::uint32_t> late;  // slots whose inputs arrived after the warm-up
  std::vector<std::uint64_t> slots = std::vector<std::uint64_t>(8);  // right results

  [[nodiscard]] long Count(const std::string& event) const {
    return std::ranges::count(events, event);
  }
  // Returns the index of the first such event, or the number of events.
  [[nodiscard]] std::size_t Find(const std::string& event) const {
    return static_cast<std::size_t>(std::ranges::find(events, event) - events.begin());
  }
};

// How a process was started (WorkerOptions).
struct CallForm {
  bool faults = false;  // memory that was freed is given back
};

class FakeProcess final : public TimedProcess {
 public:
  FakeProcess(World& world, const Behaviour& behaviour, bool timed, CallForm form = {})
      : world_(world),
        behaviour_(behaviour),
        timed_(timed),
        form_(form),
        number_(world.processes++) {
    if (timed_) Awake(1);
  }
  FakeProcess(const FakeProcess&) = delete;
  FakeProcess& operator=(const FakeProcess&) = delete;
  ~FakeProcess() override {
    if (timed_ && !frozen_) Awake(-1);
  }

  Result<ProcessFailure> Load() override { return behaviour_.load_failure; }
  Result<ProcessFailure> Run(std::span<const std::uint32_t> sets, Nanoseconds* elapsed) override {
    double seconds = behaviour_.doorbell;
    for (const std::uint32_t set : sets) seconds += Call(set, sets.size(), outputs);
    if (disturbance_.Below(2) == 0) seconds += behaviour_.pause;
    Spend(seconds, elapsed);
    return ProcessFailure();
  }
  Result<ProcessFailure> Repeat(std::uint32_t set, std::uint32_t times,
                                Nanoseconds* elapsed) override {
    double seconds = behaviour_.doorbell;
    for (std::uint32_t i = 0; i < times; ++i) {
      returned_.clear();
      seconds += Call(set, 1, returned_);
    }
    Spend(seconds, elapsed);
    return ProcessFailure();
  }
  Result<ProcessFailure> RunEmpty(std::span<const std::uint32_t>, Nanoseconds* elapsed) override {
    returned_.clear();
    const double own = behaviour_.empty_doorbell;
    Spend(own < 0 ? behaviour_.doorbell : own, elapsed);
    return ProcessFailure();
  }
  Result<ProcessFailure> Deliver(std::uint32_t set) override {
    if (const auto found = returned_.find(set); found != returned_.end())
      outputs[set] = found->second;
    returned_.clear();
    return ProcessFailure();
  }
  [[nodiscard]] std::uint64_t PageFaults() const override { return faults_; }
  Result<ProcessFailure> Freeze() override {
    if (timed_ && !frozen_) Awake(-1);
    frozen_ = true;
    return ProcessFailure();
  }
  Result<void> Thaw() override {
    if (timed_ && frozen_) Awake(1);
    frozen_ = false;
    return {};
  }
  [[nodiscard]] Seconds CpuTime() const override { return Seconds{cpu_}; }
  void Kill() override {}
  void Poison(Rng& rng, std::span<const std::uint32_t> sets) override {
    for (const std::uint32_t set : sets) outputs[set] = rng();
  }
  [[nodiscard]] std::span<const std::byte> output(std::uint32_t set, std::size_t) const override {
    return std::as_bytes(std::span(&outputs.at(set), 1));
  }
  void WriteOutput(std::uint32_t set, std::size_t, std::span<const std::byte> bytes) override {
    std::memcpy(&outputs[set], bytes.data(), bytes.size());
  }

  [[nodiscard]] bool frozen() const { return frozen_; }
  [[nodiscard]] bool timed() const { return timed_; }
  [[nodiscard]] const Behaviour& behaviour() const { return behaviour_; }
  Memory memory;
  std::map<std::uint32_t, std::uint64_t> outputs;

 private:
  // Makes one call of `calls`, whose result goes to `written`. Returns its time in seconds.
  double Call(std::uint32_t set, std::size_t calls,
              std::map<std::uint32_t, std::uint64_t>& written) {
    if (form_.faults) faults_ += behaviour_.faults;
    const FakeCall call{world_.slots.at(set), set, timed_, number_, memory, written};
    const auto found = written.find(set);
    const bool again = std::exchange(last_set_, set) == set;
    const bool there = found != written.end() && found->second == call.input &&
                       (again || !behaviour_.reuses_in_a_row);
    if (const auto result = behaviour_.kernel(call)) written[set] = *result;
    return there && behaviour_.reuse_seconds >= 0 ? behaviour_.reuse_seconds
                                                  : SecondsOf(set, calls);
  }
  void Awake(int change) {
    world_.awake += change;
    world_.most_awake = std::max(world_.most_awake, world_.awake);
  }
  [[nodiscard]] double SecondsOf(std::uint32_t set, std::size_t calls) const {
    const bool late = world_.late.contains(set);
    if (behaviour_.ahead_seconds >= 0 && !late) return behaviour_.ahead_seconds;
    if (behaviour_.faulting_seconds >= 0 && form_.faults) return behaviour_.faulting_seconds;
    if (behaviour_.batched_seconds >= 0 && calls > 1) return behaviour_.batched_seconds;
    if (behaviour_.sessions.empty() || !timed_) return behaviour_.seconds;
    const std::size_t at = std::min(world_.sessions, behaviour_.sessions.size());
    return behaviour_.sessions[at - 1];
  }
  void Spend(double seconds, Nanoseconds* elapsed) {
    world_.clock.Pass(seconds);
    cpu_ += seconds * behaviour_.processors;
    *elapsed = std::chrono::duration_cast<Nanoseconds>(Seconds{seconds});
  }

  World& world_;
  const Behaviour& behaviour_;
  bool timed_;
  CallForm form_;
  std::size_t number_;
  std::map<std::uint32_t, std::uint64_t> returned_;  // by calls whose results were not delivered
  std::uint64_t faults_ = 0;
  std::optional<std::uint32_t> last_set_;
  Rng disturbance_{Seed{}};
  bool frozen_ = false;
  double cpu_ = 0;
};

inline const FakeProcess& Fake(const TimedProcess& process) {
  return dynamic_cast<const FakeProcess&>(process);
}

// Input sets that are single numbers. A result may differ from the right one by `tolerance`, and by
// `movement` if the inputs are ill-conditioned.
class FakeSets : public InputSets, public LateInputs {
 public:
  explicit FakeSets(World& world) : world_(world) {
    task_.arguments = {{.name = "x", .shape = {4}}};
    task_.outputs = {{.name = "out", .shape = {4}}};
    task_.graph.push_back({.name = "n", .op = "aten.sum.dim_IntList"});
  }

  std::uint64_t tolerance = 1;
  std::uint64_t movement = 1;     // how far rounding of the inputs moves the truth
  std::string wrong_small_value;  // what WrongSmallValues returns
  std::string written;            // an argument that was written
  bool official = true;
  bool renews = true;  // timed sets get fresh values
  bool can_be_late = true;
  bool draws = false;  // refills have parameters of their own
  std::vector<Battery> batteries;
  std::set<std::uint64_t> seeds;  // with which sets were drawn

  [[nodiscard]] Task& own_task() { return task_; }
  [[nodiscard]] const Task& task() const override { return task_; }
  [[nodiscard]] std::size_t sets() const override { return world_.slots.size(); }
  void Forget() override { world_.events.emplace_back("forget"); }
  Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::size_t slot) override {
    world_.events.emplace_back("draw");
    seeds.insert(seed);
    pool_[draw] = seed >> 1U;
    return RestoreSet(draw, slot);
  }
  Result<void> RestoreSet(std::size_t draw, std::size_t slot) override {
    world_.slots.at(slot) = pool_.at(draw);
    return {};
  }
  Result<void> ExpectTruth(std::size_t) override { return {}; }
  Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng& rng, std::size_t slot) override {
    batteries.push_back(wish.battery);
    world_.events.emplace_back("battery");
    world_.slots.at(slot) = rng() >> 2U;
    return BatteryDraw{.tolerances = Tolerances(slot), .exact = {0}};
  }
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::size_t) const override {
    return {{.rel = static_cast<double>(tolerance), .rel_l2 = static_cast<double>(tolerance)}};
  }

  Result<void> LookAt(const TimedProcess& process, std::span<const std::uint32_t>) override {
    // What a process that still runs has written says nothing about the time of its calls.
    if (Fake(process).timed() && !Fake(process).frozen()) {
      world_.events.emplace_back("looked at a process that runs");
    }
    return {};
  }
  [[nodiscard]] Damage DamageIn(const TimedProcess& process, std::uint32_t) const override {
    return {.outside = Fake(process).behaviour().writes_outside ? "out" : "", .written = written};
  }
  [[nodiscard]] Comparison Compare(const TimedProcess& process, std::uint32_t slot,
                                   const std::vector<Tolerance>& tolerances) const override {
    return Within(process, slot, tolerances.front().rel);
  }
  Result<Comparison> SecondOpinion(const TimedProcess& process, std::uint32_t slot,
                                   const std::vector<Tolerance>&, Rng&) override {
    world_.events.emplace_back("second opinion");
    return Within(process, slot, static_cast<double>(movement));
  }
  Result<std::string> WrongSmallValues(const TimedProcess&, std::uint32_t, Rng&) override {
    return wrong_small_value;
  }
  [[nodiscard]] bool Official(const TimedProcess&, std::uint32_t) const override {
    return official;
  }
  Result<void> Keep(const TimedProcess& process, std::uint32_t slot) override {
    kept_ = Fake(process).outputs.at(slot);
    return {};
  }
  [[nodiscard]] bool AsKept(const TimedProcess& process, std::uint32_t slot) const override {
    return Fake(process).outputs.at(slot) == kept_;
  }

  Result<void> RenewSets(std::span<const std::uint32_t> slots, Rng& rng) override {
    world_.late.clear();
    for (const std::uint32_t slot : slots) {
      if (renews) world_.slots.at(slot) = rng() >> 2U;
    }
    return {};
  }
  Result<double> Upkeep(double, Rng&) override { return 1e-5; }
  Result<void> BeforeWarmup(TimedProcess&, const BurstSets&, Rng&) override {
    world_.events.emplace_back("before the warm-up");
    return {};
  }
  Result<void> AfterWarmup(TimedProcess&, const BurstSets&, Rng&) override {
    world_.events.emplace_back("after the warm-up");
    return {};
  }
  LateInputs* late() override { return can_be_late ? this : nullptr; }
  Result<void> RenewInputs(std::size_t slot, Rng& rng) override {
    TRY(StageInputs(slot, rng));
    Publish(slot);
    return {};
  }
  Result<void> StageInputs(std::size_t slot, Rng& rng) override {
    staged_[slot] = renews ? rng() >> 2U : world_.slots.at(slot);
    return {};
  }
  void Publish(std::size_t slot) override {
    world_.slots.at(slot) = staged_.at(slot);
    world_.late.insert(static_cast<std::uint32_t>(slot));
  }
  void Warm(std::span<const std::uint32_t>) const override {}
  [[nodiscard]] bool draws_refills() const override { return draws; }

 private:
  [[nodiscard]] Comparison Within(const TimedProcess& process, std::uint32_t slot,
                                  double most) const {
    const auto found = Fake(process).outputs.find(slot);
    const std::uint64_t right = world_.slots.at(slot);
    const std::uint64_t got = found == Fake(process).outputs.end() ? ~right : found->second;
    const auto off = static_cast<double>(got > right ? got - right : right - got);
    return {.ok = off <= most,
            .reason = off <= most ? "" : "wrong values",
            .small_values = !wrong_small_value.empty(),
            .error = {.max_abs = off, .rel_l2 = off}};
  }

  World& world_;
  Task task_;
  std::map<std::size_t, std::uint64_t> pool_;
  std::map<std::size_t, std::uint64_t> staged_;
  std::uint64_t kept_ = 0;
};

// Returns the detail of a check, or "" if there is none with this verdict.
inline std::string DetailOf(const Evaluation& evaluation, const std::string& name,
                            CheckVerdict verdict) {
  for (const Check& check : evaluation.checks) {
    if (check.name == name && check.verdict == verdict) return check.detail;
  }
  return "";
}

}  // namespace pragma::testing
