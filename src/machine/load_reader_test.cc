#include "machine/load_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"

namespace pragma {
namespace {

// A machine whose files the test writes.
struct FakeMachine {
  TempDir folder = TempDir::Create().value();

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder.path() / name;
    ASSERT_TRUE(MakeDirectories(path.parent_path()));
    ASSERT_TRUE(WriteFileAtomic(path, text));
  }
  [[nodiscard]] LoadReading Read(const std::vector<int>& processors = {0, 1}) const {
    return LoadReader(folder.path(), folder.path(), processors).Read();
  }
};

TEST(LoadReaderTest, EachFileGivesItsFigure) {
  const FakeMachine machine;
  machine.Write("stat",
                "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 20 30 5000 70 4 6 80 900 0\n"
                "cpu1 10 0 0 0 0 0 0 1 0 0\nintr 12 0\nprocs_running 3\nprocs_blocked 0\n");
  machine.Write("pressure/cpu",
                "some avg10=1.00 avg60=2.00 avg300=3.00 total=2500000\n"
                "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n");
  machine.Write("cpu0/cpufreq/scaling_cur_freq", "2400000\n");
  const LoadReading reading = machine.Read();
  EXPECT_DOUBLE_EQ(reading.busy_seconds, 1.7);
  EXPECT_DOUBLE_EQ(reading.steal_seconds, 0.81);
  EXPECT_EQ(reading.runnable, 2);
  ASSERT_TRUE(reading.pressure_seconds);
  EXPECT_DOUBLE_EQ(*reading.pressure_seconds, 2.5);
  EXPECT_DOUBLE_EQ(reading.mhz, 2400);
  EXPECT_GT(reading.own_seconds, 0);
}

TEST(LoadReaderTest, WhatTheSystemDoesNotHaveIsLeftOut) {
  const LoadReading reading = FakeMachine().Read();
  EXPECT_EQ(reading.busy_seconds, 0);
  EXPECT_EQ(reading.runnable, 0);
  EXPECT_FALSE(reading.pressure_seconds);
  EXPECT_EQ(reading.mhz, 0);
}

TEST(LoadReaderTest, ALongTableOfInterruptsIsReadToItsEnd) {
  const FakeMachine machine;
  machine.Write("stat",
                "cpu  1 0\ncpu0 1 0\nintr " + std::string(100'000, '0') + "\nprocs_running 5\n");
  EXPECT_EQ(machine.Read().runnable, 4);
}

TEST(LoadReaderTest, OnlyTheProcessorsThatItMayUseCount) {
  const FakeMachine machine;
  machine.Write("stat",
                "cpu  110 0 0 0 0 0 0 0 0 0\ncpu0 100 0 0 0 0 0 0 0 0 0\n"
                "cpu1 10 0 0 0 0 0 0 0 0 0\nprocs_running 7\n");
  const LoadReading reading = machine.Read({1});
  EXPECT_DOUBLE_EQ(reading.busy_seconds, 0.1);
  EXPECT_EQ(reading.runnable, 0);
}

TEST(LoadReaderTest, ThisMachineIsBusyWhileItReads) {
  EXPECT_GT(LoadReader().Read().busy_seconds, 0);
}

}  // namespace
}  // namespace pragma
