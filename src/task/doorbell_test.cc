#include "task/doorbell.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "base/shared_memory.h"
#include "base/subprocess.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

long Futex(const std::uint32_t& word, int operation, std::uint32_t value) {
  return ::syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// Plays the other process: serves `rings` commands and answers each with `result`.
void Serve(pragma_control& page, int rings, std::uint32_t result) {
  const std::atomic_ref<std::uint32_t> bell(page.doorbell);
  for (std::uint32_t served = 0; served < static_cast<std::uint32_t>(rings); ++served) {
    while (bell.load() == served) Futex(page.doorbell, FUTEX_WAIT, served);
    page.result = result;
    std::atomic_ref<std::uint32_t>(page.done).store(bell.load());
    Futex(page.done, FUTEX_WAKE, 1);
  }
}

int OwnPidfd() { return static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)); }

TEST(DoorbellTest, AnswersCarryTheResult) {
  Doorbell doorbell = Doorbell::Create().value();
  const UniqueFd alive(OwnPidfd());
  const std::jthread other([&] { Serve(doorbell.page(), 100, PRAGMA_RAISED); });
  for (int i = 0; i < 100; ++i) {
    const auto reply = doorbell.Ring(PRAGMA_EMPTY, {}, alive.get(), Seconds{60});
    ASSERT_EQ(reply.answer, Answer::kDone);
    EXPECT_EQ(reply.result, static_cast<std::uint32_t>(PRAGMA_RAISED));
    EXPECT_GT(reply.elapsed.count(), 0);
  }
}

TEST(DoorbellTest, TheOtherSideSeesCommandAndSets) {
  Doorbell doorbell = Doorbell::Create().value();
  const UniqueFd alive(OwnPidfd());
  const std::array<std::uint32_t, 3> sets{7, 1, 5};
  {
    const std::jthread other([&] { Serve(doorbell.page(), 1, PRAGMA_OK); });
    ASSERT_EQ(doorbell.Ring(PRAGMA_RUN, sets, alive.get(), Seconds{60}).answer, Answer::kDone);
  }
  EXPECT_EQ(doorbell.page().magic, PRAGMA_CONTROL_MAGIC);
  EXPECT_EQ(doorbell.page().command, static_cast<std::uint32_t>(PRAGMA_RUN));
  ASSERT_EQ(doorbell.page().count, 3U);
  EXPECT_EQ(std::memcmp(doorbell.page().sets, sets.data(), sizeof(sets)), 0);
}

TEST(DoorbellTest, MoreSetsThanThePageHoldsAreCutNotWrittenPastIt) {
  Doorbell doorbell = Doorbell::Create().value();
  const UniqueFd alive(OwnPidfd());
  const std::vector<std::uint32_t> sets(PRAGMA_MAX_SETS + 10, 0x01010101U);
  EXPECT_EQ(doorbell.Ring(PRAGMA_RUN, sets, alive.get(), Seconds{0}).answer, Answer::kTimeout);
  EXPECT_EQ(doorbell.page().count, static_cast<std::uint32_t>(PRAGMA_MAX_SETS));
  EXPECT_EQ(doorbell.message(), "");
}

TEST(DoorbellTest, ADeadOtherSideEndsTheWait) {
  Doorbell doorbell = Doorbell::Create().value();
  const Process process = Process::Spawn({.argv = {"/bin/sh", "-c", "exit 0"}}).value();
  EXPECT_EQ(doorbell.Ring(PRAGMA_RUN, {}, process.pidfd(), Seconds{60}).answer, Answer::kDied);
}

TEST(DoorbellTest, TheLimitEndsTheWait) {
  Doorbell doorbell = Doorbell::Create().value();
  const UniqueFd alive(OwnPidfd());
  const auto reply = doorbell.Ring(PRAGMA_RUN, {}, alive.get(), Seconds{0.05});
  EXPECT_EQ(reply.answer, Answer::kTimeout);
  EXPECT_GE(Seconds(reply.elapsed).count(), 0.05);
}

TEST(DoorbellTest, ARequestToStopEndsTheWait) {
  Doorbell doorbell = Doorbell::Create().value();
  const UniqueFd alive(OwnPidfd());
  SetInterruptedForTest(true);
  const auto reply = doorbell.Ring(PRAGMA_RUN, {}, alive.get(), Seconds{60});
  SetInterruptedForTest(false);
  EXPECT_EQ(reply.answer, Answer::kInterrupted);
}

TEST(DoorbellTest, AMessageWithoutItsEndStopsAtTheFieldsEnd) {
  const Doorbell doorbell = Doorbell::Create().value();
  std::memset(doorbell.page().message, 'x', sizeof(doorbell.page().message));
  doorbell.page().set_count = 0x41414141U;
  EXPECT_EQ(doorbell.message(), std::string(sizeof(doorbell.page().message), 'x'));
}

TEST(SharedMemoryTest, IsZeroAndRoundedUpToPages) {
  const SharedMemory memory = SharedMemory::Create("test", 1).value();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ASSERT_EQ(memory.size(), page);
  for (const std::byte byte : memory.bytes()) ASSERT_EQ(byte, std::byte{0});
}

TEST(SharedMemoryTest, SealedForFutureWritesOursStaysWritableAndNobodyGetsANewOne) {
  SharedMemory memory = SharedMemory::Create("test", 4096).value();
  ASSERT_TRUE(memory.Seal(SealKind::kFutureWrites));
  memory.data()[0] = std::byte{7};
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, memory.fd(), 0), MAP_FAILED);
  EXPECT_EQ(::ftruncate(memory.fd(), 0), -1);
  void* view = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, memory.fd(), 0);
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_EQ(*static_cast<unsigned char*>(view), 7);
  EXPECT_EQ(::mprotect(view, 4096, PROT_READ | PROT_WRITE), -1);
  ::munmap(view, 4096);
}

TEST(SharedMemoryTest, SealedInSizeItCannotBeCutShortOrUnsealed) {
  SharedMemory memory = SharedMemory::Create("test", 8192).value();
  ASSERT_TRUE(memory.Seal(SealKind::kSizeOnly));
  EXPECT_EQ(::ftruncate(memory.fd(), 4096), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_FALSE(memory.Seal(SealKind::kFutureWrites)) << "the seal is final";
}

TEST(SharedMemoryTest, MovingLeavesOneOwner) {
  SharedMemory first = SharedMemory::Create("test", 4096).value();
  std::byte* data = first.data();
  SharedMemory second = std::move(first);
  EXPECT_EQ(second.data(), data);
  second = SharedMemory::Create("other", 8192).value();
  EXPECT_EQ(second.size(), 8192U);
  second.data()[8191] = std::byte{1};
}

}  // namespace
}  // namespace pragma
