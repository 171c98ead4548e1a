#include "machine/device_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "base/interrupt.h"

namespace pragma {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30U;

TEST(DeviceMemoryRoom, TwoOfTwentyGigabytesWorkOnEighty) {
  EXPECT_TRUE(HasRoom({.total = 80 * kGiB, .used = 22 * kGiB, .promised = 22 * kGiB}, 22 * kGiB));
  EXPECT_FALSE(HasRoom({.total = 80 * kGiB, .used = 66 * kGiB, .promised = 66 * kGiB}, 22 * kGiB));
}

TEST(DeviceMemoryRoom, WhatWasPromisedCountsBeforeItIsTaken) {
  EXPECT_FALSE(HasRoom({.total = 80 * kGiB, .used = kGiB, .promised = 70 * kGiB}, 22 * kGiB));
}

TEST(DeviceMemoryRoom, AStrangersMemoryCounts) {
  EXPECT_FALSE(HasRoom({.total = 80 * kGiB, .used = 70 * kGiB, .promised = 0}, 22 * kGiB));
}

TEST(DeviceMemoryRoom, WhoHasTheDeviceAloneNeverWaits) {
  EXPECT_TRUE(HasRoom({.total = 8 * kGiB, .used = kGiB / 2}, 22 * kGiB));
  EXPECT_FALSE(HasNeighbour({.total = 80 * kGiB, .used = kGiB}));
  EXPECT_TRUE(HasNeighbour({.total = 80 * kGiB, .used = 4 * kGiB}));
  EXPECT_TRUE(HasNeighbour({.total = 80 * kGiB, .promised = 1}));
}

// Shares of a device that does not exist, so that no other test has any of it.
class DeviceMemoryShareTest : public testing::Test {
 protected:
  ~DeviceMemoryShareTest() override {
    SetInterruptedForTest(false);
    for (const auto& entry : std::filesystem::directory_iterator("/tmp"))
      if (entry.path().filename().string().starts_with("pragma-device-" + device_.number))
        std::filesystem::remove(entry.path());
  }
  // Runs `body` in another process. Returns whether it succeeded.
  template <class Body>
  static bool Elsewhere(Body body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body() ? 0 : 1);
    int status = 1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  SharedDevice device_{
      .number = "test-" + std::to_string(::getpid()), .total = 80 * kGiB, .used = {}};
};

TEST_F(DeviceMemoryShareTest, AnotherProcessSeesThePromiseUntilItsHolderIsGone) {
  std::optional<DeviceMemoryShare> share = DeviceMemoryShare::Take(device_, 60 * kGiB).value();
  EXPECT_TRUE(Elsewhere([&] { return DeviceMemoryShare::Look(device_)->promised == 60 * kGiB; }));
  share.reset();
  EXPECT_TRUE(Elsewhere([&] { return DeviceMemoryShare::Look(device_)->promised == 0; }));
}

TEST_F(DeviceMemoryShareTest, AnotherProcessWaitsWhereThereIsNoRoom) {
  const DeviceMemoryShare share = DeviceMemoryShare::Take(device_, 60 * kGiB).value();
  // The request to stop is what ends the wait here.
  EXPECT_TRUE(Elsewhere([&] {
    SetInterruptedForTest(true);
    const auto other = DeviceMemoryShare::Take(device_, 30 * kGiB);
    return !other && other.error().kind == ErrorKind::kInterrupted;
  }));
  EXPECT_TRUE(Elsewhere([&] { return DeviceMemoryShare::Take(device_, 10 * kGiB).has_value(); }));
}

TEST_F(DeviceMemoryShareTest, AFurtherShareOfTheSameProcessDoesNotWait) {
  const DeviceMemoryShare first = DeviceMemoryShare::Take(device_, 60 * kGiB).value();
  EXPECT_TRUE(DeviceMemoryShare::Take(device_, 60 * kGiB).has_value());
}

TEST_F(DeviceMemoryShareTest, TheDriverIsAskedForTheMemoryOfStrangers) {
  device_.used = [] { return 75 * kGiB; };
  SetInterruptedForTest(true);
  EXPECT_EQ(DeviceMemoryShare::Take(device_, 10 * kGiB).error().kind, ErrorKind::kInterrupted);
}

}  // namespace
}  // namespace pragma
