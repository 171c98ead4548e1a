// Remarks: the compilers' own reasons for what they did with a line of the kernel. "Vectorised"
// only says that vector code exists, not that it runs. The execution counts decide that.
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
  int line = 0;      // line of kernel.cpp
  std::string pass;  // "loop-vectorize", "regalloc", "licm", "inline", "loop-unroll"
  std::string kind;  // missed, passed, analysis
  std::string text;
  std::string compiler;  // "g++" or "clang++"
};

// These functions read g++'s -fopt-info-vec-missed-optimized and clang's optimization record, which
// are untrusted text. They return the remarks about kernel.cpp, each once, without uninformative
// ones. They never throw.
[[nodiscard]] std::vector<Remark> ReadGccRemarks(std::string_view text);
[[nodiscard]] std::vector<Remark> ReadClangRemarks(std::string_view yaml);

// Returns the first line of the innermost source loop that contains `line`, or 0 if there is none.
[[nodiscard]] int LoopLine(const std::string& source, int line);
// Returns one short text about a line and the loop that begins at `loop_line` (0: none): clang's
// reason, whether g++ agrees, and what the loop spills. The text is empty if nothing is known.
[[nodiscard]] std::string ReasonFor(const std::vector<Remark>& remarks, int line,
                                    int loop_line = 0);

struct RemarkOutcome {
  ProviderNote note;
  std::vector<Remark> remarks;  // sorted by line
};

// Both compilers, as found. A missing one is mentioned in the note.
struct RemarkCompilers {
  Toolchain gcc;
  Toolchain clang;
};

// Clang is run even if g++ builds the kernel (without the flags that clang does not know), because
// it explains better. g++ is run only if it builds the kernel, because then its remarks describe
// what really happened. They run at the same time, so `run` is called from two threads.
[[nodiscard]] Result<RemarkOutcome> RunRemarks(const ToolRunner& run,
                                               const RemarkCompilers& compilers,
                                               const Candidate& candidate,
                                               const std::string& kernel_header);

}  // namespace pragma
