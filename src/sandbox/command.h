// The command lines of a jail, for bwrap and for pragma-init. These functions are pure, so that
// tests can read the result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/jail.h"

namespace pragma {

inline constexpr const char* kInitInside = "/.pragma-init";

// JailTraits: what Jail found out about this machine.
struct JailTraits {
  std::string bwrap;
  std::string init;  // path of pragma-init outside the jail
  bool user_namespace = true;
  std::uint32_t uid = 0;             // user that the program runs as; 0: no change
  std::vector<std::string> cgroups;  // folders that the guard removes at the end
  std::vector<std::string> scratch;  // folders of files that the guard removes at the end
  JailKind kind = JailKind::kFull;
  int landlock = 0;  // its version; 0: the kernel has none. Only the reduced jail uses it
};

// Returns "pragma-init --guard bwrap ... pragma-init ... -- program".
[[nodiscard]] std::vector<std::string> JailCommand(const JailSpec& spec, const JailTraits& traits);
// Returns "pragma-init --guard pragma-init ... -- program", for jails without namespaces. Nothing
// is bound, so inside paths (in argv, environment and cwd) are replaced by the outside paths that
// the binds name. The reduced jail allows access to these only.
[[nodiscard]] std::vector<std::string> PlainCommand(const JailSpec& spec, const JailTraits& traits);

}  // namespace pragma
