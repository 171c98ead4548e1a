// Callgrind: an optional second opinion about misses and branches. Valgrind counts one warm call of
// the kernel on one thread, in a build with AVX2 and without FMA. (Valgrind does not know AVX-512,
// and it emulates FMA lane by lane, with wrong counts of loads.)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "profile/cache_shape.h"
#include "sandbox/jail.h"

namespace pragma {

struct CallgrindCounts {
  double instructions = 0;        // Ir
  double loads = 0;               // Dr
  double stores = 0;              // Dw
  double l1_load_misses = 0;      // D1mr
  double l1_store_misses = 0;     // D1mw
  double last_load_misses = 0;    // DLmr
  double last_store_misses = 0;   // DLmw
  double branches = 0;            // Bc: conditional branches
  double branch_mispredicts = 0;  // Bcm
  [[nodiscard]] double l1_misses() const { return l1_load_misses + l1_store_misses; }
  [[nodiscard]] double last_misses() const { return last_load_misses + last_store_misses; }
};

struct CallgrindLine {
  int line = 0;  // line of kernel.cpp
  CallgrindCounts self;
  double called_instructions = 0;  // inclusive count of the functions that the line calls
};

struct CallgrindReport {
  CallgrindCounts total;             // the collected call, including libraries
  std::vector<CallgrindLine> lines;  // hottest first, by a rough estimate of cycles
};
// Parses the file that callgrind writes with --compress-pos=no --compress-strings=no. Returns
// nullopt if it has no summary. Never throws.
[[nodiscard]] std::optional<CallgrindReport> ReadCallgrind(std::string_view text);

struct CallgrindOutcome {
  ProviderNote note;
  CallgrindReport second;                // with the last level modelled as this machine's L2
  std::optional<CallgrindReport> third;  // with it modelled as the L3, if there is one
  // l1_misses, l2_misses, l3_misses, branch_mispredicts and mispredict_share, all of source
  // "simulated".
  std::vector<Metric> metrics;
  std::string text;  // one line: counts and the hottest lines
};

struct CallgrindParts {
  const Jail& jail;
  Toolchains& toolchains;
  const std::string& kernel_header;
  CacheShapes caches = ReadCacheShapes();
  std::vector<std::string> folders = PathFolders();  // folders to search for valgrind
};

// `call` is the same as for the sanitizers. Its time limit applies to each of the two runs.
[[nodiscard]] Result<CallgrindOutcome> RunCallgrind(const CallgrindParts& parts,
                                                    const Candidate& candidate,
                                                    const InstrumentedCall& call);
// Returns the author's flags without those that valgrind does not support. Exposed for its test.
[[nodiscard]] std::vector<std::string> CallgrindFlags(const std::vector<std::string>& flags);

}  // namespace pragma
