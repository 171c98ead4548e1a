// The client of `pragma serve`. It gets verdicts from a server that judges as this process would.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/evaluation_request.h"
#include "cli/judge.h"
#include "cli/phase_line.h"
#include "cli/verify_flags.h"

namespace pragma {

struct ServedEvaluation {
  const Context& context;
  const std::filesystem::path& socket;
  const EvaluationRequest& request;
  const VerifyFlags& verify;  // complete: fills in what the request leaves open
  Evidence evidence = Evidence::kNo;
  bool must_be_there = false;  // the user named the socket: stderr says if no server listens
};

// Appends the candidates' verdicts to `all`, in order. It appends all of them, none if there is no
// server, or those that arrived before the connection to the server was lost. In the last two cases
// stderr says so. An error is one that an evaluation in this process would return as well, or
// kInterrupted.
[[nodiscard]] Result<void> AskServer(const ServedEvaluation& wanted, PhaseLine& line,
                                     std::vector<Verdict>& all);

}  // namespace pragma
