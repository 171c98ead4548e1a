// WarmTask is the server's end of the process that keeps one task warm (cli/task_keeper.h).
#pragma once

#include <string>
#include <utility>

#include "app/context.h"
#include "base/clock.h"
#include "base/line_socket.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace pragma {

class WarmTask final {
 public:
  // Starts the process. The process makes its reference when it receives its first request.
  // `settings_file` is the file that the server's settings come from. It may be empty.
  [[nodiscard]] static Result<WarmTask> Start(const AppContext& context,
                                              const std::string& settings_file, std::string key,
                                              bool on_device);

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] bool on_device() const { return on_device_; }
  [[nodiscard]] LineSocket& requests() { return requests_; }  // lines of cli/serve_protocol.h
  [[nodiscard]] LineSocket& log() { return log_; }            // what the process writes to stderr
  [[nodiscard]] int pid() const { return process_.pid(); }
  [[nodiscard]] int pidfd() const { return process_.pidfd(); }

  // Asks the process to stop its work and end. It is killed if it still runs at `kill_at`.
  void Stop(TimePoint kill_at);
  [[nodiscard]] bool stopping() const { return kill_at_ != TimePoint::max(); }
  [[nodiscard]] TimePoint kill_at() const { return kill_at_; }
  // Returns false once the process has ended. Kills it if its time is over.
  [[nodiscard]] bool Lives();

 private:
  WarmTask(std::string key, bool on_device, Process process, LineSocket requests, LineSocket log)
      : key_(std::move(key)),
        on_device_(on_device),
        process_(std::move(process)),
        requests_(std::move(requests)),
        log_(std::move(log)) {}
  std::string key_;
  bool on_device_;
  Process process_;
  LineSocket requests_;
  LineSocket log_;
  TimePoint kill_at_ = TimePoint::max();
};

}  // namespace pragma
