#include "bench/task_opener.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "app/new_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/file.h"
#include "base/log.h"
#include "base/result.h"

namespace pragma {

TaskOpener::TaskOpener(Workbench& bench, const JudgingOptions& judging, Measure most,
                       std::size_t kept)
    : bench_(bench),
      judging_(judging),
      most_(most),
      kept_(kept),
      starts_(std::max(bench.machine().threads / 2, 1)) {}

std::mutex& TaskOpener::MutexOf(const std::filesystem::path& path) {
  const std::scoped_lock lock(mutex_);
  return opening_[path];
}

std::unique_ptr<TaskBench> TaskOpener::TakeIdle(const std::filesystem::path& path) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(idle_, path, &Idle::path);
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<TaskBench> task = std::move(found->task);
  idle_.erase(found);
  return task;
}

Result<std::unique_ptr<TaskBench>> TaskOpener::OpenNew(const std::filesystem::path& path) {
  const std::scoped_lock once(MutexOf(path));
  starts_.acquire();
  const auto release = [](std::counting_semaphore<>* starts) { starts->release(); };
  const std::unique_ptr<std::counting_semaphore<>, decltype(release)> started(&starts_, release);
  auto task = TRY(TaskBench::Open(bench_, path, {.judging = judging_}, most_));
  TRY(CheckSearchable(task->task()));
  TRY(task->EnsureLint({}));
  return task;
}

Result<std::unique_ptr<TaskBench>> TaskOpener::Open(const std::filesystem::path& path) {
  if (std::unique_ptr<TaskBench> idle = TakeIdle(path)) {
    const Result<std::string> text = ReadFile(path);
    if (text && *text == idle->task().source) {
      Log(LogLevel::kDebug, idle->task().name + ": still open");
      idle->Refresh();
      return idle;
    }
  }
  return OpenNew(path);
}

void TaskOpener::Keep(const std::filesystem::path& path, std::unique_ptr<TaskBench> task) {
  std::list<Idle> over;  // destroyed after the unlock, because its processes end slowly
  const std::scoped_lock lock(mutex_);
  idle_.push_front({.path = path, .task = std::move(task)});
  if (idle_.size() > kept_) over.splice(over.begin(), idle_, std::prev(idle_.end()));
}

}  // namespace pragma
