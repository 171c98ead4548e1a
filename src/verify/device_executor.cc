#include "verify/device_executor.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "verify/candidate_build.h"
#include "verify/device_bench.h"
#include "verify/device_calls.h"
#include "verify/device_side.h"
#include "verify/device_sides.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {
namespace {

constexpr int kCheckProcesses = 2;  // as DeviceCalls starts them

// ModelNew is pragma's own text around a module that was inspected before.
BuiltKernel ExportedModel(const Candidate& candidate) {
  BuiltKernel built;
  built.sha256 = candidate.id();
  built.kept = {"whatever an interpreter can keep"};
  return built;
}

}  // namespace

Result<void> DeviceExecutor::Prepare(Evaluation& evaluation) {
  const bool cuda = language_ == Language::kCuda;
  const PhaseTimer timer(evaluation, "prepare");
  TRY(bench_.Settle());
  TRY(bench_.Admit());
  if (!cuda) bench_.StartZygote();  // in parallel with the device's own start
  // Creating or ending a context disturbs any process that is being timed.
  TRY(turn_.Share());
  // Without a GPU, a CUDA source is only built.
  if (!cuda || machine().device) TRY(bench_.MakeStage());
  return {};
}

std::string DeviceExecutor::CannotTime() const {
  return machine().device ? "" : "no GPU: checks only, in Triton's interpreter";
}

// Starts the processes of a CUDA candidate. They are the same for every candidate, so they start
// while it is built.
Result<void> DeviceExecutor::StartProgram() {
  subject_.cuda.emplace(bench_.jail(), *machine().device, bench_.worker_options());
  const int timed = measure_ == Measure::kNothing ? 0 : static_cast<int>(kDeviceProcesses);
  return subject_.ready.Start(subject_.program(), bench_.stage().referee(), kCandidateArea,
                              bench_.worker_options(), kCheckProcesses + timed);
}

Result<const BuiltKernel*> DeviceExecutor::BuildInto(Subject& subject, const Candidate& candidate,
                                                     Evaluation& evaluation) {
  const bool cuda = candidate.language == Language::kCuda;
  // It imports while its module is inspected.
  if (!cuda) subject.zygote = TRY(bench_.TakeZygote());
  if (MeasuresCall(measure_)) {
    subject.built = ExportedModel(candidate);
  } else {
    subject.built = TRY(BuildCandidate(bench_.build_parts(), candidate, evaluation));
  }
  if (!subject.built) return nullptr;
  if (cuda && !machine().device) {
    return Fail(ErrorKind::kUnavailable,
                "the candidate builds, but no GPU was found to run it on; pragma doctor says why");
  }
  if (cuda) {
    if (!subject.cuda) {
      subject.cuda.emplace(bench_.jail(), *machine().device, bench_.worker_options());
    }
    subject.cuda->SetKernel(*subject.built);
  } else {
    subject.zygote->SetModule(candidate.source());
  }
  return &*subject.built;
}

Result<const BuiltKernel*> DeviceExecutor::Build(const Candidate& candidate,
                                                 Evaluation& evaluation) {
  if (language_ == Language::kCuda && machine().device) TRY(StartProgram());
  return BuildInto(subject_, candidate, evaluation);
}

Result<const BuiltKernel*> DeviceExecutor::BuildBest(const Candidate& best, Evaluation& rejection) {
  const BuiltKernel* built = TRY(BuildInto(champion_.emplace(), best, rejection));
  if (built == nullptr) champion_.reset();  // its processes end before anything is timed
  return built;
}

std::unique_ptr<CheckedCalls> DeviceExecutor::Calls(Judging& judging) {
  return std::make_unique<DeviceCalls>(
      DeviceParts{.stage = bench_.stage(),
                  .checked = checked_,
                  .program = subject_.program(),
                  .options = bench_.options(),
                  .worker = bench_.worker_options(),
                  .once_loaded = [this] { return StartTimed(); },
                  .be_alone = [this](Judging& own) { return BeAloneForState(own); }},
      judging);
}

// Starts what is timed after the first check, so that it becomes ready while the checks run.
Result<void> DeviceExecutor::StartTimed() {
  if (measure_ == Measure::kNothing || std::exchange(timed_started_, true)) return {};
  waiting_ = TRY(StartSide(subject_, SideRole::kCandidate));
  return bench_.StartTorch(measure_);
}

// Shared and local memory keep what a kernel left there only until another process's kernels run.
// With other processes on the device, a kernel that reads such remains might never be caught. So
// this waits until none of this command's own processes is starting or ending, and takes the device
// alone.
Result<void> DeviceExecutor::BeAloneForState(Judging& judging) {
  if (!machine().device) return {};
  {
    const PhaseTimer timer(judging.evaluation, "settle");
    bench_.AwaitCleared();
    if (waiting_) waiting_->Settle();
    bench_.SettleTorch();
  }
  return turn_.BeAlone(judging.evaluation);
}

Result<TimedSides*> DeviceExecutor::Sides(const std::vector<Side>& sides) {
  bench_.AwaitCleared();
  TRY(turn_.Share());
  TRY(bench_.StartTorch(measure_));
  std::vector<DeviceSide> parts;
  for (const Side& side : sides) parts.push_back(TRY(TakeSide(side.role)));
  return &timed_.emplace_back(bench_.stage(), sides, std::move(parts));
}

Result<DeviceSide> DeviceExecutor::TakeSide(SideRole role) {
  if (role == SideRole::kEager || role == SideRole::kCompile) return bench_.TakeTorch(role);
  if (role == SideRole::kBest) return StartSide(*champion_, role);
  if (!waiting_) return StartSide(subject_, role);
  return std::move(*std::exchange(waiting_, std::nullopt));
}

Result<DeviceSide> DeviceExecutor::StartSide(Subject& subject, SideRole role) {
  return DeviceSide::OfModule(bench_.stage(), subject.program(), bench_.worker_options(), role);
}

}  // namespace pragma
