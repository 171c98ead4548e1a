// Remarks: the compilers' own reasons for what they did with a line of the kernel. "Vectorised"
// only says that vector code exists, not that it runs: the counts decide that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "profile/tool_runner.h"

namespace pragma {

struct Remark {
  int line = 0;      // of kernel.cpp
  std::string pass;  // "loop-vectorize", "regalloc", "licm", "inline", "loop-unroll"
  std::string kind;  // missed, passed, analysis
  std::string text;
  std::string compiler;  // "g++" or "clang++"
};

// g++'s -fopt-info-vec-missed-optimized and clang's optimization record. Foreign text in; remarks
// about kernel.cpp, each once, without what tells a reader nothing. Never throw.
[[nodiscard]] std::vector<Remark> ReadGccRemarks(std::string_view text);
[[nodiscard]] std::vector<Remark> ReadClangRemarks(std::string_view yaml);

// The first line of the innermost loop of the source that holds `line`; 0: in none.
[[nodiscard]] int LoopLine(const std::string& source, int line);
// One short text about a line and the loop that begins at `loop_line` (0: none); empty: nothing is
// known. Clang's reason, whether g++ agrees, and what the loop spills.
[[nodiscard]] std::string ReasonFor(const std::vector<Remark>& remarks, int line,
                                    int loop_line = 0);

struct RemarkOutcome {
  ProviderNote note;
  std::vector<Remark> remarks;  // by line
};

// Both compilers, as found; one that is missing is said in the note.
struct RemarkCompilers {
  Toolchain gcc;
  Toolchain clang;
};

// clang is asked even where g++ builds the kernel (without the flags it does not know), since it
// explains better; g++ only where it builds it, since what it says is what happened.
[[nodiscard]] Result<RemarkOutcome> RunRemarks(const ToolRunner& run,
                                               const RemarkCompilers& compilers,
                                               const Candidate& candidate,
                                               const std::string& kernel_header);

}  // namespace pragma
