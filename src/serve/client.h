// The client of `pragma serve`. It gets verdicts from a server that judges as this process would.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/evaluation_request.h"
#include "app/judge.h"
#include "base/result.h"
#include "core/judging.h"
#include "report/phase_line.h"
#include "report/terminal.h"

namespace pragma {

struct ServedEvaluation {
  const AppContext& app;
  const std::filesystem::path& socket;
  const EvaluationRequest& request;
  const JudgingOptions& judging;  // complete: fills in what the request leaves open
  Evidence evidence = Evidence::kNo;
  bool must_be_there = false;  // the user named the socket: a note says if no server listens
  bool unprotected = false;    // candidates are to run without a sandbox
  Terminal terminal;           // what the verdicts' text is written for
  std::function<void(const std::string& line)> note;  // shows a line to the user
};

// Appends the candidates' verdicts to `all`, in order. It appends all of them, none if there is no
// server, or those that arrived before the connection to the server was lost. In the last two cases
// a note says so. An error is one that an evaluation in this process would return as well, or
// kInterrupted.
[[nodiscard]] Result<void> AskServer(const ServedEvaluation& wanted, PhaseLine& line,
                                     std::vector<Verdict>& all);

}  // namespace pragma
