// Instrumented builds: the candidate and a small main program of ours as an executable that a
// sanitizer watches, run once on one input set. A report that names the candidate's own lines is
// evidence of a defect; the absence of one proves nothing against a hostile candidate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "sandbox/jail.h"

namespace pragma {

enum class Sanitizer : std::uint8_t {
  kAddress,  // gcc's address and undefined behaviour sanitizers
  kMemory,   // valgrind's memcheck: uses of values that were never written
  kThread,   // clang's thread sanitizer with its OpenMP runtime: data races
};
[[nodiscard]] std::string_view SanitizerName(Sanitizer sanitizer);  // "address", "memory", "thread"

struct SanitizerFinding {
  Status status = Status::kCrashed;
  std::string reason;  // what, and on which line of kernel.cpp
  std::string log;     // the report, shortened; foreign text
};
struct SanitizerOutcome {
  std::string skipped;  // why it was not run, or did not end; empty: it ran
  std::optional<SanitizerFinding> finding;
};

// Builds and runs in the build jail, without a limit on the address space.
[[nodiscard]] Result<SanitizerOutcome> RunSanitizer(const Jail& jail, Toolchains& toolchains,
                                                    Sanitizer sanitizer, const Candidate& candidate,
                                                    const std::string& kernel_header,
                                                    const InstrumentedCall& call);

// What a report says, or nullopt when there is none. Foreign text in, one line out.
[[nodiscard]] std::optional<SanitizerFinding> ReadReport(Sanitizer sanitizer,
                                                         const std::string& text);

}  // namespace pragma
