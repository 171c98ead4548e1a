// Makes a candidate ready to run and describes the environment in which it runs. Private to
// verify/.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/options.h"

namespace pragma {

struct Evaluation;

// All references are borrowed.
struct BuildParts {
  const TorchServer& server;
  const Builder& builder;
  const Jail& jail;
  const std::string& header;  // kernel.h for the candidate's language
};

// Builds the candidate. nullopt means that it was rejected (the evaluation says why).
[[nodiscard]] Result<std::optional<BuiltKernel>> BuildCandidate(const BuildParts& parts,
                                                                const Candidate& candidate,
                                                                Evaluation& evaluation);

[[nodiscard]] Environment DescribeEnvironment(const Jail& jail, const TorchServer& server,
                                              const Machine& machine, const VerifyOptions& options);

}  // namespace pragma
