// The rest of the fakes for tests of the rules of trust (testing.h): a candidate's calls, the sides
// of a timing session, and an executor that builds nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "harness/timed_process.h"
#include "machine/machine.h"
#include "verify/checked_calls.h"
#include "verify/executor.h"
#include "verify/judging.h"
#include "verify/testing.h"
#include "verify/timed_sides.h"

namespace pragma::testing {

class FakeCalls final : public CheckedCalls {
 public:
  FakeCalls(World& world, const Behaviour& behaviour, Judging& judging)
      : world_(world), behaviour_(behaviour), judging_(judging) {}

  std::vector<std::string> other_threads;

  Result<bool> Start(History history) override {
    world_.events.emplace_back(history == History::kUsed ? "start" : "start a fresh process");
    return Begin(history == History::kUsed ? 0 : 1);
  }
  void Choose(History history) override { chosen_ = history == History::kUsed ? 0 : 1; }
  [[nodiscard]] TimedProcess& process() override { return *processes_.at(chosen_); }
  [[nodiscard]] std::vector<std::string> OtherThreads() const override { return other_threads; }
  Result<bool> StartWith(std::size_t) override {
    world_.events.emplace_back("start with other threads");
    return Begin(2);
  }
  Result<void> BeforeState() override {
    world_.events.emplace_back("look for state");
    return {};
  }
  [[nodiscard]] Seconds StateBudget() const override { return Seconds{1e-4}; }

  Result<bool> Call(std::uint32_t slot) override {
    Nanoseconds elapsed{0};
    const std::vector<std::uint32_t> slots{slot};
    TRY(process().Run(slots, &elapsed));
    return true;
  }
  Result<bool> MeasuredCall(std::uint32_t slot) override {
    Nanoseconds elapsed{0};
    const std::vector<std::uint32_t> slots{slot};
    TRY(process().Run(slots, &elapsed));
    judging_.run_seconds = std::min(judging_.run_seconds, Seconds(elapsed).count());
    judging_.empty_seconds = 0;
    return true;
  }
  Result<bool> CallOnKept(std::uint32_t slot) override { return Call(slot); }
  Result<void> Refill(std::uint32_t) override { return {}; }
  Result<bool> CallMany(std::span<const std::uint32_t> slots) override {
    Nanoseconds elapsed{0};
    TRY(process().Run(slots, &elapsed));
    return true;
  }
  Result<void> Publish(std::uint32_t) override { return {}; }
  Result<std::vector<std::byte>> ReadKept(Kept where) override {
    if (where == Kept::kStacks) return std::vector<std::byte>();
    std::vector<std::byte> kept(sizeof(Memory));
    std::memcpy(kept.data(), &processes_.at(chosen_)->memory, sizeof(Memory));
    return kept;
  }
  Result<bool> WriteKept(Kept, std::span<const std::byte> kept) override {
    std::memcpy(&processes_.at(chosen_)->memory, kept.data(), sizeof(Memory));
    return true;
  }

 private:
  Result<bool> Begin(std::size_t place) {
    processes_[place] = std::make_unique<FakeProcess>(world_, behaviour_, false);
    chosen_ = place;
    const ProcessFailure failure = TRY(processes_[place]->Load());
    if (failure) judging_.Reject(*failure);
    return !failure;
  }

  World& world_;
  const Behaviour& behaviour_;
  Judging& judging_;
  std::map<std::size_t, std::unique_ptr<FakeProcess>> processes_;
  std::size_t chosen_ = 0;
};

class FakeSides final : public TimedSides {
 public:
  // `behaviours` has one for each side.
  FakeSides(World& world, std::vector<Side> sides, std::vector<const Behaviour*> behaviours)
      : world_(world), sides_(std::move(sides)), behaviours_(std::move(behaviours)) {}

  std::map<std::size_t, std::string> left_out;

  [[nodiscard]] const std::vector<Side>& sides() const override { return sides_; }
  [[nodiscard]] std::string LeftOut(std::size_t side) const override {
    const auto found = left_out.find(side);
    return found == left_out.end() ? "" : found->second;
  }
  Result<std::optional<TimingFailure>> StartRound(const TimingPlan&, Rng&) override {
    world_.events.emplace_back("round");
    processes_.clear();
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const CallForm form{.faults = sides_[i].allocator == Allocator::kDefault};
      processes_.push_back(std::make_unique<FakeProcess>(world_, *behaviours_[i], true, form));
      const ProcessFailure failure = TRY(processes_.back()->Load());
      if (failure) return TimingFailure{.side = i, .failure = *failure, .error = {}};
      TRY(processes_.back()->Freeze());
    }
    world_.most_awake = 0;
    return std::optional<TimingFailure>();
  }
  [[nodiscard]] TimedProcess& process(std::size_t side) override { return *processes_[side]; }
  Result<void> EndRound() override {
    processes_.clear();
    return {};
  }

 private:
  World& world_;
  std::vector<Side> sides_;
  std::vector<const Behaviour*> behaviours_;
  std::vector<std::unique_ptr<FakeProcess>> processes_;
};

// Judges one candidate. The fields say how the candidate and its rivals behave, and where.
class FakeExecutor final : public Executor {
 public:
  FakeExecutor() {
    built.kept = {"16 bytes of static data"};
    machine_.threads = 1;
    // A task of 32 bytes is bound to take 32 / (1e9 bytes a second) or 32 ns.
    machine_.bandwidth = {
        {.working_set_bytes = 1U << 20U, .read_gbs = 1, .copy_gbs = 1, .write_gbs = 1}};
    options_.battery_budget = Seconds{0};
    options_.timing_budget = Seconds{0.05};
    eager.seconds = 2e-3;
    best.seconds = 1e-3;
  }

  World world;
  FakeSets own_sets{world};
  Behaviour candidate;
  Behaviour eager;
  Behaviour compile;
  Behaviour best;
  TimingRules own_rules{.processors = {.allowed = 1, .available = 2}};
  BuiltKernel built;
  std::optional<Evaluation> rejection;       // what Build says
  std::optional<Evaluation> best_rejection;  // what BuildBest says
  std::string cannot_time;
  std::string no_compile;     // why torch.compile cannot be timed
  double measured_again = 0;  // bandwidth that MeasureAgain finds; 0: the same
  std::vector<std::string> other_threads;

  [[nodiscard]] VerifyOptions& own_options() { return options_; }
  [[nodiscard]] Machine& own_machine() { return machine_; }
  InputSets& sets() override { return own_sets; }
  [[nodiscard]] const VerifyOptions& options() const override { return options_; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] TimingRules rules() const override { return own_rules; }
  Clock& clock() override { return world.clock; }
  [[nodiscard]] Environment Describe(Language) const override { return {}; }
  [[nodiscard]] std::string CannotTime() const override { return cannot_time; }
  Result<const BuiltKernel*> Build(const Candidate&, Evaluation& evaluation) override {
    world.events.emplace_back(evaluation.seed.empty() ? "build" : "build with a known seed");
    if (!rejection) return &built;
    evaluation = *rejection;
    return nullptr;
  }
  Result<const BuiltKernel*> BuildBest(const Candidate&, Evaluation& rejection_of_best) override {
    if (!best_rejection) return &best_built_;
    rejection_of_best = *best_rejection;
    return nullptr;
  }
  std::unique_ptr<CheckedCalls> Calls(Judging& judging) override {
    auto calls = std::make_unique<FakeCalls>(world, candidate, judging);
    calls->other_threads = other_threads;
    return calls;
  }
  Result<TimedSides*> Sides(const std::vector<Side>& sides) override {
    ++world.sessions;
    std::vector<const Behaviour*> behaviours;
    std::string name = "session:";
    for (const Side& side : sides) {
      behaviours.push_back(BehaviourOf(side.role));
      name += " " + std::string(SideRoleName(side.role));
    }
    world.events.push_back(name);
    FakeSides& made = sides_.emplace_back(world, sides, std::move(behaviours));
    for (std::size_t i = 0; i < sides.size(); ++i) {
      if (sides[i].role != SideRole::kCompile || no_compile.empty()) continue;
      if (!own_rules.on_device) return Fail(no_compile);
      made.left_out[i] = no_compile;
    }
    return &made;
  }
  void EndSession() override {}
  Result<void> Share() override {
    world.events.emplace_back("share");
    return {};
  }
  Result<void> BeAlone(Evaluation&) override {
    world.events.emplace_back("be alone");
    return {};
  }
  void Leave() override { world.events.emplace_back("leave"); }
  Result<void> MeasureAgain() override {
    world.events.emplace_back("measure again");
    if (measured_again > 0) {
      for (Bandwidth& level : machine_.bandwidth) {
        level.read_gbs = level.copy_gbs = level.write_gbs = measured_again;
      }
    }
    return {};
  }
  std::optional<TaskBaseline>& baseline() override { return baseline_; }

 private:
  [[nodiscard]] const Behaviour* BehaviourOf(SideRole role) const {
    switch (role) {
      case SideRole::kCandidate: return &candidate;
      case SideRole::kEager: return &eager;
      case SideRole::kCompile: return &compile;
      case SideRole::kBest: return &best;
    }
    return nullptr;
  }

  VerifyOptions options_;
  Machine machine_;
  BuiltKernel best_built_;
  std::optional<TaskBaseline> baseline_;
  std::list<FakeSides> sides_;
};

}  // namespace pragma::testing
