// ServeLoop is the main loop of `pragma serve`. It manages clients, their queue, and the tasks that
// are kept warm. It is one thread around poll(2). Everything that may take long is done by the
// processes of the tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>

#include "app/context.h"
#include "base/clock.h"
#include "base/line_socket.h"
#include "base/local_socket.h"
#include "base/result.h"
#include "serve/protocol.h"
#include "serve/warm_task.h"

namespace pragma {

struct ServeLimits {
  Seconds idle{600};             // how long it waits without work before it ends
  std::size_t tasks = 8;         // tasks kept warm at the same time
  std::size_t memory_bytes = 0;  // memory of all warm tasks together
};

struct ServeSummary {
  std::int64_t evaluations = 0;
  bool interrupted = false;  // false: it ended because it was idle
};

class ServeLoop final {
 public:
  // `context` must outlive the loop. `settings_file` is passed on to the processes of the tasks.
  ServeLoop(const AppContext& context, std::string settings_file, LocalListener listener,
            const ServeLimits& limits);
  ServeLoop(const ServeLoop&) = delete;
  ServeLoop& operator=(const ServeLoop&) = delete;
  // Stops all tasks. It waits a few seconds for them to end.
  ~ServeLoop();
  // Runs until it has been idle for long enough, or until the user asks to stop.
  [[nodiscard]] ServeSummary Run();

 private:
  struct Client {
    std::int64_t number = 0;
    LineSocket socket;
    bool leaving = false;  // removed once everything queued for it has been sent
  };
  struct Job {
    std::int64_t client = 0;
    std::string key;
    bool on_device = false;
    std::string line;
  };
  void Accept();
  void Listen(Client& client);
  void Take(Client& client, const std::string& line);
  void Refuse(Client& client, const Error& error);
  void Forget(std::int64_t client);

  void StartNext();
  void Listen(WarmTask& task);
  void ListenToLog(WarmTask& task);
  void Pass(WarmTask& task, const std::string& line);
  void Lost(const std::string& why);
  void Finish();
  void MakeRoom(std::size_t tasks);
  void LeaveDevice();
  void Sweep();

  // Waits until there is something to do. Returns false if the user asked to stop.
  [[nodiscard]] bool Wait();
  [[nodiscard]] TimePoint WakeAt() const;
  [[nodiscard]] bool busy() const { return running_.has_value() || !queue_.empty(); }
  [[nodiscard]] bool stopping() const;
  [[nodiscard]] Client* Find(std::int64_t client);
  void Tell(std::int64_t client, const std::string& line);

  const AppContext& context_;
  std::string settings_file_;
  std::optional<LocalListener> listener_;
  ServeLimits limits_;
  std::string hello_;
  std::list<Client> clients_;
  std::int64_t last_client_ = 0;
  std::deque<Job> queue_;
  std::optional<Job> running_;  // runs on the first task of tasks_
  std::list<WarmTask> tasks_;   // most recently used first
  TimePoint idle_since_;
  ServeSummary summary_;
};

}  // namespace pragma
