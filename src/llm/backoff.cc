#include "llm/backoff.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"

namespace pragma {
namespace {

constexpr Seconds kFirst{1};
constexpr Seconds kLongest{60};
constexpr Seconds kPiece{0.2};

}  // namespace

Seconds Backoff::Delay(int retry, std::optional<Seconds> retry_after) {
  const double jitter = rng_.Uniform();
  if (retry_after) return *retry_after + kFirst * (0.5 * jitter);
  const Seconds full = std::min(kLongest, kFirst * std::exp2(std::min(retry, 30)));
  return full * (0.5 + 0.5 * jitter);
}

Result<void> SleepUnlessInterrupted(Clock& clock, Seconds duration) {
  const TimePoint end = clock.Now() + std::chrono::duration_cast<TimePoint::duration>(duration);
  while (true) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while waiting");
    const Seconds left = end - clock.Now();
    if (left.count() <= 0) return {};
    clock.SleepFor(std::min(left, kPiece));
  }
}

}  // namespace pragma
