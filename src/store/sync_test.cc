// Tests which commits wait for the disk, by counting SQLite's calls of fdatasync.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "store/store.h"
#include "store/sync_turns.h"

namespace {

std::atomic<int> syncs = 0;  // NOLINT: counted where SQLite calls

}  // namespace

extern "C" int fdatasync(int fd) {
  static const auto real = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fdatasync"));
  ++syncs;
  return real(fd);
}

namespace pragma {
namespace {

using std::chrono::milliseconds;

TEST(SyncTurns, TheFirstIsSyncedAndThenOneAfterASecond) {
  const TimePoint start{};
  SyncTurns turns;
  EXPECT_EQ(turns.Next(start), Commits::kSynced);
  EXPECT_EQ(turns.Next(start), Commits::kUnsynced);
  EXPECT_EQ(turns.Next(start + milliseconds(999)), Commits::kUnsynced);
  EXPECT_EQ(turns.Next(start + milliseconds(1000)), Commits::kSynced);
  EXPECT_EQ(turns.Next(start + milliseconds(1001)), Commits::kUnsynced);
}

// Trials written in between leave the mode of the connection unchanged.
TEST(Syncs, WhatCostsMoneyOrEndsARunAlwaysWaitsForTheDisk) {
  const TempDir dir = TempDir::Create().value();
  Store store = Store::Open(dir.path()).value();
  const auto waits = [&](const auto& write) {
    const int before = syncs;
    const Result<void> written = write();
    EXPECT_TRUE(written) << written.error().message;
    return syncs > before;
  };
  int node = 0;
  const auto append = [&] {
    ++node;
    return store.AppendTrial("r", {.node = node, .parent = node - 1});
  };
  EXPECT_TRUE(waits([&] { return store.CreateRun({.id = "r", .task_json = "{}"}); }));
  EXPECT_TRUE(waits(append)) << "the first";
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(append());
    EXPECT_TRUE(
        waits([&] { return store.AppendCall({.run = "r", .node = node, .role = "coder"}); }));
    ASSERT_TRUE(append());
    const Trial amended{.node = node, .parent = node - 1, .best = true};
    EXPECT_TRUE(waits([&] { return store.AmendTrial("r", amended); }));
  }
  EXPECT_FALSE(store.AppendTrial("r", {.node = 1})) << "there is one";
  EXPECT_TRUE(waits([&] { return store.FinishRun("r", StopReason::kBudget, ""); }));
  EXPECT_TRUE(waits([&] { return store.PutFigure("key", "{}"); }));
}

}  // namespace
}  // namespace pragma
