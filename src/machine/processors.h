// Processors: how many threads a process may keep busy: the affinity mask names the processors, and
// the quota of its control group may allow only a part of their time.
#pragma once

#include <filesystem>
#include <string>

namespace pragma {

struct Processors {
  int allowed = 1;   // in the affinity mask
  double quota = 0;  // processors' worth of time that the control group allows; 0: no limit
  // Returns the number of threads that can run all the time. A thread more would be stopped for a
  // part of each period, in the middle of what is timed.
  [[nodiscard]] int threads() const;
  // Returns "2 processors, of which the quota allows 1.5: 1 thread".
  [[nodiscard]] std::string Text() const;
};

[[nodiscard]] Processors UsableProcessors();

// Returns the smallest quota of this process's control group and those above it, or 0. `membership`
// is /proc/self/cgroup and `root` is /sys/fs/cgroup. Reads both versions: cpu.max, and
// cpu.cfs_quota_us with cpu.cfs_period_us.
[[nodiscard]] double ProcessorQuota(const std::filesystem::path& membership,
                                    const std::filesystem::path& root);

}  // namespace pragma
