#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <cstdlib>

#include "base/clock.h"

namespace pragma {
namespace {

void SignalOnce() {
  InstallInterruptHandlers();
  if (Interrupted()) std::_Exit(1);
  ::raise(SIGINT);
  pollfd waiter{.fd = InterruptFd(), .events = POLLIN, .revents = 0};
  std::_Exit(Interrupted() && ::poll(&waiter, 1, 0) == 1 ? 0 : 2);
}

void SignalTwice() {
  InstallInterruptHandlers();
  ::raise(SIGTERM);
  ::raise(SIGTERM);
  std::_Exit(0);
}

// The death test runs in a process of its own, because the handlers and the flag are process-wide.
TEST(InterruptDeathTest, TheFirstSignalSetsTheFlagAndWakesWaiters) {
  EXPECT_EXIT(SignalOnce(), ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProgram) {
  EXPECT_EXIT(SignalTwice(), ::testing::KilledBySignal(SIGTERM), "");
}

TEST(ClockTest, FormatsUtc) {
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatUtc(1772366400123), "2026-03-01T12:00:00Z");
}

}  // namespace
}  // namespace pragma
