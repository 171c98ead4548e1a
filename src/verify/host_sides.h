// HostSides: the processes of a timing session on the processors. Each round starts new ones.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "harness/timed_process.h"
#include "verify/host_calls.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"

namespace pragma {

class HostSides final : public TimedSides {
 public:
  // Everything that `parts` and the sides refer to must outlive the object.
  HostSides(const HostParts& parts, std::vector<Side> sides)
      : parts_(parts), sides_(std::move(sides)) {}

  [[nodiscard]] const std::vector<Side>& sides() const override { return sides_; }
  [[nodiscard]] Result<std::optional<TimingFailure>> StartRound(const TimingPlan& plan,
                                                                Rng& rng) override;
  [[nodiscard]] TimedProcess& process(std::size_t side) override { return *processes_[side]; }
  [[nodiscard]] Result<void> EndRound() override {
    processes_.clear();
    return {};
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<TimedProcess>> Start(const Side& side,
                                                            const TimingPlan& plan);
  [[nodiscard]] Result<ProcessFailure> MakeReady(std::size_t index, const TimingPlan& plan,
                                                 Rng& rng);
  [[nodiscard]] Result<ProcessFailure> FirstCalls(std::size_t index,
                                                  std::span<const std::uint32_t> sets);

  HostParts parts_;
  std::vector<Side> sides_;
  std::vector<std::unique_ptr<TimedProcess>> processes_;
};

}  // namespace pragma
