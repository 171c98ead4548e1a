#include "harness/timer_process.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"
#include "harness/peer.h"
#include "harness/ring.h"
#include "task/doorbell.h"
#include "task/referee.h"
#include "task/torch_server.h"
#include "worker/protocol.h"

namespace pragma {

Result<TimerProcess> TimerProcess::Start(TorchServer& server, const Ring& ring,
                                         const TimerSettings& settings) {
  Doorbell control = TRY(Doorbell::Create());
  const auto& offsets = ring.placement().arguments;
  const std::size_t sets = std::min(settings.sets, offsets.size());
  const auto last = offsets.begin() + static_cast<std::ptrdiff_t>(sets);
  const TimerSpec spec{.mode = settings.mode,
                       .allocator = settings.allocator,
                       .as_call = settings.as_call,
                       .inputs = &ring.inputs(),
                       .argument_offsets = {offsets.begin(), last},
                       .control_fd = control.fd()};
  TimerChild child = TRY(server.SpawnTimer(spec));
  TimerProcess timer(
      std::make_unique<Peer>(std::move(control), child.host_pid, std::move(child.pidfd)), {});
  return timer;
}

Result<TimerProcess> TimerProcess::StartOnDevice(TorchServer& server, Referee& referee,
                                                 std::size_t area, TimerMode mode,
                                                 const Limits& limits) {
  Doorbell control = TRY(Doorbell::Create());
  const Referee::SharedArea shared = TRY(referee.Share(area, Referee::AreaKind::kTorch));
  TimerChild child = TRY(
      server.SpawnTimer({.mode = mode, .area_fd = shared.end.get(), .control_fd = control.fd()}));
  TimerProcess timer(
      std::make_unique<Peer>(std::move(control), child.host_pid, std::move(child.pidfd)), limits);
  timer.area_ = area;
  return timer;
}

TimerProcess::~TimerProcess() {
  // The zygote is the child's parent and reaps it. SIGKILL also ends a stopped process.
  if (peer_ != nullptr) peer_->Kill();
}

Result<ProcessFailure> TimerProcess::Load() { return Send(PRAGMA_LOAD, {}, limits_.load, nullptr); }

Result<ProcessFailure> TimerProcess::Run(std::span<const std::uint32_t> sets,
                                         Nanoseconds* elapsed) {
  return Send(PRAGMA_RUN, sets, limits_.burst, elapsed);
}

Result<ProcessFailure> TimerProcess::Repeat(std::uint32_t set, std::uint32_t times,
                                            Nanoseconds* elapsed) {
  peer_->doorbell().RepeatNext(times);
  looped_ = true;
  return Run({&set, 1}, elapsed);
}

Result<ProcessFailure> TimerProcess::RunEmpty(std::span<const std::uint32_t> sets,
                                              Nanoseconds* elapsed) {
  return Send(PRAGMA_EMPTY, sets, limits_.burst, elapsed);
}

Result<ProcessFailure> TimerProcess::Deliver(std::uint32_t set) {
  if (!std::exchange(looped_, false)) return ProcessFailure();
  return Send(PRAGMA_DELIVER, {&set, 1}, limits_.burst, nullptr);
}

Result<ProcessFailure> TimerProcess::Wake() {
  if (!area_) return ProcessFailure();
  return Send(PRAGMA_WAKE, {}, limits_.burst, nullptr);
}

Result<ProcessFailure> TimerProcess::Freeze() {
  TRY(peer_->Freeze());
  return ProcessFailure();
}

Result<void> TimerProcess::Release() {
  if (area_) TRY(Send(PRAGMA_RELEASE, {}, limits_.burst, nullptr));
  return {};
}

Result<ProcessFailure> TimerProcess::Send(pragma_command command,
                                          std::span<const std::uint32_t> sets, Seconds limit,
                                          Nanoseconds* elapsed) {
  const PeerReply reply = TRY(peer_->Send(command, sets, limit));
  if (elapsed != nullptr) *elapsed = reply.elapsed;
  if (reply.ok()) return ProcessFailure();
  if (reply.answer == Answer::kDied) return Fail("the timing process of the reference died");
  if (reply.answer == Answer::kTimeout) {
    return Fail("the timing process of the reference gave no answer within " +
                FormatSeconds(limit.count()));
  }
  return Fail("the timing process of the reference failed: " + ToValidUtf8(reply.message));
}

}  // namespace pragma
