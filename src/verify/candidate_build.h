// A candidate made ready to run, and what is said of where it runs. Private to verify/.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/options.h"

namespace pragma {

// Borrowed.
struct BuildParts {
  const TorchServer& server;
  const Builder& builder;
  const Jail& jail;
  const std::string& header;  // kernel.h, of the candidate's language
};

// nullopt when the candidate was turned away (the evaluation says why).
[[nodiscard]] Result<std::optional<BuiltKernel>> BuildCandidate(const BuildParts& parts,
                                                                const Candidate& candidate,
                                                                Evaluation& evaluation);

[[nodiscard]] Environment DescribeEnvironment(const Jail& jail, const TorchServer& server,
                                              const Machine& machine, const VerifyOptions& options);

}  // namespace pragma
