// Backoff: how long to wait before the next try, and waiting that Ctrl-C ends.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace pragma {

class Backoff final {
 public:
  explicit Backoff(const Seed& seed) : rng_(seed) {}
  // Before retry `retry` (0, 1, ...): doubling from one second to one minute, of which a random
  // half is taken off so that many programs do not return at once; or what the service asked for,
  // plus a little of the same jitter.
  [[nodiscard]] Seconds Delay(int retry, std::optional<Seconds> retry_after);

 private:
  Rng rng_;
};

// Sleeps in short pieces; kInterrupted when the user asked to stop.
[[nodiscard]] Result<void> SleepUnlessInterrupted(Clock& clock, Seconds duration);

}  // namespace pragma
