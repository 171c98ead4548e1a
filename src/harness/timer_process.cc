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

Result<TimerProcess> TimerProcess::Start(TorchServer& server, const Ring& ring, std::size_t sets,
                                         TimerMode mode, Allocator allocator) {
  Doorbell control = TRY(Doorbell::Create());
  const auto& offsets = ring.placement().arguments;
  const auto last = offsets.begin() + static_cast<std::ptrdiff_t>(std::min(sets, offsets.size()));
  const TimerSpec spec{.mode = mode,
                       .allocator = allocator,
                       .inputs = &ring.inputs(),
                       .argument_offsets = {offsets.begin(), last},
                       .control_fd = control.fd()};
  TimerChild child = TRY(server.SpawnTimer(spec));
  return TimerProcess(
      std::make_unique<Peer>(std::move(control), child.host_pid, std::move(child.pidfd)));
}

Result<TimerProcess> TimerProcess::StartOnDevice(TorchServer& server, Referee& referee,
                                                 std::size_t area, TimerMode mode) {
  Doorbell control = TRY(Doorbell::Create());
  const Referee::SharedArea shared = TRY(referee.Share(area, Referee::AreaKind::kTorch));
  TimerChild child = TRY(
      server.SpawnTimer({.mode = mode, .area_fd = shared.end.get(), .control_fd = control.fd()}));
  return TimerProcess(
      std::make_unique<Peer>(std::move(control), child.host_pid, std::move(child.pidfd)));
}

TimerProcess::~TimerProcess() {
  // The zygote is the child's parent and reaps it. SIGKILL also ends a stopped process.
  if (peer_ != nullptr) peer_->Kill();
}

Result<void> TimerProcess::Load(Seconds limit) {
  if (auto sent = Send(PRAGMA_LOAD, {}, limit); !sent) return std::unexpected(sent.error());
  return {};
}

Result<Nanoseconds> TimerProcess::Run(std::span<const std::uint32_t> sets, Seconds limit) {
  return Send(PRAGMA_RUN, sets, limit);
}

Result<Nanoseconds> TimerProcess::RunEmpty(std::span<const std::uint32_t> sets, Seconds limit) {
  return Send(PRAGMA_EMPTY, sets, limit);
}

Result<void> TimerProcess::Wake(Seconds limit) {
  TRY(Send(PRAGMA_WAKE, {}, limit));
  return {};
}

Result<void> TimerProcess::Release(Seconds limit) {
  TRY(Send(PRAGMA_RELEASE, {}, limit));
  return {};
}

Result<Nanoseconds> TimerProcess::Send(pragma_command command, std::span<const std::uint32_t> sets,
                                       Seconds limit) {
  const PeerReply reply = peer_->Send(command, sets, limit);
  if (reply.ok()) return reply.elapsed;
  if (reply.answer == Answer::kDied) return Fail("the timing process of the reference died");
  if (reply.answer == Answer::kTimeout) {
    return Fail("the timing process of the reference gave no answer within " +
                FormatSeconds(limit.count()));
  }
  return Fail("the timing process of the reference failed: " + ToValidUtf8(reply.message));
}

}  // namespace pragma
