// Cause: what a performance engineer would look at first after a failure. Private to agent/.
#pragma once

#include <span>
#include <string_view>

#include "core/evaluation.h"

namespace pragma {

// The needle is matched against reason, failed checks, diagnostics and log, in lower case; a cause
// without one speaks for its status.
struct Cause {
  Status status;
  std::string_view needle;
  std::string_view text;
};

// Said in more than one table.
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

// Of what holds in every language that runs on a GPU, and of one language alone.
[[nodiscard]] std::span<const Cause> GpuCauses();
[[nodiscard]] std::span<const Cause> CudaCauses();
[[nodiscard]] std::span<const Cause> TritonCauses();

}  // namespace pragma
