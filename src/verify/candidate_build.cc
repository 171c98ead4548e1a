#include "verify/candidate_build.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "harness/python_kernel.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/stage.h"

namespace pragma {
namespace {

Result<BuildOutcome> Make(const BuildParts& parts, const Candidate& candidate) {
  switch (candidate.language) {
    case Language::kTriton: return LookAtModule(parts.server, parts.jail, candidate);
    case Language::kPython: return MakePythonKernel(parts.server, parts.jail, candidate);
    case Language::kCpp:
    case Language::kCuda: break;
  }
  return parts.builder.Build(candidate, parts.header);
}

}  // namespace

Result<std::optional<BuiltKernel>> BuildCandidate(const BuildParts& parts,
                                                  const Candidate& candidate,
                                                  Evaluation& evaluation) {
  const PhaseTimer timer(evaluation, "build");
  if (candidate.language == Language::kPython) {
    evaluation.environment.trust = parts.jail.Trust(kPythonTrust);
  }
  BuildOutcome outcome = TRY(Make(parts, candidate));
  if (auto* failure = std::get_if<BuildFailure>(&outcome)) {
    evaluation.status = failure->status;
    evaluation.reason = failure->reason;
    evaluation.diagnostics = std::move(failure->diagnostics);
    evaluation.log = std::move(failure->log);
    evaluation.checks = std::move(failure->checks);
    return std::optional<BuiltKernel>();
  }
  auto& built = std::get<BuiltKernel>(outcome);
  evaluation.checks = built.checks;
  evaluation.environment.compiler = built.compiler;
  evaluation.object_sha256 = built.sha256;
  evaluation.prepacked = built.has_prepare;
  return std::optional(std::move(built));
}

Environment DescribeEnvironment(const Jail& jail, const TorchServer& server, const Machine& machine,
                                const VerifyOptions& options) {
  std::vector<std::string> protections = jail.protections();
  const std::string& compile_mode = options.judging.compile_mode;
  protections.emplace_back("seccomp");  // the worker's own two filters, with or without a jail
  return {.cpu = machine.cpu,
          .torch = server.torch_version(),
          .allocator = "",  // filled in once the baseline is known
          .cache = std::string(CacheStateName(options.judging.cache)),
          .threads = machine.threads,
          .protections = std::move(protections),
          .trust = jail.Trust(),
          .mode = std::string(server.task().mode()),
          .compile_mode = compile_mode == JudgingOptions{}.compile_mode ? "" : compile_mode};
}

}  // namespace pragma
