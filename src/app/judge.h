// A Verdict is the result of judging one candidate, ready to be shown. It is made in this process
// or by `pragma serve`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/evaluation_request.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/status.h"
#include "evidence/sealed_bundle.h"
#include "report/terminal.h"
#include "verify/verifier.h"

namespace pragma {

struct Verdict {
  // An evaluate object. With several repetitions it is the first that did not pass, else the last
  // (whose reference was warmest). All repetitions are under "runs".
  std::string object;
  Status status = Status::kTaskError;  // of the evaluation that is shown
  std::string text;                    // the shown evaluation as text for people
  std::optional<SealedBundle> bundle;  // evidence, if requested and if the shown evaluation passed
};

enum class Evidence { kNo, kYes };

// Everything that a candidate is judged with. All members must outlive the call.
struct EvaluationContext {
  const AppContext& app;
  Workbench& bench;
  TaskBench& task;
  Terminal terminal;  // what Verdict::text is written for
};

// Evaluates the candidate as often as the request says, with everything else that it asks for. With
// tuning, it judges the variant that was chosen.
[[nodiscard]] Result<Verdict> JudgeCandidate(const EvaluationContext& context,
                                             const EvaluationRequest& request, Candidate candidate,
                                             Evidence evidence, const Verifier::Progress& progress);

}  // namespace pragma
