// TorchProcess: one running, jailed pragma_torch and the conversation with it. Private to task/.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/json_reader.h"
#include "sandbox/jail.h"
#include "task/torch_channel.h"

namespace pragma {

class TorchProcess final {
 public:
  // `spec` without descriptors. Waits for the server's greeting: an error before it means that
  // Python or torch does not work here (kUnavailable).
  [[nodiscard]] static Result<TorchProcess> Start(const Jail& jail, JailSpec spec,
                                                  TimePoint deadline);

  // What one request says and how long it may take.
  struct Request {
    std::string json;  // empty: only wait for the next line
    std::span<const int> fds;
    std::string what;  // for people: "describing softmax.py"
    TimePoint deadline;
  };
  // The reply. The task's own errors are kTask, as are death and silence (its code runs there);
  // after those two, and after Ctrl-C, this object is dead and every request fails.
  [[nodiscard]] Result<JsonReader> Ask(const Request& request);

  // Paths in messages: `inside` is shown as `outside`.
  void ShowPath(std::string inside, std::string outside);
  [[nodiscard]] const std::string& torch_version() const { return torch_version_; }
  // Empty: not installed there.
  [[nodiscard]] const std::string& triton_version() const { return triton_version_; }

 private:
  TorchProcess(TorchChannel channel, JailedProcess process, UniqueFd log)
      : channel_(std::move(channel)), process_(std::move(process)), log_(std::move(log)) {}
  [[nodiscard]] Result<JsonReader> Read(const std::string& line, const std::string& what);
  void End();  // kills everything in the jail
  [[nodiscard]] Error Died(const std::string& what);
  [[nodiscard]] Error Stopped(TorchChannel::Event event, const std::string& what);
  [[nodiscard]] std::string Outside(std::string text) const;
  [[nodiscard]] std::string LogTail() const;

  TorchChannel channel_;
  JailedProcess process_;
  UniqueFd log_;  // a memfd: stdout and stderr of everything in the jail
  std::string torch_version_;
  std::string triton_version_;
  std::string inside_;
  std::string outside_;
  std::string dead_;  // why this process can no longer be asked; empty: it can
};

}  // namespace pragma
