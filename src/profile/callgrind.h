// Callgrind: a second opinion, on request, about misses and branches: valgrind counts one warm call
// of the kernel on one thread, in a build with AVX2 and without FMA (it knows no AVX-512 and
// emulates FMA lane by lane, with wrong counts of loads).
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
  double branches = 0;            // Bc: conditional
  double branch_mispredicts = 0;  // Bcm
  [[nodiscard]] double l1_misses() const { return l1_load_misses + l1_store_misses; }
  [[nodiscard]] double last_misses() const { return last_load_misses + last_store_misses; }
};

struct CallgrindLine {
  int line = 0;  // of kernel.cpp
  CallgrindCounts self;
  double called_instructions = 0;  // of the functions that the line calls, with theirs
};

struct CallgrindReport {
  CallgrindCounts total;             // of the collected call, libraries too
  std::vector<CallgrindLine> lines;  // hottest first, by a rough count of cycles
};
// The file that callgrind writes, with --compress-pos=no --compress-strings=no. nullopt when it has
// no summary. Never throws.
[[nodiscard]] std::optional<CallgrindReport> ReadCallgrind(std::string_view text);

struct CallgrindOutcome {
  ProviderNote note;
  CallgrindReport second;                // the last level modelled as this machine's L2
  std::optional<CallgrindReport> third;  // as its L3, where it has one
  // l1_misses, l2_misses, l3_misses, branch_mispredicts, mispredict_share; of source simulated.
  std::vector<Metric> metrics;
  std::string text;  // one line: counts and the hottest lines
};

struct CallgrindParts {
  const Jail& jail;
  Toolchains& toolchains;
  const std::string& kernel_header;
  CacheShapes caches = ReadCacheShapes();
  std::vector<std::string> folders = PathFolders();  // where valgrind is looked for
};

// `call`: as for the sanitizers; its limit holds for each of the two runs.
[[nodiscard]] Result<CallgrindOutcome> RunCallgrind(const CallgrindParts& parts,
                                                    const Candidate& candidate,
                                                    const InstrumentedCall& call);
// The author's flags without what valgrind cannot take. Exposed for its test.
[[nodiscard]] std::vector<std::string> CallgrindFlags(const std::vector<std::string>& flags);

}  // namespace pragma
