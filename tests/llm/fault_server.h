// FaultServer: a script as tests/llm/fault_server.py running on a loopback port, and a clock that
// tests own.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace pragma {

class FaultServer final {
 public:
  // `script`: prints its port and serves until its standard input closes.
  [[nodiscard]] static Result<FaultServer> Start(
      const std::string& script = "/tests/llm/fault_server.py") {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0) return FailErrno("pipe");
    UniqueFd in_read(in[0]);
    UniqueFd in_write(in[1]);
    if (::pipe2(out.data(), O_CLOEXEC) != 0) return FailErrno("pipe");
    UniqueFd out_read(out[0]);
    UniqueFd out_write(out[1]);
    ::setenv("no_proxy", "127.0.0.1", 1);  // whatever proxy this machine uses
    ProcessSpec spec;
    spec.argv = {"python3", std::string(PRAGMA_SOURCE_DIR) + script};
    spec.inherit_env = true;
    spec.fds = {{in_read.get(), 0}, {out_write.get(), 1}, {2, 2}};
    Process process = TRY(Process::Spawn(spec));
    out_write.Reset();
    std::string port;
    for (char c = 0; ::read(out_read.get(), &c, 1) == 1 && c != '\n';) port += c;
    if (port.empty()) return Fail("the fault server did not start");
    return FaultServer(std::move(process), std::move(in_write), std::move(port));
  }
  // Where `scenario` (an on_… method of the script) is served.
  [[nodiscard]] std::string Url(const std::string& scenario) const {
    return "http://127.0.0.1:" + port_ + "/" + scenario;
  }

 private:
  FaultServer(Process process, UniqueFd in, std::string port)
      : process_(std::move(process)), in_(std::move(in)), port_(std::move(port)) {}
  Process process_;
  UniqueFd in_;  // the server ends when this closes
  std::string port_;
};

// Time passes only by sleeping.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return now_; }
  void SleepFor(Seconds duration) override {
    slept_ += duration;
    now_ += std::chrono::duration_cast<TimePoint::duration>(duration);
    if (on_sleep) on_sleep();
  }
  [[nodiscard]] double slept() const { return slept_.count(); }
  std::function<void()> on_sleep;

 private:
  TimePoint now_{};
  Seconds slept_{0};
};

}  // namespace pragma
