// Takes a candidate's constructors from the loader: their tags in the dynamic section get values
// that only our worker knows, which calls them once its last filter is installed
// (worker/load/deferred_tag.h).
#pragma once

#include <string>

#include "base/result.h"

namespace pragma {

// `object` is a linked shared object; what was done already is left as it is.
[[nodiscard]] Result<std::string> DeferInitializers(std::string object);

}  // namespace pragma
