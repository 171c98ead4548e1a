// Instrumented builds: the candidate and a small main program of pragma, linked into an executable
// that runs under a sanitizer, once, on one input set. A report that names the candidate's own
// lines is evidence of a defect. The absence of a report proves nothing about a hostile candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/status.h"
#include "sandbox/jail.h"

namespace pragma {

enum class Sanitizer : std::uint8_t {
  kAddress,  // gcc's address and undefined-behaviour sanitizers
  kMemory,   // valgrind's memcheck: uses of values that were never written
  kThread,   // clang's thread sanitizer with its OpenMP runtime: data races
};
[[nodiscard]] std::string_view SanitizerName(Sanitizer sanitizer);  // "address", "memory", "thread"

struct SanitizerFinding {
  Status status = Status::kCrashed;
  std::string reason;  // what happened, and on which line of kernel.cpp
  std::string log;     // shortened report; untrusted text
};
struct SanitizerOutcome {
  std::string skipped;  // reason why it was not run, or did not end; empty: it ran
  std::optional<SanitizerFinding> finding;
};

// Builds and runs the executable in the build jail, without a limit on the address space.
[[nodiscard]] Result<SanitizerOutcome> RunSanitizer(const Jail& jail, Toolchains& toolchains,
                                                    Sanitizer sanitizer, const Candidate& candidate,
                                                    const std::string& kernel_header,
                                                    const InstrumentedCall& call);

// Returns what a report says, in one line, or nullopt when there is no report. The input is
// untrusted text.
[[nodiscard]] std::optional<SanitizerFinding> ReadReport(Sanitizer sanitizer,
                                                         const std::string& text);

}  // namespace pragma
