// The client of `pragma serve`: verdicts from a server, where there is one that judges as we would.
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
  const VerifyFlags& verify;  // complete: what the request leaves open is filled in from it
  Evidence evidence = Evidence::kNo;
  bool must_be_there = false;  // the user named the socket: stderr says when nobody listens
};

// Appends the candidates' verdicts in order to `all`: all of them, none when no server is there, or
// as many as there were before the server was lost; stderr says which. An error is one that the
// evaluation would have here as well, or kInterrupted.
[[nodiscard]] Result<void> AskServer(const ServedEvaluation& wanted, PhaseLine& line,
                                     std::vector<Verdict>& all);

}  // namespace pragma
