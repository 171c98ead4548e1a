#include "base/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "base/clock.h"

namespace pragma {
namespace {

// Signal handlers can reach only globals, and may touch only lock-free atomics.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> interrupted{false};
std::atomic<bool> time_is_up{false};
std::atomic<int> alarms{1};
timer_t alarm_timer{};
constexpr itimerspec kDisarmed{};
std::atomic<int> wake_fd{-1};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void WakeWaiters() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_fd.load(), &one, sizeof(one));
}

void OnSignal(int signal) {
  if (interrupted.exchange(true)) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  WakeWaiters();
}

// A call that was about to block when the alarm came would not see it, so it comes a few times.
constexpr int kAlarms = 10;
constexpr long kBetweenAlarms = 200'000'000;  // ns

void OnAlarm(int /*signal*/) {
  if (time_is_up.exchange(true)) {
    if (++alarms == kAlarms) ::timer_settime(alarm_timer, 0, &kDisarmed, nullptr);
    return;
  }
  WakeWaiters();
}

void Handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void InstallInterruptHandlers() {
  wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Handle(SIGINT, OnSignal);
  Handle(SIGTERM, OnSignal);
  Handle(SIGALRM, OnAlarm);
  ::signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() { return interrupted.load() || time_is_up.load(); }
bool TimeIsUp() { return time_is_up.load() && !interrupted.load(); }

// The timer is never deleted. It ends with the program, and children do not inherit it.
void StopAt(TimePoint time) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  if (::timer_create(CLOCK_MONOTONIC, &event, &alarm_timer) != 0) return;
  const auto since = std::chrono::duration_cast<Nanoseconds>(time.time_since_epoch()).count();
  itimerspec when{};
  when.it_interval.tv_nsec = kBetweenAlarms;
  when.it_value = {.tv_sec = since / 1'000'000'000, .tv_nsec = since % 1'000'000'000};
  ::timer_settime(alarm_timer, TIMER_ABSTIME, &when, nullptr);
}

int InterruptFd() { return wake_fd.load(); }
void SetInterruptedForTest(bool value) { interrupted = value; }

}  // namespace pragma
