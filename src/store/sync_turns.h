// SyncTurns: decides which trials' commits wait for the disk. Private to store/.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "store/database.h"

namespace pragma {

// A trial's commit waits for the disk unless another one waited within the last second. A power
// failure therefore loses only what was committed within one second (docs/store.md).
class SyncTurns final {
 public:
  [[nodiscard]] Commits Next(TimePoint now) {
    if (synced_ && now - *synced_ < std::chrono::seconds(1)) return Commits::kUnsynced;
    synced_ = now;
    return Commits::kSynced;
  }

 private:
  std::optional<TimePoint> synced_;
};

}  // namespace pragma
