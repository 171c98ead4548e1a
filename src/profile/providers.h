// The providers. Each adds what it can find out to a workpiece, and returns a note about its
// outcome. An Error means that our own machinery failed. They run in the order of this file. Each
// comment says which providers must have run before.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "build/assembly.h"
#include "profile/workpiece.h"

namespace pragma {

// Adds the assembly and the objects made from it.
[[nodiscard]] Result<ProviderNote> AddBuilds(Workpiece& piece);
// Adds wall and processor time, page faults, and each thread's share. Takes the machine's lock.
// Needs builds.
[[nodiscard]] Result<ProviderNote> AddClocks(Workpiece& piece);
// Adds hardware counters, if available. Takes the machine's lock. Needs clocks.
[[nodiscard]] Result<ProviderNote> AddCounters(Workpiece& piece);
// Adds hot blocks and lines. Takes the machine's lock. Needs builds.
[[nodiscard]] Result<ProviderNote> AddSamples(Workpiece& piece);
// Adds the counts of executed instructions. Needs builds.
[[nodiscard]] Result<ProviderNote> AddCounts(Workpiece& piece);
// Adds simulated caches, TLBs and branches. Needs builds and counts.
[[nodiscard]] Result<ProviderNote> AddTrace(Workpiece& piece);
// Adds the compilers' remarks.
[[nodiscard]] Result<ProviderNote> AddRemarks(Workpiece& piece);
// Adds llvm-mca's analysis of the hottest innermost loop. Needs samples, counts and clocks.
[[nodiscard]] Result<ProviderNote> AddHotLoop(Workpiece& piece);
// Adds the shares of this machine's peak performance. Needs clocks or a measured time.
[[nodiscard]] Result<ProviderNote> AddRoofline(Workpiece& piece);

// Runs the external profilers that were requested by name. A metric that is already known is kept.
[[nodiscard]] Result<void> AddForeignTools(Workpiece& piece);

// Returns the innermost loop with the most samples (or the most instructions, if nothing was
// sampled), or nullptr if there is none.
[[nodiscard]] const Loop* HottestLoop(const std::vector<Loop>& loops, const Workpiece& piece);

}  // namespace pragma
