#include "verify/device_verifier.h"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "harness/cuda_program.h"
#include "harness/worker_zygote.h"
#include "machine/machine.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"
#include "verify/candidate_audit.h"
#include "verify/candidate_build.h"
#include "verify/device_check.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/device_timing.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/python_kernel.h"

namespace pragma {
namespace {

// With fewer processors, a module's imports would disturb what is being timed at the same time.
constexpr int kProcessorsToSpare = 4;
// Numbers of processes of a candidate, as started by device_check.cc and device_side.cc.
constexpr int kCheckProcesses = 2;
constexpr int kTimedProcesses = 5;

}  // namespace

// One evaluation. Its processes are destroyed before what they were started from.
struct DeviceVerifier::Session {
  Session(VerifyProgress shown, Measure wanted, const Machine& machine)
      : progress(std::move(shown)), measure(wanted), turn(machine) {}
  VerifyProgress progress;
  Measure measure;
  Judging judging{.evaluation = {.status = Status::kPassed}};
  Subject subject;
  std::optional<Subject> champion;  // the present best, if it is to be timed against
  std::optional<DeviceSide> side;   // loads while the checks run, as Torch's sides do
  DeviceCrew crew;
  DeviceTurn turn;
};

DeviceVerifier::DeviceVerifier(TorchServer& server, const Builder& builder, const Jail& jail,
                               const Machine& machine, const VerifyOptions& options)
    : server_(server),
      builder_(builder),
      jail_(jail),
      machine_(machine),
      options_(options),
      header_(CudaKernelHeader(server.task())) {}

WorkerOptions DeviceVerifier::worker_options() const {
  return {.threads = machine_.threads,
          .memory_allowance_bytes = options_.memory_allowance_bytes,
          .run_limit = options_.judging.run_limit};
}

Environment DeviceVerifier::Describe(Language language) const {
  Environment environment = DescribeEnvironment(jail_, server_, machine_, options_);
  if (!jail_.unsafe()) {
    environment.trust = language == Language::kCuda ? kCudaTrust : kTritonTrust;
  }
  if (!machine_.device) return environment;
  const CacheState cache = DeviceCache(server_.task(), stage_->size(), machine_);
  environment.cache = CacheStateName(cache);
  environment.device = machine_.device->name + ", driver " + machine_.device->driver;
  environment.precision = "fp32";
  return environment;
}

Result<void> DeviceVerifier::Prepare() {
  if (stage_) return {};
  stage_ = TRY(DeviceStage::Create(server_, DeviceStageSize(server_.task(), options_, machine_)));
  return {};
}

// Starts the zygote for the next module. It begins to import at once; the caller does not wait for
// the start of its jail.
void DeviceVerifier::StartZygote() {
  spare_ = std::async(std::launch::async, [this]() -> Result<WorkerZygote> {
    JailSpec spec = TRY(server_.TritonJail());
    return WorkerZygote::Start(jail_, std::move(spec), worker_options());
  });
}

Result<WorkerZygote> DeviceVerifier::TakeZygote() {
  if (!spare_.valid()) StartZygote();
  WorkerZygote taken = TRY(spare_.get());
  if (more_to_come_ && machine_.threads >= kProcessorsToSpare) StartZygote();
  return taken;
}

// Starts Torch's processes for a session. Processes that were loaded but never used are as fresh as
// new ones.
Result<void> DeviceVerifier::StartTorch(Measure measure) {
  if (!machine_.device || measure == Measure::kNothing) return {};
  if (!eager_) eager_ = TRY(DeviceSide::OfTorch(*stage_, TimerMode::kEager));
  if (compile_ || measure != Measure::kEagerAndCompile) return {};
  compile_ = TRY(DeviceSide::OfTorch(*stage_, TimerMode::kCompile));
  return {};
}

// Starts the processes of a CUDA candidate. They are the same for every candidate, so they start
// while it is built.
Result<void> DeviceVerifier::StartProgram(Subject& subject, Measure measure) {
  subject.cuda.emplace(jail_, *machine_.device, worker_options());
  const int count = kCheckProcesses + (measure == Measure::kNothing ? 0 : kTimedProcesses);
  return subject.ready.Start(subject.program(), stage_->referee(), kCandidateArea, worker_options(),
                             count);
}

Result<bool> DeviceVerifier::Build(const Candidate& candidate, Subject& subject,
                                   Evaluation& evaluation) {
  const bool cuda = candidate.language == Language::kCuda;
  if (!cuda) subject.zygote = TRY(TakeZygote());  // it imports while its module is inspected
  subject.built = TRY(BuildCandidate({server_, builder_, jail_, header_}, candidate, evaluation));
  if (!subject.built) return false;
  if (cuda && !machine_.device) {
    return Fail(ErrorKind::kUnavailable,
                "the candidate builds, but no GPU was found to run it on; pragma doctor says why");
  }
  if (cuda) {
    if (!subject.cuda) subject.cuda.emplace(jail_, *machine_.device, worker_options());
    subject.cuda->SetKernel(*subject.built);
  } else {
    subject.zygote->SetModule(candidate.source());
  }
  return true;
}

Result<void> DeviceVerifier::BuildChampion(const Candidate& best, Session& session) {
  Evaluation ignored;
  if (TRY(Build(best, session.champion.emplace(), ignored))) return {};
  return Fail("the present best is turned away now: " + ignored.reason);
}

DeviceParts DeviceVerifier::Parts(Session& session) {
  return {.stage = *stage_,
          .crew = session.crew,
          .turn = session.turn,
          .program = session.subject.program(),
          .machine = machine_,
          .options = options_,
          .worker = worker_options(),
          .once_loaded = {},
          .settle = [this, &session] { SettleProcesses(session); }};
}

// Waits for the processes that are timed later to be ready, and for those of the last session to
// end.
void DeviceVerifier::SettleProcesses(const Session& session) {
  if (clearing_.valid()) clearing_.wait();
  if (session.side) session.side->Settle();
  if (eager_) eager_->Settle();
  if (compile_) compile_->Settle();
}

// Builds and checks the candidate. The evaluation says what was found.
Result<void> DeviceVerifier::Check(const Candidate& candidate, Session& session) {
  Judging& judging = session.judging;
  if (session.progress) session.progress("build");
  if (candidate.language == Language::kCuda && machine_.device) {
    TRY(StartProgram(session.subject, session.measure));
  }
  if (!TRY(Build(candidate, session.subject, judging.evaluation))) return {};
  judging.DrawSecrets(options_.seed);
  judging.kernel = &*session.subject.built;
  DeviceParts parts = Parts(session);
  if (session.measure != Measure::kNothing) {
    parts.once_loaded = [&]() -> Result<void> {
      session.side =
          TRY(DeviceSide::OfModule(*stage_, parts.program, parts.worker, DeviceArea::kCandidate));
      return StartTorch(session.measure);
    };
  }
  return CheckOnDevice(parts, judging, session.progress);
}

// Times the candidate against all requested sides, and once more where the figures call for it.
Result<void> DeviceVerifier::Time(Session& session) {
  if (clearing_.valid()) clearing_.wait();  // the last evaluation's processes must not disturb it
  Judging& judging = session.judging;
  const DeviceParts parts = Parts(session);
  const auto start = [&](Subject& of, DeviceArea area) {
    return DeviceSide::OfModule(*stage_, of.program(), parts.worker, area);
  };
  const MakeSides make_sides = [&]() -> Result<std::vector<DeviceSide>> {
    TRY(StartTorch(session.measure));
    if (!session.side) session.side = TRY(start(session.subject, DeviceArea::kCandidate));
    std::vector<DeviceSide> sides;
    sides.push_back(std::move(*std::exchange(session.side, std::nullopt)));
    sides.push_back(std::move(*std::exchange(eager_, std::nullopt)));
    if (compile_) sides.push_back(std::move(*std::exchange(compile_, std::nullopt)));
    if (session.champion) sides.push_back(TRY(start(*session.champion, DeviceArea::kBest)));
    return sides;
  };
  TRY(TimeOnDevice(parts, judging, make_sides, session.progress));
  const Judges judges{
      .check = [&](Judging& again) -> Result<void> {
        TRY(session.turn.Share());
        TRY(CheckOnDevice(parts, again, session.progress));
        session.turn.Leave();
        return {};
      },
      .time =
          [&](Judging& again) { return TimeOnDevice(parts, again, make_sides, session.progress); }};
  if (judging.failed()) return {};
  return AuditCandidate({server_.task(), machine_}, judges, judging, session.progress);
}

Result<void> DeviceVerifier::Settle() { return ahead_.valid() ? ahead_.get() : Result<void>(); }

// Runs in the background, because contexts and processes take tenths of a second to begin and to
// end.
void DeviceVerifier::Clear(std::unique_ptr<Session> session) {
  clearing_ = std::async(std::launch::async, [this, used = std::move(session)]() mutable {
    const auto lock = MachineLock::Take(MachineLock::Kind::kShared, machine_.device);
    used.reset();
  });
}

void DeviceVerifier::LookAhead(Measure measure) {
  ahead_ = std::async(std::launch::async, [this, measure] { return StartTorch(measure); });
}

Result<void> DeviceVerifier::Judge(const Candidate& candidate, const Candidate* best,
                                   Session& session) {
  Judging& judging = session.judging;
  judging.evaluation.environment = Describe(candidate.language);
  if (best != nullptr && session.measure != Measure::kNothing) {
    TRY(BuildChampion(*best, session));
  }
  TRY(Check(candidate, session));
  if (!machine_.device && !judging.failed()) {
    judging.Note("timing", "skipped", "no GPU: checks only, in Triton's interpreter");
  }
  if (judging.failed() || session.measure == Measure::kNothing) return {};
  return Time(session);
}

Result<Evaluation> DeviceVerifier::Evaluate(const Candidate& candidate, const Candidate* best,
                                            Measure measure, const VerifyProgress& progress) {
  const bool cuda = candidate.language == Language::kCuda;
  if (cuda && !server_.task().dims.empty()) {
    return Fail(ErrorKind::kUsage, "--shapes: CUDA candidates are judged on one shape only");
  }
  if (!machine_.device) measure = Measure::kNothing;
  auto session = std::make_unique<Session>(progress, measure, machine_);
  {
    const PhaseTimer timer(session->judging.evaluation, "prepare");
    TRY(Settle());
    if (!cuda && !spare_.valid()) StartZygote();  // in parallel with the device's own start
    // Creating or ending a context disturbs any process that is being timed.
    TRY(session->turn.Share());
    // Without a GPU, a CUDA source is only built.
    if (!cuda || machine_.device) TRY(Prepare());
  }
  const Result<void> judged = Judge(candidate, best, *session);
  session->turn.Leave();
  TRY(judged);
  Evaluation evaluation = std::move(session->judging.evaluation);
  if (machine_.device) {
    Clear(std::move(session));
    if (more_to_come_) LookAhead(measure);
  }
  return evaluation;
}

}  // namespace pragma
