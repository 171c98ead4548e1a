// Robots: what a site's robots.txt lets us read, and how fast.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace pragma {

struct RobotRule {
  std::string path;  // "*" stands for anything, a "$" at the end for the end
  bool allow = false;
};

struct Robots {
  std::vector<RobotRule> rules;  // of the group for "pragma", else of that for everybody
  std::optional<Seconds> delay;  // Crawl-delay
  // The longest rule that fits decides, allowing when two are as long; none: allowed (RFC 9309).
  [[nodiscard]] bool Allows(std::string_view path) const;
};

// Any bytes are accepted; what is no rule is passed over.
[[nodiscard]] Robots ParseRobots(std::string_view text);

}  // namespace pragma
