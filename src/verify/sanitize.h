// Runs sanitizers on a candidate that is about to become the best. They look for reads and writes
// out of bounds, undefined behaviour, uninitialised values and data races (docs/trust.md).
#pragma once

#include <string>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/options.h"

namespace pragma {

struct Evaluation;

struct SanitizeParts {
  TorchServer& server;
  const Jail& jail;
  const std::string& kernel_header;
  int threads = 1;
};

// Calls the kernel once on a drawn input set under each sanitizer that is available here, and adds
// a check for each. A report turns the evaluation into a rejection. Checks that could not be run
// are reported as such. Does nothing for a Python candidate. `kernel` must have been built from
// `candidate`.
[[nodiscard]] Result<void> SanitizeKernel(const SanitizeParts& parts, const Candidate& candidate,
                                          const BuiltKernel& kernel, Evaluation& evaluation,
                                          const VerifyProgress& progress);

}  // namespace pragma
