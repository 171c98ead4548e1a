// ProfileKernel: a verified kernel to a Profile, from every source this machine has, and what it
// means.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "core/profile.h"
#include "profile/rules.h"
#include "profile/subject.h"

namespace pragma {

using ProfileProgress = std::function<void(std::string_view phase)>;  // "profile: samples"

// A source that is missing or refused is a note in the profile. No time in it is of an instrumented
// run. Interrupt: kInterrupted.
[[nodiscard]] Result<Profile> ProfileKernel(const ProfileSubject& subject, const RuleSet& rules,
                                            const ProfileProgress& progress = {});

}  // namespace pragma
