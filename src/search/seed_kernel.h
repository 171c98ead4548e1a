// SeedKernel: a kernel with which a run starts, before any author is asked.
#pragma once

#include <string>

#include "core/candidate.h"

namespace pragma {

struct SeedKernel {
  Candidate candidate;
  std::string author;  // "expert", "run r-..."
};

}  // namespace pragma
