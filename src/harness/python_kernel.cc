#include "harness/python_kernel.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/check.h"
#include "core/diagnostic.h"
#include "core/json_reader.h"
#include "core/status.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20U;
constexpr Seconds kScanLimit{60};
// Room for everything that one candidate compiles. What does not fit is compiled again in every
// process.
constexpr std::size_t kKeepBytes = std::size_t{256} << 20U;

BuildFailure Rejected(std::string reason, std::vector<Check> checks = {}) {
  checks.push_back({.name = "source", .verdict = CheckVerdict::kFail, .detail = reason});
  return {.status = Status::kRejectedSource,
          .reason = std::move(reason),
          .diagnostics = {},
          .log = {},
          .checks = std::move(checks)};
}

std::string ShapeComplaint(const Candidate& candidate) {
  const bool one = candidate.files.size() == 1;
  if (!one || !candidate.files.begin()->first.ends_with(".py")) {
    return "a Python candidate is exactly one .py file";
  }
  if (candidate.source().size() > kMaxSourceBytes) {
    return "the source has more than " + FormatBytes(static_cast<double>(kMaxSourceBytes));
  }
  if (!candidate.flags.empty() || !candidate.tunables.empty()) {
    return "a Python candidate has neither flags nor tunables";
  }
  return {};
}

BuildFailure SyntaxFailure(const JsonReader& syntax, const Candidate& candidate) {
  Diagnostic found{.severity = "error", .file = candidate.files.begin()->first};
  syntax.Get("line", found.line);
  syntax.Get("column", found.column);
  syntax.Get("message", found.message);
  syntax.Get("text", found.source_line);
  return {.status = Status::kCompileError,
          .reason = "line " + std::to_string(found.line) + ": " + found.message,
          .diagnostics = {found},
          .log = {},
          .checks = {}};
}

// Reads the result of inspecting the source (python/pragma_candidate/scan.py): either checks or the
// reason for a rejection.
BuildOutcome ReadScan(const Jail::RunOutcome& run, const Candidate& candidate) {
  const auto said = JsonReader::Parse(run.out, "the look at the source");
  if (!run.ok() || !said) {
    return Rejected("cannot be parsed: " + run.outcome.Describe());
  }
  if (!(*said)["syntax"].null()) return SyntaxFailure((*said)["syntax"], candidate);
  std::vector<std::string> notes;
  std::string complaint;
  said->Get("notes", notes);
  said->Get("reject", complaint);
  std::vector<Check> checks;
  for (const std::string& note : notes) {
    checks.push_back(
        {.name = "source", .verdict = CheckVerdict::kNote, .detail = ToValidUtf8(note)});
  }
  if (!complaint.empty()) return Rejected(ToValidUtf8(complaint), std::move(checks));
  BuiltKernel kernel;
  kernel.checks = std::move(checks);
  return kernel;
}

}  // namespace

Result<BuildOutcome> MakePythonKernel(const TorchServer& server, const Jail& jail,
                                      const Candidate& candidate) {
  if (std::string complaint = ShapeComplaint(candidate); !complaint.empty()) {
    return BuildOutcome(Rejected(std::move(complaint)));
  }
  CandidateHome home = TRY(server.MakeCandidateHome(candidate.source()));
  const Jail::RunOutcome run = TRY(jail.Run(home.scan, RunLimits{.wall = kScanLimit}));
  BuildOutcome outcome = ReadScan(run, candidate);
  auto* kernel = std::get_if<BuiltKernel>(&outcome);
  if (kernel == nullptr) return outcome;
  SharedMemory keep = TRY(SharedMemory::Create("pragma-keep", kKeepBytes));
  kernel->python = std::make_shared<PythonKernel>(PythonKernel{
      .jail = std::move(home.run), .files = std::move(home.files), .keep = std::move(keep)});
  kernel->compiler = "torch " + server.torch_version();
  kernel->kept = {"whatever an interpreter can keep"};
  return outcome;
}

Result<BuildOutcome> LookAtModule(const TorchServer& server, const Jail& jail,
                                  const Candidate& candidate) {
  if (std::string complaint = ShapeComplaint(candidate); !complaint.empty()) {
    return BuildOutcome(Rejected(std::move(complaint)));
  }
  const CandidateHome home = TRY(server.MakeTritonScan(candidate.source()));
  const Jail::RunOutcome run = TRY(jail.Run(home.scan, RunLimits{.wall = kScanLimit}));
  BuildOutcome outcome = ReadScan(run, candidate);
  if (auto* kernel = std::get_if<BuiltKernel>(&outcome)) {
    kernel->compiler = "triton " + server.triton_version();
    // Torch's allocator hands out the same block again, so temporary tensors can keep values.
    if (candidate.source().contains("torch.empty"))
      kernel->kept.emplace_back("temporary tensors (torch.empty)");
  }
  return outcome;
}

}  // namespace pragma
