// Check: one of the checks that a candidate went through, and what came of it.
#pragma once

#include <string>

namespace pragma {

struct Check {
  std::string name;     // "flags", "build", "values", "guards", "timed_outputs", ...
  std::string verdict;  // "pass", "fail", "skipped", "note"
  std::string detail;
};

}  // namespace pragma
