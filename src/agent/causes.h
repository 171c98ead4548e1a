// Cause: what a performance engineer would check first after a failure. Private to agent/.
#pragma once

#include <span>
#include <string_view>

#include "core/status.h"

namespace pragma {

// A likely cause of a failure with this status. `needle` is matched in lower case against the
// reason, the failed checks, the diagnostics and the log. A cause with an empty needle applies to
// every failure with its status.
struct Cause {
  Status status;
  std::string_view needle;
  std::string_view text;
};

// These causes appear in more than one table.
inline constexpr Cause kFirstErrorFirst{
    Status::kCompileError, "",
    "Repair the first error first, at the line shown; later ones often follow from it. Change "
    "nothing else."};
inline constexpr Cause kFlagNotAllowed{
    Status::kRejectedSource, "flag",
    "A compile flag is outside the allow-list: use only the forms listed under Rules."};
inline constexpr Cause kFasterThanMemory{
    Status::kImplausible, "",
    "Faster than the memory can be: work is skipped, or results come from an earlier call. Every "
    "call has new inputs and parameters."};

// The causes that hold for every language that runs on a GPU, and those of a single language.
[[nodiscard]] std::span<const Cause> GpuCauses();
[[nodiscard]] std::span<const Cause> CudaCauses();
[[nodiscard]] std::span<const Cause> TritonCauses();

}  // namespace pragma
