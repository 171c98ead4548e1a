// Clock: the only source of time for the search and the models, so that tests can control it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace pragma {

using Seconds = std::chrono::duration<double>;
using Nanoseconds = std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// Returns the deadline `limit` from now.
[[nodiscard]] inline TimePoint After(Seconds limit) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<Nanoseconds>(limit);
}

[[nodiscard]] inline Seconds Since(TimePoint start) {
  return std::chrono::steady_clock::now() - start;
}

class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the monotonic time (CLOCK_MONOTONIC).
  [[nodiscard]] virtual TimePoint Now() const = 0;
  // Blocks the calling thread. A fake clock advances its own time instead.
  virtual void SleepFor(Seconds duration) = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override;
  void SleepFor(Seconds duration) override;
};

// Returns milliseconds since the Unix epoch, for records that people read. Never used to measure.
[[nodiscard]] std::int64_t UnixMillis();
// Returns "2026-03-01T12:00:00Z" for the given Unix milliseconds.
[[nodiscard]] std::string FormatUtc(std::int64_t unix_millis);

}  // namespace pragma
