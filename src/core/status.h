// Status: the verdict on a candidate in one word.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pragma {

enum class Status : std::uint8_t {
  kPassed,
  kRejectedSource,  // a flag, file or symbol is not allowed
  kCompileError,
  kLoadError,
  kCrashed,
  kTimeout,
  kOutOfMemory,
  kSandboxViolation,
  kWrongShape,
  kWrongValues,
  kNondeterministic,
  kImplausible,  // faster than the machine allows, or a timed output was wrong
  kUnsupported,  // the author gave up on this operator
  kTaskError,    // the reference itself fails
};
[[nodiscard]] std::string_view StatusName(Status status);  // "passed", "rejected_source", ...
[[nodiscard]] std::optional<Status> StatusFromName(std::string_view name);

}  // namespace pragma
