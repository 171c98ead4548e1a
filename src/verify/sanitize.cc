#include "verify/sanitize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "build/instrument.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "task/set_layout.h"
#include "verify/judging.h"

namespace pragma {
namespace {

constexpr Seconds kLimit{60};
// Slow-downs by more than these are rare: one call that would take longer is not tried.
constexpr double kMemcheckSlowdown = 100;
constexpr double kThreadSlowdown = 30;

double Slowdown(Sanitizer sanitizer) {
  switch (sanitizer) {
    case Sanitizer::kMemory: return kMemcheckSlowdown;
    case Sanitizer::kThread: return kThreadSlowdown;
    case Sanitizer::kAddress: return 5;
  }
  return 1;
}

// A set of the task's own inputs in memory of its own, which the program cannot write; behind it
// the sizes that vary.
Result<SharedMemory> DrawInputs(TorchServer& server) {
  const Task& task = server.task();
  const std::size_t set = PackedLayout(task).argument_bytes;
  const std::size_t bytes = set + task.dims.size() * sizeof(std::int64_t);
  SharedMemory inputs =
      TRY(SharedMemory::Create("pragma-sanitize", std::max<std::size_t>(bytes, 1)));
  TRY(server.Draw(Rng(SystemSeed())() >> 1U, inputs, 0));
  for (std::size_t i = 0; i < task.dims.size(); ++i) {
    std::memcpy(inputs.data() + set + i * sizeof(std::int64_t), &task.dims[i].value,
                sizeof(std::int64_t));
  }
  TRY(inputs.Seal(SealKind::kFutureWrites));
  return inputs;
}

InstrumentedCall CallOf(const SanitizeParts& parts, const BuiltKernel& kernel,
                        const SharedMemory& inputs) {
  const Task& task = parts.server.task();
  InstrumentedCall call{.argument_offsets = PackedLayout(task).argument_offsets,
                        .scratch_bytes = kernel.scratch_bytes,
                        .packed_bytes = kernel.packed_bytes,
                        .has_prepare = kernel.has_prepare,
                        .inputs = &inputs,
                        .threads = parts.threads,
                        .limit = kLimit};
  if (!task.dims.empty()) {
    call.has_dims = true;
    call.first_parameter = 1;
    call.arguments.push_back(task.dims.size() * sizeof(std::int64_t));
    call.argument_offsets.insert(call.argument_offsets.begin(), PackedLayout(task).argument_bytes);
  }
  for (const TensorSpec& argument : task.arguments) {
    call.arguments.push_back(argument.bytes());
    if (argument.role == TensorRole::kInput) ++call.first_parameter;
  }
  for (const TensorSpec& output : task.outputs) {
    call.outputs.push_back(output.bytes());
    call.output_names.push_back(output.name);
  }
  return call;
}

void Note(Evaluation& evaluation, Sanitizer sanitizer, std::string verdict, std::string detail) {
  evaluation.checks.push_back({fmt::format("{}_sanitizer", SanitizerName(sanitizer)),
                               std::move(verdict), std::move(detail)});
}

void Judge(Evaluation& evaluation, Sanitizer sanitizer, SanitizerOutcome outcome) {
  if (outcome.finding) {
    Note(evaluation, sanitizer, "fail", outcome.finding->reason);
    evaluation.status = outcome.finding->status;
    evaluation.reason =
        "right values, but a sanitizer found a defect that other inputs or another machine may "
        "turn into wrong ones: " +
        outcome.finding->reason;
    evaluation.log = std::move(outcome.finding->log);
  } else if (!outcome.skipped.empty()) {
    Note(evaluation, sanitizer, "skipped", outcome.skipped);
  } else {
    Note(evaluation, sanitizer, "pass", "no report on one input set");
  }
}

}  // namespace

Result<void> SanitizeKernel(const SanitizeParts& parts, const Candidate& candidate,
                            const BuiltKernel& kernel, Evaluation& evaluation,
                            const VerifyProgress& progress) {
  if (candidate.language != Language::kCpp || !evaluation.passed()) return {};
  const PhaseTimer timer(evaluation, "sanitize");
  const SharedMemory inputs = TRY(DrawInputs(parts.server));
  Toolchains toolchains;  // each compiler is looked for once
  const InstrumentedCall call = CallOf(parts, kernel, inputs);
  const double seconds = evaluation.timing ? evaluation.timing->ms.median * 1e-3 : 0;
  for (const Sanitizer sanitizer : {Sanitizer::kAddress, Sanitizer::kMemory, Sanitizer::kThread}) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "interrupted while checking");
    if (!evaluation.passed()) break;
    if (seconds * Slowdown(sanitizer) > kLimit.count()) {
      Note(evaluation, sanitizer, "skipped", "a call would take too long under it");
      continue;
    }
    if (progress) progress(fmt::format("{} sanitizer", SanitizerName(sanitizer)));
    Judge(
        evaluation, sanitizer,
        TRY(RunSanitizer(parts.jail, toolchains, sanitizer, candidate, parts.kernel_header, call)));
  }
  return {};
}

}  // namespace pragma
