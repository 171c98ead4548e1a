#include "task/doorbell.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

static_assert(offsetof(pragma_control, scramble) == 36);
static_assert(offsetof(pragma_control, repeat) == 48);
static_assert(offsetof(pragma_control, doorbell) == 64);
static_assert(offsetof(pragma_control, done) == 128);
static_assert(offsetof(pragma_control, sets) == 192);
static_assert(offsetof(pragma_control, message) == 448);
static_assert(offsetof(pragma_control, data_address) == 928);
static_assert(offsetof(pragma_control, set_count) == 960);
static_assert(offsetof(pragma_control, thread_data) == 1024);
static_assert(sizeof(pragma_control) == 5120);

// How often a waiter checks whether the other process has died. The interval does not delay an
// answer.
constexpr std::chrono::milliseconds kDeathCheck{20};
// A call that is over so soon is waited for even when the user wants to stop.
constexpr std::chrono::milliseconds kPatience{100};

void FutexWait(const std::uint32_t& word, std::uint32_t expected, Nanoseconds limit) {
  const timespec timeout{.tv_sec = limit.count() / 1'000'000'000,
                         .tv_nsec = limit.count() % 1'000'000'000};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void FutexWake(const std::uint32_t& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool Dead(int pidfd) {
  pollfd waiter{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&waiter, 1, 0) > 0;
}

}  // namespace

Result<Doorbell> Doorbell::Create(std::size_t offsets) {
  Doorbell doorbell(TRY(SharedMemory::Create(
      "pragma-control", sizeof(pragma_control) + offsets * sizeof(std::uint64_t))));
  doorbell.page().magic = PRAGMA_CONTROL_MAGIC;
  doorbell.page().version = PRAGMA_CONTROL_VERSION;
  if (auto sealed = doorbell.memory_.Seal(SealKind::kSizeOnly); !sealed)
    return std::unexpected(sealed.error());
  return doorbell;
}

Doorbell::Reply Doorbell::Ring(pragma_command command, std::span<const std::uint32_t> sets,
                               int pidfd, Seconds limit) {
  pragma_control& control = page();
  const std::size_t count = std::min<std::size_t>(sets.size(), PRAGMA_MAX_SETS);
  std::copy_n(sets.begin(), count, control.sets);
  control.command = static_cast<std::uint32_t>(command);
  control.count = static_cast<std::uint32_t>(count);
  control.scramble = std::exchange(scramble_next_, 0);
  control.repeat = std::exchange(repeat_next_, 0);
  const std::atomic_ref<std::uint32_t> bell(control.doorbell);
  const std::atomic_ref<std::uint32_t> done(control.done);
  const std::uint32_t ticket = bell.load(std::memory_order_relaxed) + 1;
  const auto start = std::chrono::steady_clock::now();
  bell.store(ticket, std::memory_order_release);
  FutexWake(control.doorbell);
  Reply reply;
  while (true) {
    const std::uint32_t seen = done.load(std::memory_order_acquire);
    const auto now = std::chrono::steady_clock::now();
    reply.elapsed = now - start;
    if (seen == ticket) break;
    if (reply.elapsed > limit) {
      reply.answer = Answer::kTimeout;
      return reply;
    }
    if (reply.elapsed > kPatience && Interrupted()) {
      reply.answer = Answer::kInterrupted;
      return reply;
    }
    if (reply.elapsed > kDeathCheck && Dead(pidfd) &&
        done.load(std::memory_order_acquire) != ticket) {
      reply.answer = Answer::kDied;
      return reply;
    }
    FutexWait(control.done, seen, kDeathCheck);
  }
  reply.result = control.result;
  reply.altered = control.command != static_cast<std::uint32_t>(command) ||
                  control.count != count ||
                  !std::ranges::equal(sets.first(count), std::span(control.sets).first(count));
  return reply;
}

std::string Doorbell::message() const {
  const char* text = page().message;
  return {text, ::strnlen(text, sizeof(pragma_control::message))};
}

}  // namespace pragma
