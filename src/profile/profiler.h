// ProfileKernel: turns a verified kernel into a Profile, using every source that this machine
// provides, and adds the diagnosis.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"
#include "core/profile.h"
#include "profile/rules.h"
#include "profile/subject.h"

namespace pragma {

using ProfileProgress = std::function<void(std::string_view phase)>;  // "profile: samples"

// A source that is missing or refused becomes a note in the profile. No time in the profile comes
// from an instrumented run. An interrupt returns kInterrupted.
[[nodiscard]] Result<Profile> ProfileKernel(const ProfileSubject& subject, const RuleSet& rules,
                                            const ProfileProgress& progress = {});

}  // namespace pragma
