// Deadline: when the time that the user gave for a command is over. It stops nothing by itself: the
// parts of the command look at it and become shorter, or are left out, before it has passed.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "base/clock.h"

namespace pragma {

class Deadline final {
 public:
  Deadline() = default;  // no limit
  explicit Deadline(TimePoint end) : end_(end) {}
  // Returns the deadline `limit` from now. 0 or less: there is none.
  [[nodiscard]] static Deadline In(Seconds limit) {
    return limit.count() > 0 ? Deadline(After(limit)) : Deadline();
  }
  // Returns the deadline that is earlier by this time.
  [[nodiscard]] Deadline Before(Seconds time) const {
    return end_ ? Deadline(*end_ - std::chrono::duration_cast<Nanoseconds>(time)) : Deadline();
  }
  // Returns the deadline after a part of the time that is left.
  [[nodiscard]] Deadline Part(double part) const {
    return end_ ? Deadline(After(Left() * part)) : Deadline();
  }
  // Returns the deadline, or one this long from now if that is later.
  [[nodiscard]] Deadline AtLeast(Seconds time) const {
    return end_ && Left() < time ? In(time) : *this;
  }

  [[nodiscard]] bool given() const { return end_.has_value(); }
  [[nodiscard]] const std::optional<TimePoint>& end() const { return end_; }
  // Returns the time that is left: infinite without a limit, never below 0.
  [[nodiscard]] Seconds Left(TimePoint now = std::chrono::steady_clock::now()) const {
    if (!end_) return Seconds{std::numeric_limits<double>::infinity()};
    return std::max(Seconds{*end_ - now}, Seconds{0});
  }

 private:
  std::optional<TimePoint> end_;
};

}  // namespace pragma
