// Verdict: what became of one candidate, ready to be shown; made here, or by `pragma serve`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/evaluation_request.h"
#include "cli/settings.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "evidence/bundle.h"
#include "verify/verifier.h"

namespace pragma {

struct Verdict {
  // An evaluate object; of several repetitions the first that did not pass, else the last (its
  // reference was warmest), with all of them under "runs".
  std::string object;
  Status status = Status::kTaskError;  // of the one that is shown
  std::string text;                    // of the same, for people
  std::optional<SealedBundle> bundle;  // its evidence, when it was asked for and the one passed
};

enum class Evidence { kNo, kYes };

// Everything a candidate is judged with. All of it outlives the call.
struct Court {
  const Context& context;  // its console says what the text is written for
  Workbench& bench;
  TaskBench& task;
};

// What the request says about checking and timing, else `given`, else the settings.
[[nodiscard]] VerifyFlags VerifyFlagsOf(const EvaluationRequest& request, const VerifyFlags& given,
                                        const Settings& settings);

// Evaluates the candidate as often as the request says, with everything else it asks for; tuned, it
// is the variant that was chosen.
[[nodiscard]] Result<Verdict> JudgeCandidate(const Court& court, const EvaluationRequest& request,
                                             Candidate candidate, Evidence evidence,
                                             const Verifier::Progress& progress);

}  // namespace pragma
