// The command lines of a jail: bwrap's and our init's. Pure, so that tests can read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/jail.h"

namespace pragma {

inline constexpr const char* kInitInside = "/.pragma-init";

// What Jail found out about this machine.
struct JailTraits {
  std::string bwrap;
  std::string init;  // path of pragma-init out here
  bool user_namespace = true;
  std::uint32_t uid = 0;             // user the program becomes; 0: nothing to change
  std::vector<std::string> cgroups;  // folders that the guard removes at the end
};

// pragma-init --guard bwrap ... pragma-init ... -- program.
[[nodiscard]] std::vector<std::string> JailCommand(const JailSpec& spec, const JailTraits& traits);
// pragma-init --guard pragma-init ... -- program, for --unsafe-no-sandbox: nothing is bound, so
// paths inside (in argv, environment and cwd) are replaced by the paths out here that the binds
// name.
[[nodiscard]] std::vector<std::string> UnjailedCommand(const JailSpec& spec,
                                                       const JailTraits& traits);

}  // namespace pragma
