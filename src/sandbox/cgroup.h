// Control groups that pragma makes below its own group, where the system permits it (v1 as root, v2
// where it was delegated). They limit what all processes of a jail use together. rlimits apply per
// process, so only jails with several processes ask for a group.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace pragma {

// CgroupPlace: folders in which groups can be made. There is one folder with v2, and one for each
// controller with v1.
struct CgroupPlace {
  int version = 0;  // 1 or 2; 0: no groups can be made
  std::string memory;
  std::string pids;
  [[nodiscard]] bool usable() const { return version != 0; }
};

// Finds the group of this process and tries to make a group below it. kUnavailable says why that
// failed.
[[nodiscard]] Result<CgroupPlace> FindCgroups();

struct CgroupLimits {
  std::size_t memory_bytes = 0;  // 0: no limit, here and below
  int processes = 0;             // counts threads too
};

// Cgroup: the group of one jail. Its maker must have it removed once it is empty. The jail's guard
// does this, even if pragma has died (worker/jail/guard.h).
class Cgroup final {
 public:
  [[nodiscard]] static Result<Cgroup> Create(const CgroupPlace& place, const CgroupLimits& limits);
  // Adds a process. It takes about 10 ms with v1.
  [[nodiscard]] Result<void> Add(pid_t pid) const;
  void Remove() const;
  [[nodiscard]] const std::vector<std::string>& folders() const { return folders_; }

 private:
  std::vector<std::string> folders_;
};

}  // namespace pragma
