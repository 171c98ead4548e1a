// Instrumented builds: the candidate and a small main program of ours as an executable that a
// sanitizer watches, run once on one input set. A report that names the candidate's own lines is
// evidence of a defect; the absence of one proves nothing against a hostile candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/toolchain.h"
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

// How the kernel is called: sizes in bytes, in the order of the kernel's parameters.
struct InstrumentedCall {
  std::vector<std::size_t> arguments;
  std::vector<std::size_t> argument_offsets;  // in `inputs`
  std::size_t first_parameter = 0;            // index of the first argument pragma_prepare takes
  bool has_dims = false;  // the first argument is the sizes that vary; pragma_prepare takes it too
  std::vector<std::size_t> outputs;
  std::vector<std::string> output_names;  // for reports
  std::size_t scratch_bytes = 0;
  std::size_t packed_bytes = 0;  // with has_prepare
  bool has_prepare = false;
  const SharedMemory* inputs = nullptr;
  int threads = 1;
  Seconds limit{60};  // of the run
};

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

// What the main program says on stderr before it shows an output's values to memcheck.
inline constexpr std::string_view kOutputHeading = "pragma: output ";
// The main program's text. Exposed for its test.
[[nodiscard]] std::string InstrumentedMain(const InstrumentedCall& call);
// What a report says, or nullopt when there is none. Foreign text in, one line out.
[[nodiscard]] std::optional<SanitizerFinding> ReadReport(Sanitizer sanitizer,
                                                         const std::string& text);

}  // namespace pragma
