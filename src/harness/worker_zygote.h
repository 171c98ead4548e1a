// WorkerZygote: the jail of one Triton module. Its first process has imported Torch and Triton and
// never runs the candidate's code. It forks a process for every worker that is requested, which is
// ready within tenths of a second (docs/gpu.md). Each candidate has its own jail, so everything
// that a module leaves behind ends with that jail.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "harness/worker_process.h"
#include "sandbox/jail.h"
#include "task/torch_channel.h"

namespace pragma {

// A forked process that waits on its doorbell.
struct WorkerChild {
  pid_t host_pid = -1;
  pid_t inside = -1;  // process id inside the jail, as the zygote knows it
  UniqueFd pidfd;
};

class WorkerZygote final {
 public:
  // Returns at once. The imports take seconds; the first Fork waits for them.
  [[nodiscard]] static Result<WorkerZygote> Start(const Jail& jail, JailSpec spec,
                                                  const WorkerOptions& options);
  // Sets the module's text. Must be called before the first Fork.
  void SetModule(std::string text) { module_ = std::move(text); }
  // Forks a worker. May be called from any thread, as may EndOf. nullopt means that the zygote is
  // gone, which only the module's own processes can have caused.
  [[nodiscard]] Result<std::optional<WorkerChild>> Fork(int control_fd, int area_fd);
  // Returns how a dead child died, or nullopt when the zygote cannot tell any more.
  [[nodiscard]] std::optional<Outcome> EndOf(const WorkerChild& child);
  [[nodiscard]] std::string ReadLog() const { return ReadWorkerLog(log_.get()); }

 private:
  WorkerZygote(TorchChannel channel, JailedProcess process, UniqueFd log)
      : channel_(std::move(channel)), process_(std::move(process)), log_(std::move(log)) {}
  TorchChannel channel_;
  JailedProcess process_;
  UniqueFd log_;
  std::string module_;
  bool greeted_ = false;
  std::unique_ptr<std::mutex> asking_ = std::make_unique<std::mutex>();  // one request at a time
};

}  // namespace pragma
