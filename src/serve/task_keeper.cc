#include "serve/task_keeper.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/context.h"
#include "app/evaluation_request.h"
#include "app/judge.h"
#include "app/settings.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/line_socket.h"
#include "base/result.h"
#include "core/candidate.h"
#include "serve/protocol.h"
#include "serve/task_stamp.h"

namespace pragma {
namespace {

constexpr std::chrono::seconds kFinishLimit{5};

class Keeper final {
 public:
  Keeper(const AppContext& context, TempDir files)
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
    TRY(CheckTarget(request, JudgingFrom(request.judging).language));
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
    const EvaluationContext context{
        .app = context_, .bench = *bench_, .task = *task_, .terminal = wanted.terminal};
    return JudgeCandidate(context, request, request.candidates.front(), wanted.evidence, progress);
  }

  Result<void> Open(const EvaluationRequest& request, const Verifier::Progress& progress) {
    progress("starting the reference");
    const std::int64_t opened_ns = UnixNanos();
    // What a request leaves open has its default value, because settings of a folder are the
    // client's business.
    const JudgingOptions judging = JudgingFrom(request.judging);
    bench_ = TRY(Workbench::Create(context_, WorkbenchFor(judging)));
    task_ = TRY(TaskBench::Open(*bench_, request.task, {.judging = judging}, request.most()));
    stamp_.emplace(request.task, task_->task().sha256, task_->server().files(), opened_ns);
    return {};
  }

  void Close() {
    stamp_.reset();
    task_.reset();
    bench_.reset();
  }

  const AppContext& context_;
  TempDir files_;  // tasks that were given as text
  LineSocket server_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<TaskBench> task_;
  std::optional<TaskStamp> stamp_;
};

}  // namespace

Result<void> KeepTask(const AppContext& context) {
  Keeper keeper(context, TRY(TempDir::Create()));
  while (const std::optional<std::string> line = keeper.NextLine()) {
    keeper.Answer(*line);
  }
  keeper.Finish();
  return {};
}

}  // namespace pragma
