#include "cli/task_keeper.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/line_socket.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/evaluation_request.h"
#include "cli/judge.h"
#include "cli/serve_protocol.h"
#include "cli/settings.h"
#include "cli/task_stamp.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "core/candidate.h"

namespace pragma {
namespace {

constexpr std::chrono::seconds kFinishLimit{5};

class Keeper final {
 public:
  Keeper(const Context& context, TempDir files)
      : context_(context),
        files_(std::move(files)),
        server_(UniqueFd(kKeeperSocket), kMaxServeReply) {}

  // Returns the next request's line, or nullopt when it is time to end.
  std::optional<std::string> NextLine() {
    bool open = true;
    while (true) {
      if (std::optional<std::string> line = server_.NextLine()) return line;
      if (!open || server_.too_long()) return std::nullopt;
      if (server_.WaitUntil(TimePoint::max()) == LineSocket::Wait::kInterrupted)
        return std::nullopt;
      open = server_.Fill();
    }
  }

  void Answer(const std::string& line) {
    const Result<Verdict> verdict = Judge(line);
    if (verdict) {
      server_.Send(ResultLine(*verdict));
    } else if (verdict.error().kind == ErrorKind::kInterrupted) {
      server_.Send(LostLine("its process was stopped"));
    } else {
      server_.Send(FailureLine(verdict.error()));
    }
  }

  // Sends what is still queued, as long as the server reads it.
  void Finish() { server_.FlushAll(std::chrono::steady_clock::now() + kFinishLimit); }

 private:
  Result<Verdict> Judge(const std::string& line) {
    const ServeRequest wanted = TRY(ParseServeRequest(line));
    const EvaluationRequest request =
        TRY(ParseRequest(wanted.request, wanted.folder, files_.path()));
    TRY(CheckTaskFile(request.task));
    TRY(CheckTarget(request, VerifyFlagsOf(request, {}, {}).runs_on()));
    if (stamp_ && !stamp_->Holds()) Close();
    Result<Verdict> verdict = JudgeHere(wanted, request);
    if (!verdict) Close();  // any failure may have broken the reference
    return verdict;
  }

  Result<Verdict> JudgeHere(const ServeRequest& wanted, const EvaluationRequest& request) {
    const Verifier::Progress progress = [this](std::string_view phase) {
      server_.Send(ProgressLine(phase));
    };
    if (!task_) TRY(Open(request, progress));
    task_->Refresh();
    Context context = context_;
    context.console.out = wanted.terminal;
    const Court court{.context = context, .bench = *bench_, .task = *task_};
    return JudgeCandidate(court, request, request.candidates.front(), wanted.evidence, progress);
  }

  Result<void> Open(const EvaluationRequest& request, const Verifier::Progress& progress) {
    progress("starting the reference");
    const std::int64_t opened_ns = UnixNanos();
    // What a request leaves open has its default value, because settings of a folder are the
    // client's business.
    const VerifyFlags verify = VerifyFlagsOf(request, {}, {});
    bench_ = TRY(Workbench::Create(context_, verify.workbench_options()));
    task_ = TRY(TaskBench::Open(*bench_, request.task, verify.options(), request.most()));
    stamp_.emplace(request.task, task_->task().sha256, task_->server().files(), opened_ns);
    return {};
  }

  void Close() {
    stamp_.reset();
    task_.reset();
    bench_.reset();
  }

  const Context& context_;
  TempDir files_;  // tasks that were given as text
  LineSocket server_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<TaskBench> task_;
  std::optional<TaskStamp> stamp_;
};

}  // namespace

Result<int> KeepTask(const Context& context) {
  Keeper keeper(context, TRY(TempDir::Create()));
  while (const std::optional<std::string> line = keeper.NextLine()) {
    keeper.Answer(*line);
  }
  keeper.Finish();
  return kExitGood;
}

}  // namespace pragma
