// The command-line flags of `pragma bench`.
#pragma once

#include "bench/options.h"
#include "cli/judging_flags.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pragma {

struct BenchFlags {
  BenchOptions options;
  JudgingFlags judging;
};

// The flags must outlive the parsing of the command line.
void AddBenchFlags(CLI::App& command, BenchFlags& flags);

}  // namespace pragma
