#include "machine/machine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

namespace pragma {
namespace {

using ::testing::HasSubstr;

TEST(MachineTest, DescribesThisOne) {
  const Machine machine = DescribeMachine().value();
  EXPECT_GE(machine.threads, 1);
  EXPECT_GT(machine.memory_bytes, 0U);
  EXPECT_EQ(machine.fingerprint.size(), 16U);
  EXPECT_EQ(machine.fingerprint, DescribeMachine()->fingerprint);
  EXPECT_THAT(machine.Summary(), HasSubstr("threads"));
}

TEST(MachineTest, MeasuresWithTheProbeAndSurvivesJson) {
  Machine machine = DescribeMachine().value();
  ASSERT_TRUE(MeasureMachine(machine, PRAGMA_BINARY_DIR).has_value());
  EXPECT_GT(machine.peak_gflops, 0);
  ASSERT_FALSE(machine.bandwidth.empty());
  const Machine read = MachineFromJson(MachineToJson(machine)).value();
  EXPECT_EQ(read.peak_gflops, machine.peak_gflops);
  EXPECT_GE(machine.bf16_gflops, 0);
  EXPECT_EQ(read.bf16_gflops, machine.bf16_gflops);
  EXPECT_EQ(read.bandwidth.size(), machine.bandwidth.size());
  EXPECT_EQ(read.last_level_cache_bytes(), machine.last_level_cache_bytes());
}

TEST(MachineTest, MeasuresMemoryAlone) {
  const auto memory = MeasureMemory(1, PRAGMA_BINARY_DIR);
  ASSERT_TRUE(memory.has_value()) << memory.error().message;
  EXPECT_EQ(memory->working_set_bytes, std::size_t{256} << 20U);
  EXPECT_GT(memory->read_gbs, 0);
  EXPECT_GT(memory->copy_gbs, 0);
  EXPECT_GT(memory->write_gbs, 0);
}

TEST(MachineTest, ReportsAMissingProbe) {
  Machine machine;
  machine.threads = 1;
  const auto measured = MeasureMachine(machine, "/nonexistent");
  ASSERT_FALSE(measured.has_value());
  EXPECT_THAT(measured.error().message, HasSubstr("pragma-probe"));
  EXPECT_FALSE(MeasureMemory(1, "/nonexistent").has_value());
}

TEST(MachineTest, BadJsonIsAnErrorNotAThrow) {
  EXPECT_FALSE(MachineFromJson("{").has_value());
  EXPECT_FALSE(MachineFromJson("{\"cpu\": 3}").has_value());
}

TEST(MachineTest, BetterFiguresTakesTheHigherOfEach) {
  Machine a;
  a.peak_gflops = 10;
  a.bandwidth = {{.working_set_bytes = 1, .read_gbs = 5, .copy_gbs = 1, .write_gbs = 3}};
  Machine b = a;
  b.peak_gflops = 8;
  b.bandwidth[0].copy_gbs = 4;
  const Machine better = BetterFigures(a, b);
  EXPECT_EQ(better.peak_gflops, 10);
  EXPECT_EQ(better.bandwidth[0].copy_gbs, 4);
  EXPECT_EQ(better.bandwidth[0].read_gbs, 5);
}

// Returns whether a child process can take the lock without waiting.
bool ChildWouldGet(int operation, const char* path = "/tmp/pragma-machine.lock") {
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(path, 0);
    ::_exit(::flock(fd, operation | LOCK_NB) == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(MachineLockTest, AnExclusiveHolderShutsOthersOut) {
  const MachineLock lock = MachineLock::Take(MachineLock::Kind::kExclusive).value();
  EXPECT_FALSE(ChildWouldGet(LOCK_SH));
  EXPECT_FALSE(ChildWouldGet(LOCK_EX));
}

TEST(MachineLockTest, ASharedHolderShutsOutOnlyTimers) {
  const MachineLock lock = MachineLock::Take(MachineLock::Kind::kShared).value();
  EXPECT_FALSE(ChildWouldGet(LOCK_EX));
}

TEST(MachineLockTest, TimersOfTwoGpusGoSideBySideAndKeepOthersOut) {
  const Device first{.number = "first-of-a-test"};
  const Device second{.number = "second-of-a-test"};
  const MachineLock one = MachineLock::Take(MachineLock::Kind::kExclusive, first).value();
  const MachineLock other = MachineLock::Take(MachineLock::Kind::kExclusive, second).value();
  EXPECT_FALSE(ChildWouldGet(LOCK_EX, "/tmp/pragma-machine.gate"));    // a working process would
                                                                       // have to wait
  EXPECT_FALSE(ChildWouldGet(LOCK_EX, "/tmp/pragma-machine.timers"));  // a timer on the processors
                                                                       // would have to wait
  EXPECT_FALSE(ChildWouldGet(LOCK_SH, "/tmp/pragma-device-first-of-a-test.lock"));
}

TEST(DeviceSeatTest, TheGpuWithFewerUsersIsTaken) {
  const std::vector<std::string> numbers{"third-of-a-test", "fourth-of-a-test"};
  const DeviceSeat first = DeviceSeat::Take(numbers).value();
  const DeviceSeat second = DeviceSeat::Take(numbers).value();
  const DeviceSeat third = DeviceSeat::Take(numbers).value();
  EXPECT_EQ(first.number(), numbers[0]);
  EXPECT_EQ(second.number(), numbers[1]);
  EXPECT_EQ(third.number(), numbers[0]);
}

Machine WithBandwidths(std::vector<Bandwidth> bandwidth) {
  Machine machine;
  machine.caches = {{.level = 3, .bytes = std::size_t{32} << 20U}};
  machine.bandwidth = std::move(bandwidth);
  return machine;
}

TEST(UsableLastLevelTest, IsAsDescribedUnlessTheBandwidthsContradict) {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  EXPECT_EQ(WithBandwidths({}).usable_last_level_bytes(), 32 * kMiB);
  EXPECT_EQ(
      WithBandwidths({{8 * kMiB, 100}, {24 * kMiB, 90}, {64 * kMiB, 19}}).usable_last_level_bytes(),
      32 * kMiB);
}

TEST(UsableLastLevelTest, LiesBetweenWhatIsServedAndWhatIsNot) {
  constexpr std::size_t kMiB = std::size_t{1} << 20U;
  const std::size_t usable =
      WithBandwidths({{1 * kMiB, 110}, {8 * kMiB, 100}, {24 * kMiB, 25}, {64 * kMiB, 19}})
          .usable_last_level_bytes();
  EXPECT_GT(usable, 8 * kMiB);
  EXPECT_LT(usable, 24 * kMiB);
}

}  // namespace
}  // namespace pragma
