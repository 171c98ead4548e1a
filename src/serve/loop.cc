#include "serve/loop.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/context.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/interrupt.h"
#include "base/line_socket.h"
#include "base/local_socket.h"
#include "base/log.h"
#include "base/result.h"
#include "report/terminal.h"
#include "serve/memory_snapshot.h"
#include "serve/protocol.h"
#include "serve/warm_task.h"

namespace pragma {
namespace {

using Kind = ServeReply::Kind;

constexpr std::size_t kMaxClients = 32;
constexpr std::size_t kMaxQueue = 64;
// Bytes that may be queued for a client that does not read what it is sent.
constexpr std::size_t kMaxUnsent = 2 * kMaxServeReply;
constexpr std::chrono::seconds kStopLimit{5};

TimePoint Now() { return std::chrono::steady_clock::now(); }

}  // namespace

ServeLoop::ServeLoop(const AppContext& context, std::string settings_file, LocalListener listener,
                     const ServeLimits& limits)
    : context_(context),
      settings_file_(std::move(settings_file)),
      listener_(std::move(listener)),
      limits_(limits),
      hello_(HelloLine(IdentityOf(context))),
      idle_since_(Now()) {}

ServeLoop::~ServeLoop() {
  listener_.reset();
  clients_.clear();
  const TimePoint deadline = Now() + kStopLimit;
  for (WarmTask& task : tasks_) task.Stop(deadline);
  while (!tasks_.empty()) {
    pollfd first{.fd = tasks_.front().pidfd(), .events = POLLIN, .revents = 0};
    ::poll(&first, 1, 100);
    std::erase_if(tasks_, [](WarmTask& task) { return !task.Lives(); });
  }
}

ServeSummary ServeLoop::Run() {
  while (true) {
    StartNext();
    if (!busy() && Now() >= idle_since_ + limits_.idle) break;
    if (!Wait()) {
      summary_.interrupted = true;
      break;
    }
    Accept();
    for (WarmTask& task : tasks_) Listen(task);
    for (Client& client : clients_) Listen(client);
    Sweep();
  }
  return summary_;
}

bool ServeLoop::Wait() {
  std::vector<pollfd> waiters{{InterruptFd(), POLLIN, 0}, {listener_->fd(), POLLIN, 0}};
  const auto add = [&waiters](const LineSocket& socket) {
    const auto wanted = static_cast<short>(socket.unsent() > 0 ? POLLIN | POLLOUT : POLLIN);
    waiters.push_back({socket.fd(), wanted, 0});
  };
  for (const Client& client : clients_) add(client.socket);
  for (WarmTask& task : tasks_) {
    waiters.push_back({task.pidfd(), POLLIN, 0});
    if (task.stopping()) continue;  // its sockets may be closed, and poll would never wait for them
    add(task.requests());
    add(task.log());
  }
  const Seconds left = WakeAt() - Now();
  const double millis = std::clamp(left.count() * 1e3, 0.0, 1e6);
  ::poll(waiters.data(), waiters.size(), static_cast<int>(millis) + 1);
  return !Interrupted();
}

TimePoint ServeLoop::WakeAt() const {
  TimePoint wake = TimePoint::max();
  for (const WarmTask& task : tasks_) wake = std::min(wake, task.kill_at());
  if (busy()) return wake;
  return std::min(wake,
                  idle_since_ + std::chrono::duration_cast<TimePoint::duration>(limits_.idle));
}

void ServeLoop::Accept() {
  for (UniqueFd socket = listener_->Accept(); socket.valid(); socket = listener_->Accept()) {
    if (PeerUser(socket.get()) != ::geteuid()) {
      Log(LogLevel::kWarning, "another user tried to connect and was turned away");
      continue;
    }
    Client& client = clients_.emplace_back(Client{
        .number = ++last_client_, .socket = LineSocket(std::move(socket), kMaxServeRequest)});
    client.socket.Send(hello_);
    if (clients_.size() > kMaxClients) {
      client.socket.Send(LostLine("it has too many clients"));
      client.leaving = true;
    }
  }
}

void ServeLoop::Listen(Client& client) {
  client.socket.Flush();
  if (client.leaving) return;
  const bool open = client.socket.Fill();
  while (const std::optional<std::string> line = client.socket.NextLine()) Take(client, *line);
  if (client.socket.too_long()) {
    Refuse(client, {ErrorKind::kUsage,
                    "the message is longer than " + std::to_string(kMaxServeRequest) + " bytes"});
    client.leaving = true;
  }
  if (!open || client.socket.unsent() > kMaxUnsent) Forget(client.number);
}

void ServeLoop::Take(Client& client, const std::string& line) {
  Result<ServeRequest> request = ParseServeRequest(line);
  if (!request) return Refuse(client, request.error());
  if (queue_.size() >= kMaxQueue) {
    return Tell(client.number, LostLine("too many evaluations wait already"));
  }
  const std::size_t before = queue_.size() + (running_ ? 1 : 0);
  queue_.push_back({.client = client.number,
                    .key = std::move(request->key),
                    .on_device = request->on_device,
                    .line = line});
  if (before == 0) return;
  Tell(client.number, ProgressLine("waiting for " + std::to_string(before) + " other evaluation" +
                                   (before == 1 ? "" : "s")));
}

void ServeLoop::Refuse(Client& client, const Error& error) {
  client.socket.Send(FailureLine(error));
}

// Drops a client that is gone. Whatever runs for it is stopped.
void ServeLoop::Forget(std::int64_t client) {
  std::erase_if(queue_, [client](const Job& job) { return job.client == client; });
  if (running_ && running_->client == client && !tasks_.front().stopping()) {
    tasks_.front().Stop(Now() + kStopLimit);
  }
  if (Client* gone = Find(client)) gone->number = 0;
}

void ServeLoop::StartNext() {
  // Nothing starts while a task is being stopped, because that task still holds memory and
  // processors.
  if (running_ || queue_.empty() || stopping()) return;
  const auto warm = std::ranges::find(tasks_, queue_.front().key, &WarmTask::key);
  if (warm == tasks_.end()) {
    MakeRoom(limits_.tasks - 1);
    if (queue_.front().on_device) LeaveDevice();
    if (stopping()) return;
  }
  running_ = std::move(queue_.front());
  queue_.pop_front();
  if (warm == tasks_.end()) {
    Result<WarmTask> started =
        WarmTask::Start(context_, settings_file_, running_->key, running_->on_device);
    if (!started) return Lost(started.error().message);
    tasks_.emplace_front(std::move(*started));
  } else {
    tasks_.splice(tasks_.begin(), tasks_, warm);
  }
  tasks_.front().requests().Send(running_->line);
}

void ServeLoop::Listen(WarmTask& task) {
  if (task.stopping()) return;
  ListenToLog(task);
  task.requests().Flush();
  const bool open = task.requests().Fill();
  while (const std::optional<std::string> line = task.requests().NextLine()) Pass(task, *line);
  if (open) return;
  task.Stop(Now() + kStopLimit);
}

void ServeLoop::ListenToLog(WarmTask& task) {
  static_cast<void>(task.log().Fill());
  while (const std::optional<std::string> line = task.log().NextLine()) {
    if (running_ && &task == &tasks_.front()) {
      Tell(running_->client, LogLine(*line));
    } else {
      std::fputs((SafeText(*line) + "\n").c_str(), stderr);
    }
  }
}

// Passes on what a task sends to the client for which it works.
void ServeLoop::Pass(WarmTask& task, const std::string& line) {
  if (!running_ || &task != &tasks_.front()) return;
  const Result<ServeReply> reply = ParseReply(line);
  if (!reply) return Lost(reply.error().message);
  Tell(running_->client, line);
  if (reply->kind == Kind::kProgress || reply->kind == Kind::kLog) return;
  summary_.evaluations += reply->kind == Kind::kResult ? 1 : 0;
  Finish();
}

void ServeLoop::Lost(const std::string& why) {
  Tell(running_->client, LostLine(why));
  Finish();
}

void ServeLoop::Finish() {
  running_.reset();
  idle_since_ = Now();
  MakeRoom(limits_.tasks);
}

// Stops the least recently used tasks until at most `tasks` are left and they fit into the memory
// limit.
void ServeLoop::MakeRoom(std::size_t tasks) {
  const MemorySnapshot snapshot;
  std::size_t kept = 0;
  std::size_t memory = 0;
  for (WarmTask& task : tasks_) {
    if (task.stopping()) continue;
    memory += snapshot.TreeBytes(task.pid());
    if (++kept > tasks || memory > limits_.memory_bytes) task.Stop(Now() + kStopLimit);
  }
}

// Stops all tasks on the device. A task takes up to half of the device's memory, so only one is
// kept.
void ServeLoop::LeaveDevice() {
  for (WarmTask& task : tasks_) {
    if (task.on_device() && !task.stopping()) task.Stop(Now() + kStopLimit);
  }
}

// Removes tasks and clients that have ended.
void ServeLoop::Sweep() {
  if (!tasks_.empty() && running_ && !tasks_.front().Lives()) {
    Listen(tasks_.front());  // reads what it sent before it died
    if (running_) Lost("the process that judged has died");
  }
  std::erase_if(tasks_, [](WarmTask& task) { return !task.Lives(); });
  std::erase_if(clients_, [](const Client& client) {
    return client.number == 0 || (client.leaving && client.socket.unsent() == 0);
  });
}

bool ServeLoop::stopping() const { return std::ranges::any_of(tasks_, &WarmTask::stopping); }

ServeLoop::Client* ServeLoop::Find(std::int64_t client) {
  const auto found = std::ranges::find(clients_, client, &Client::number);
  return found == clients_.end() ? nullptr : &*found;
}

void ServeLoop::Tell(std::int64_t client, const std::string& line) {
  if (Client* found = Find(client)) found->socket.Send(line);
}

}  // namespace pragma
