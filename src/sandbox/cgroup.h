// Control groups of our own below the one we run in, where the system lets us make them (v1 as
// root, v2 where it was delegated): what all processes of a jail may use together. rlimits hold per
// process, so only jails with several processes ask for one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace pragma {

// Folders in which groups can be made: one with v2, one for each controller with v1.
struct CgroupPlace {
  int version = 0;  // 1 or 2; 0: none
  std::string memory;
  std::string pids;
  [[nodiscard]] bool usable() const { return version != 0; }
};

// Looks where this process stands and tries to make a group there. kUnavailable: why not.
[[nodiscard]] Result<CgroupPlace> FindCgroups();

struct CgroupLimits {
  std::size_t memory_bytes = 0;  // 0: no limit; likewise below
  int processes = 0;             // threads too
};

// The group of one jail. Whoever made it has it removed once it is empty: the jail's guard does so,
// also when we are gone (worker/jail/guard.h).
class Cgroup final {
 public:
  [[nodiscard]] static Result<Cgroup> Create(const CgroupPlace& place, const CgroupLimits& limits);
  // Takes some 10 ms with v1.
  [[nodiscard]] Result<void> Add(pid_t pid) const;
  void Remove() const;
  [[nodiscard]] const std::vector<std::string>& folders() const { return folders_; }

 private:
  std::vector<std::string> folders_;
};

}  // namespace pragma
