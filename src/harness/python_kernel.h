// Makes a Python or Triton candidate ready to run: its source is inspected and put into the folder
// that its jails bind. Nothing is compiled here. The candidate's first process compiles what it
// needs as it loads.
#pragma once

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

// Environment::trust for evaluations of such candidates. The reasons are in
// docs/python-candidates.md for Python, and in docs/gpu.md for Triton and CUDA.
inline constexpr const char* kPythonTrust = "weaker (python)";
inline constexpr const char* kTritonTrust = "weaker (triton)";
inline constexpr const char* kCudaTrust = "weaker (cuda)";

// Inspects a Python candidate. The outcome's kernel has `python` set. Returns an Error only for
// pragma's own failures.
[[nodiscard]] Result<BuildOutcome> MakePythonKernel(const TorchServer& server, const Jail& jail,
                                                    const Candidate& candidate);
// Inspects a Triton module's source. The outcome's kernel only says which compiler it is for.
[[nodiscard]] Result<BuildOutcome> LookAtModule(const TorchServer& server, const Jail& jail,
                                                const Candidate& candidate);

}  // namespace pragma
