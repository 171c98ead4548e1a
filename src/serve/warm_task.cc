#include "serve/warm_task.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/context.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/line_socket.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "serve/protocol.h"
#include "serve/task_keeper.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLogLine = std::size_t{1} << 20U;

}  // namespace

Result<WarmTask> WarmTask::Start(const AppContext& context, const std::string& settings_file,
                                 std::string key, bool on_device) {
  UniqueFd their_requests;
  UniqueFd their_log;
  LineSocket requests = TRY(LineSocket::Pair(their_requests, kMaxServeReply));
  LineSocket log = TRY(LineSocket::Pair(their_log, kMaxLogLine));
  std::error_code error;
  ProcessSpec spec;
  spec.argv = {"/proc/self/exe",
               "serve",
               "--keep-task",
               "--home",
               fs::absolute(context.home, error).string(),
               "--python",
               context.paths.python.string()};
  if (!context.settings.jail.empty())
    spec.argv.insert(spec.argv.end(), {"--jail", context.settings.jail});
  if (!settings_file.empty()) {
    spec.argv.insert(spec.argv.end(), {"--config", settings_file});
  }
  spec.inherit_env = true;
  spec.fds = {{their_requests.get(), kKeeperSocket}, {their_log.get(), STDERR_FILENO}};
  Process process = TRY(Process::Spawn(spec));
  return WarmTask(std::move(key), on_device, std::move(process), std::move(requests),
                  std::move(log));
}

void WarmTask::Stop(TimePoint kill_at) {
  process_.Signal(SIGTERM);
  kill_at_ = std::min(kill_at_, kill_at);
}

bool WarmTask::Lives() {
  if (std::chrono::steady_clock::now() >= kill_at_) process_.Kill();
  return process_.alive();
}

}  // namespace pragma
