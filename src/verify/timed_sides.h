// TimedSides: the sides of one timing session and their processes. HostSides implements it for
// processors, DeviceSides for a GPU, where processes take seconds to become ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "harness/timed_process.h"
#include "task/torch_server.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

struct Judging;

// What a side is in a comparison. On a device the value is also the number of its area, except that
// the two Torch sides share one (task/referee.h).
enum class SideRole : std::uint8_t { kCandidate, kEager, kCompile, kBest };
[[nodiscard]] constexpr std::string_view SideRoleName(SideRole role) {
  switch (role) {
    case SideRole::kCandidate: return "candidate";
    case SideRole::kEager: return "eager";
    case SideRole::kCompile: return "compile";
    case SideRole::kBest: return "best";
  }
  return "?";
}

// One thing that is timed: a built candidate, or Torch.
struct Side {
  SideRole role = SideRole::kCandidate;
  const BuiltKernel* kernel = nullptr;  // nullptr: Torch
  Allocator allocator = Allocator::kDefault;
  bool as_call = false;  // calls as a user makes them (WorkerOptions::as_call)
  [[nodiscard]] bool is_torch() const { return kernel == nullptr; }
  [[nodiscard]] bool prepares() const { return kernel != nullptr && kernel->has_prepare; }
};

class TimedSides {
 public:
  TimedSides() = default;
  TimedSides(const TimedSides&) = delete;
  TimedSides& operator=(const TimedSides&) = delete;
  virtual ~TimedSides() = default;

  [[nodiscard]] virtual const std::vector<Side>& sides() const = 0;
  // Makes ready what can be ready before the machine is taken for timing. Call it once. Returns the
  // failure of a candidate.
  [[nodiscard]] virtual Result<std::optional<TimingFailure>> BecomeReady(Judging& /*judging*/) {
    return std::optional<TimingFailure>();
  }
  // Why a side is not timed, once the sides are ready. Empty: it is timed.
  [[nodiscard]] virtual std::string LeftOut(std::size_t /*side*/) const { return {}; }
  // Provides processes for a round that made no timed call yet. Afterwards they are loaded, have
  // made a call and are frozen. Returns the failure of a candidate.
  [[nodiscard]] virtual Result<std::optional<TimingFailure>> StartRound(const TimingPlan& plan,
                                                                        Rng& rng) = 0;
  // Returns a side's process of this round.
  [[nodiscard]] virtual TimedProcess& process(std::size_t side) = 0;
  [[nodiscard]] virtual Result<void> EndRound() = 0;
};

}  // namespace pragma
