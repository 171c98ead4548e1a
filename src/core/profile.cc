#include "core/profile.h"

#include <algorithm>
#include <string_view>

namespace pragma {

const Metric* Profile::Find(std::string_view tag) const {
  const auto found = std::ranges::find(metrics, tag, &Metric::tag);
  return found == metrics.end() ? nullptr : &*found;
}

}  // namespace pragma
