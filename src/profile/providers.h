// The providers: each adds to a workpiece what it can find out, and a note of what became of it. An
// Error is our own trouble only. They run in the order of this file; each says what it needs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "build/assembly.h"
#include "profile/workpiece.h"

namespace pragma {

// Assembly and the objects made from it.
[[nodiscard]] Result<ProviderNote> AddBuilds(Workpiece& piece);
// Wall and processor time, faults, each thread's share. Takes the machine's lock. Needs builds.
[[nodiscard]] Result<ProviderNote> AddClocks(Workpiece& piece);
// Hardware counters, where there are any. Takes the machine's lock. Needs clocks.
[[nodiscard]] Result<ProviderNote> AddCounters(Workpiece& piece);
// Hot blocks and lines. Takes the machine's lock. Needs builds.
[[nodiscard]] Result<ProviderNote> AddSamples(Workpiece& piece);
// What was executed. Needs builds.
[[nodiscard]] Result<ProviderNote> AddCounts(Workpiece& piece);
// Caches, TLBs and branches, simulated. Needs builds and counts.
[[nodiscard]] Result<ProviderNote> AddTrace(Workpiece& piece);
// The compilers' reasons.
[[nodiscard]] Result<ProviderNote> AddRemarks(Workpiece& piece);
// llvm-mca on the hottest innermost loop. Needs samples, counts and clocks.
[[nodiscard]] Result<ProviderNote> AddHotLoop(Workpiece& piece);
// Shares of what this machine can do. Needs clocks or a measured time.
[[nodiscard]] Result<ProviderNote> AddRoofline(Workpiece& piece);

// Profilers of others that were asked for by name. A metric that is known already stays as it is.
[[nodiscard]] Result<void> AddForeignTools(Workpiece& piece);

// The innermost loop with most samples (with instructions, when nothing was sampled); nullptr:
// none.
[[nodiscard]] const Loop* HottestLoop(const std::vector<Loop>& loops, const Workpiece& piece);

}  // namespace pragma
