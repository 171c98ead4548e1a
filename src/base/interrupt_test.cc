#include "base/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "base/deadline.h"

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

void StopByTheClock() {
  InstallInterruptHandlers();
  if (Interrupted()) std::_Exit(1);
  StopAt(After(Seconds{0.01}));
  pollfd waiter{.fd = InterruptFd(), .events = POLLIN, .revents = 0};
  if (::poll(&waiter, 1, 60'000) != 1 && !Interrupted()) std::_Exit(2);
  if (!TimeIsUp()) std::_Exit(3);
  ::raise(SIGINT);  // the user's first signal: nothing but another cause
  std::_Exit(Interrupted() && !TimeIsUp() ? 0 : 4);
}

// The death test runs in a process of its own, because the handlers and the flag are process-wide.
TEST(InterruptDeathTest, TheFirstSignalSetsTheFlagAndWakesWaiters) {
  EXPECT_EXIT(SignalOnce(), ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProgram) {
  EXPECT_EXIT(SignalTwice(), ::testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptDeathTest, TheClockAsksToStopAsTheUserDoes) {
  EXPECT_EXIT(StopByTheClock(), ::testing::ExitedWithCode(0), "");
}

TEST(DeadlineTest, WithoutALimitThereIsTimeForEver) {
  EXPECT_FALSE(Deadline::In(Seconds{0}).given());
  EXPECT_GT(Deadline().Left(), Seconds{1e300});
}

TEST(DeadlineTest, APartOfNoTimeIsNotForEver) {
  const Deadline over(TimePoint{});
  EXPECT_TRUE(over.Part(0.5).given());
  EXPECT_LT(over.Part(0.5).Left(), Seconds{1});
  EXPECT_GT(over.AtLeast(Seconds{60}).Left(), Seconds{50});
}

TEST(DeadlineTest, CountsDownToZeroAndNoFurther) {
  const TimePoint now{Nanoseconds{5'000'000'000}};
  const Deadline deadline(now + std::chrono::seconds(2));
  EXPECT_EQ(deadline.Left(now), Seconds{2});
  EXPECT_EQ(deadline.Left(now + std::chrono::seconds(3)), Seconds{0});
  EXPECT_EQ(deadline.Before(Seconds{1}).Left(now), Seconds{1});
  EXPECT_FALSE(Deadline().Before(Seconds{1}).given());
}

TEST(ClockTest, FormatsUtc) {
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatUtc(1772366400123), "2026-03-01T12:00:00Z");
}

}  // namespace
}  // namespace pragma
