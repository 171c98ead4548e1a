// TaskOpener: the tasks of a benchmark, opened for several threads and kept warm between its cells.
#pragma once

#include <cstddef>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>

#include "base/result.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "verify/options.h"

namespace pragma {

// Opens a task never beside a timing (starting Torch and linting keep processors busy), each task
// by one thread at a time, so that it is linted once, and few side by side: many starts of Torch on
// few processors would each run into their time limit.
class TaskOpener final {
 public:
  // `most`: what is measured of its tasks (TaskBench::Open). At most `kept` idle ones stay open.
  TaskOpener(Workbench& bench, const VerifyFlags& verify, Measure most, std::size_t kept);
  // An idle one of the same text, with what was found out since, or a new one.
  [[nodiscard]] Result<std::unique_ptr<TaskBench>> Open(const std::filesystem::path& path);
  // For the next cell of the same task. Only one that everything went well on.
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
  const VerifyFlags& verify_;
  Measure most_;
  std::size_t kept_;
  std::counting_semaphore<> starts_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::mutex> opening_;
  std::list<Idle> idle_;  // the one that was used last comes first
};

}  // namespace pragma
