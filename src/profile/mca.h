// llvm-mca: what a model of the processor's pipeline says about the hot loop, assuming that every
// load hits L1 and every branch is predicted correctly. The time that the measured loop needs
// beyond that is due to memory, splits, mispredictions or the front end.
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

// The body of an innermost loop: one basic block, as in the compiler's assembly.
struct LoopBody {
  std::vector<std::string> instructions;  // AT&T syntax on x86; a label may come first
  double iterations = 0;                  // per call of the kernel; 0: not known
  int source_line = 0;                    // line of kernel.cpp; 0: not known
};

// The loop in the form that llvm-mca accepts, or the reason why llvm-mca cannot model it.
struct McaSource {
  std::string text;
  std::string refusal;
};
// Turns untrusted text into instructions only: no directive, comment or second block remains.
[[nodiscard]] McaSource PrepareLoop(const LoopBody& loop);

struct McaPressure {
  std::string name;  // resource of the model, such as "Zn4FP1"
  double value = 0;  // share of the cycles, or uses per iteration
};

// One instruction of the simulation's critical sequence.
struct McaStep {
  int index = 0;  // position in the loop
  std::string instruction;
  std::string cause;  // "register %zmm1", "memory", "resource Zn4FP1"
};

// The contents of one text report. Shares are fractions of all cycles, 0 to 1.
struct McaReport {
  double iterations = 0;
  double cycles = 0;  // for all iterations
  double instructions = 0;
  double block_throughput = 0;  // cycles per iteration if only the ports limited it
  double resource_share = 0;
  double register_share = 0;
  double memory_share = 0;           // dependencies through memory
  std::vector<McaPressure> pressed;  // shares by resource, highest first
  std::vector<McaPressure> ports;    // uses per iteration by unit, highest first
  std::vector<McaStep> chain;        // instructions that wait for another one
};
// Parses a report. Returns nullopt if it has no figures. Never throws.
[[nodiscard]] std::optional<McaReport> ReadMca(std::string_view text);

struct McaOutcome {
  ProviderNote note;            // when it ran, the detail names version and model
  std::vector<Metric> metrics;  // mca_* metrics of source "static"; empty unless it ran
  std::string text;             // one line: what limits the loop
  McaReport report;
};

// `cpu` is a name that llvm-mca knows, or "native". `folders` are the folders to search for
// llvm-mca.
[[nodiscard]] Result<McaOutcome> RunMca(const ToolRunner& run, const LoopBody& loop,
                                        const std::string& cpu = "native",
                                        const std::vector<std::string>& folders = PathFolders());

}  // namespace pragma
