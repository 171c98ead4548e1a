// Rewrites a kernel so that it reports every memory access, and every conditional branch with its
// outcome, before it happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "build/assembly.h"
#include "build/memory_access.h"

namespace pragma {

// TraceSite: an instruction whose accesses are reported. Its index is the site number.
struct TraceSite {
  std::size_t instruction = 0;
  int source_line = 0;
  std::uint16_t bytes = 0;
  AccessKind kind = AccessKind::kLoad;
  bool non_temporal = false;
};

// TraceBranch: a conditional jump. Its index is the branch number.
struct TraceBranch {
  std::size_t instruction = 0;
  int source_line = 0;
};

struct TraceProgram {
  std::string text;
  std::vector<TraceSite> sites;
  std::vector<TraceBranch> branches;
  // Instructions that access memory and are not reported: gathers and scatters, string
  // instructions, thread-local and other special addresses. Push, pop, call and ret are not
  // reported either, and are not listed here.
  std::vector<std::size_t> not_covered;
};

// Symbols that the shared object exports. The first two are variables that hold the address of a
// function. The host sets them after dlopen. Nothing is reported before that:
//   void (*pragma_trace_access)(uint64_t address, uint32_t site);
//   void (*pragma_trace_branch)(uint32_t branch, int taken);
// The functions run on the kernel's stack while its vector and x87 registers are live, so nothing
// that they call may touch those. The table of sites has one trace_site of
// worker/profiler/trace_model.h for each site.
inline constexpr const char* kTraceAccessSymbol = "pragma_trace_access";
inline constexpr const char* kTraceBranchSymbol = "pragma_trace_branch";
inline constexpr const char* kTraceSitesSymbol = "pragma_trace_sites";
inline constexpr const char* kTraceSiteCountSymbol = "pragma_trace_site_count";      // uint64_t
inline constexpr const char* kTraceBranchCountSymbol = "pragma_trace_branch_count";  // uint64_t

[[nodiscard]] TraceProgram InsertTraceCalls(const Assembly& assembly);

}  // namespace pragma
