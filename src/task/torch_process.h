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
  // Starts the server. `spec` has no descriptors yet. Waits for the server's greeting. An error
  // before it means that Python or PyTorch does not work here (kUnavailable).
  [[nodiscard]] static Result<TorchProcess> Start(const Jail& jail, JailSpec spec,
                                                  TimePoint deadline);

  // Request: what one request says and how long it may take.
  struct Request {
    std::string json;  // empty: only wait for the next line
    std::span<const int> fds;
    std::string what;  // for people: "describing softmax.py"
    TimePoint deadline;
  };
  // Sends the request and returns the reply. The task's own errors are kTask. So are the server's
  // death and its silence, because the task's code runs in it. After those two, and after Ctrl-C,
  // this object is dead and every request fails.
  [[nodiscard]] Result<JsonReader> Ask(const Request& request);

  // Makes messages show the path `inside` as `outside`.
  void ShowPath(std::string inside, std::string outside);
  [[nodiscard]] const std::string& torch_version() const { return torch_version_; }
  // Empty: Triton is not installed there.
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
  UniqueFd log_;  // a memfd with stdout and stderr of everything in the jail
  std::string torch_version_;
  std::string triton_version_;
  std::string inside_;
  std::string outside_;
  std::string dead_;  // reason why this process takes no more requests; empty: it still does
};

}  // namespace pragma
