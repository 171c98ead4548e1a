// The timing of a candidate for a GPU that was found right: against eager, torch.compile and the
// present best in one session.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"
#include "verify/device_check.h"
#include "verify/device_side.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// Makes the sides of a session: the candidate first, then eager, then the others.
using MakeSides = std::function<Result<std::vector<DeviceSide>>()>;

// Times the candidate. Fills in times, ratios and bound, or the rejection.
[[nodiscard]] Result<void> TimeOnDevice(const DeviceParts& parts, Judging& judging,
                                        const MakeSides& make_sides,
                                        const VerifyProgress& progress);

}  // namespace pragma
