// DeviceSides: the sides of one timing session on a device. All processes are made ready in
// parallel before the first round (device_side.h); a round uses one of each side.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "harness/timed_process.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"

namespace pragma {

struct Judging;

class DeviceSides final : public TimedSides {
 public:
  // `parts` has the processes of each of `sides`, in the same order.
  DeviceSides(DeviceStage& stage, std::vector<Side> sides, std::vector<DeviceSide> parts)
      : stage_(stage),
        sides_(std::move(sides)),
        parts_(std::move(parts)),
        left_out_(sides_.size()) {}

  [[nodiscard]] const std::vector<Side>& sides() const override { return sides_; }
  [[nodiscard]] Result<std::optional<TimingFailure>> BecomeReady(Judging& judging) override;
  [[nodiscard]] std::string LeftOut(std::size_t side) const override { return left_out_[side]; }
  [[nodiscard]] Result<std::optional<TimingFailure>> StartRound(const TimingPlan& plan,
                                                                Rng& rng) override;
  [[nodiscard]] TimedProcess& process(std::size_t side) override {
    return *parts_[side].processes()[round_ - 1];
  }
  [[nodiscard]] Result<void> EndRound() override;

 private:
  [[nodiscard]] Result<std::optional<TimingFailure>> AwaitAll();
  [[nodiscard]] Result<std::optional<TimingFailure>> FirstCalls(Rng& rng);

  DeviceStage& stage_;
  std::vector<Side> sides_;
  std::vector<DeviceSide> parts_;
  std::vector<std::string> left_out_;  // by side: why it is not timed; empty: it is
  std::size_t round_ = 0;              // number of the present round, from 1
};

}  // namespace pragma
