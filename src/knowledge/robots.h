// Robots: which pages a site's robots.txt lets us read, and how fast.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace pragma {

struct RobotRule {
  std::string path;  // "*" matches anything, a "$" at the end matches the end
  bool allow = false;
};

struct Robots {
  std::vector<RobotRule> rules;  // of the group for "pragma", else of the group for all robots
  std::optional<Seconds> delay;  // value of Crawl-delay
  // The longest matching rule decides. If two have the same length, the allowing one wins. If none
  // matches, the path is allowed (RFC 9309).
  [[nodiscard]] bool Allows(std::string_view path) const;
};

// Any bytes are accepted. Lines that are not rules are skipped.
[[nodiscard]] Robots ParseRobots(std::string_view text);

}  // namespace pragma
