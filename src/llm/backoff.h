// Backoff: how long to wait before the next try, and a wait that Ctrl-C ends.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace pragma {

class Backoff final {
 public:
  explicit Backoff(const Seed& seed) : rng_(seed) {}
  // Returns the delay before retry `retry` (0, 1, ...). It doubles from one second up to one
  // minute. A random part, up to half of it, is taken off, so that many programs do not return at
  // the same time. If the service asked for a delay, the result is that delay plus a little of the
  // same jitter.
  [[nodiscard]] Seconds Delay(int retry, std::optional<Seconds> retry_after);

 private:
  Rng rng_;
};

// Sleeps in short pieces. Fails with kInterrupted when the user asks to stop.
[[nodiscard]] Result<void> SleepUnlessInterrupted(Clock& clock, Seconds duration);

}  // namespace pragma
