// A Python or Triton candidate made ready to run: looked at, and put into the folder its jails
// bind. Nothing is compiled here: what it compiles, its first process compiles as it loads.
#pragma once

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

// Environment::trust of such a candidate's evaluations (docs/python-candidates.md says why).
inline constexpr const char* kPythonTrust = "weaker (python)";
inline constexpr const char* kTritonTrust = "weaker (triton)";  // docs/gpu.md; likewise below
inline constexpr const char* kCudaTrust = "weaker (cuda)";

// The outcome's kernel has `python` set. An Error only for our own trouble.
[[nodiscard]] Result<BuildOutcome> MakePythonKernel(const TorchServer& server, const Jail& jail,
                                                    const Candidate& candidate);
// A Triton module's source looked at; its outcome's kernel only says which compiler it is for.
[[nodiscard]] Result<BuildOutcome> LookAtModule(const TorchServer& server, const Jail& jail,
                                                const Candidate& candidate);

}  // namespace pragma
