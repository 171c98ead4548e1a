// TaskOpener opens the tasks of a benchmark for several threads and keeps them warm between cells.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>

#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "verify/options.h"

namespace pragma {

// Opens tasks under three limits. It never opens a task while a timing runs, because starting Torch
// and linting keep processors busy. Only one thread at a time opens a given task, so that the task
// is linted once. Only a few tasks are opened at the same time: many starts of Torch on few
// processors would each run into their time limit.
class TaskOpener final {
 public:
  // `most` is the most that is measured on the tasks (TaskBench::Open). At most `kept` idle tasks
  // stay open.
  TaskOpener(Workbench& bench, const JudgingOptions& judging, Measure most, std::size_t kept);
  // Returns an idle task with the same text, updated with what was found out since, or a new one.
  [[nodiscard]] Result<std::unique_ptr<TaskBench>> Open(const std::filesystem::path& path);
  // Keeps the task for the next cell that needs it. Pass only a task on which everything went well.
  void Keep(const std::filesystem::path& path, std::unique_ptr<TaskBench> task);

 private:
  struct Idle {
    std::filesystem::path path;
    std::unique_ptr<TaskBench> task;
  };
  [[nodiscard]] std::mutex& MutexOf(const std::filesystem::path& path);
  [[nodiscard]] std::unique_ptr<TaskBench> TakeIdle(const std::filesystem::path& path);
  [[nodiscard]] Result<std::unique_ptr<TaskBench>> OpenNew(const std::filesystem::path& path);
  Workbench& bench_;
  const JudgingOptions& judging_;
  Measure most_;
  std::size_t kept_;
  std::counting_semaphore<> starts_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::mutex> opening_;
  std::list<Idle> idle_;  // most recently used first
};

}  // namespace pragma
