// Stops the loader from running a candidate's constructors. Their tags in the dynamic section get
// values that only pragma's worker knows. The worker calls the constructors once its last filter is
// installed (worker/load/deferred_tag.h).
#pragma once

#include <string>

#include "base/result.h"

namespace pragma {

// Returns the object with changed tags. `object` is a linked shared object. Tags that are already
// changed are left as they are.
[[nodiscard]] Result<std::string> DeferInitializers(std::string object);

}  // namespace pragma
