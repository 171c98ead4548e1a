// llvm-mca: what a model of the processor's pipeline says about the hot loop, with every load
// hitting L1 and every branch foretold. What the measured loop needs beyond that is memory,
// splits, mispredictions or the front end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "build/toolchain.h"
#include "core/profile.h"
#include "profile/tool_runner.h"

namespace pragma {

// The body of an innermost loop: one block, as the compiler's assembly has it.
struct LoopBody {
  std::vector<std::string> instructions;  // AT&T on x86; a label may come first
  double iterations = 0;                  // of one call of the kernel; 0: not known
  int source_line = 0;                    // of kernel.cpp; 0: not known
};

// The loop as llvm-mca can take it, or why it cannot speak for this one.
struct McaSource {
  std::string text;
  std::string refusal;
};
// Foreign text in; what comes out holds instructions only: no directive, comment or second block.
[[nodiscard]] McaSource PrepareLoop(const LoopBody& loop);

struct McaPressure {
  std::string name;  // of a resource of the model: "Zn4FP1"
  double value = 0;  // share of the cycles, or uses per iteration
};

// One instruction of the simulation's critical sequence.
struct McaStep {
  int index = 0;  // in the loop
  std::string instruction;
  std::string cause;  // "register %zmm1", "memory", "resource Zn4FP1"
};

// What one text report holds. Shares are of all cycles, 0 to 1.
struct McaReport {
  double iterations = 0;
  double cycles = 0;  // of all iterations
  double instructions = 0;
  double block_throughput = 0;  // cycles of one iteration if only ports counted
  double resource_share = 0;
  double register_share = 0;
  double memory_share = 0;           // dependencies through memory
  std::vector<McaPressure> pressed;  // shares by resource, highest first
  std::vector<McaPressure> ports;    // uses per iteration by unit, highest first
  std::vector<McaStep> chain;        // those that wait for another
};
// nullopt when there are no figures. Never throws.
[[nodiscard]] std::optional<McaReport> ReadMca(std::string_view text);

struct McaOutcome {
  ProviderNote note;            // its detail names version and model when it ran
  std::vector<Metric> metrics;  // mca_*, of source static; empty unless it ran
  std::string text;             // one line: what holds the loop back
  McaReport report;
};

// `cpu`: a name llvm-mca knows, or "native". `folders`: where to look for it.
[[nodiscard]] Result<McaOutcome> RunMca(const ToolRunner& run, const LoopBody& loop,
                                        const std::string& cpu = "native",
                                        const std::vector<std::string>& folders = PathFolders());

}  // namespace pragma
