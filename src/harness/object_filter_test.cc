// Tests the filter against system calls of the candidate's own code, where the candidate's object
// lies across a 4 GiB boundary.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "worker/cpu/filter.h"
}

namespace pragma {
namespace {

#if defined(__x86_64__)

constexpr std::uintptr_t kBoundary = std::uintptr_t{0x300} << 32U;
constexpr std::size_t kPage = 4096;
constexpr unsigned char kGetPid[] = {0xb8, SYS_getpid, 0, 0, 0, 0x0f, 0x05, 0xc3};

using Function = int (*)();

// Maps code that calls getpid on the four pages around the boundary, and returns whether it could.
bool MapCode() {
  auto* start = reinterpret_cast<unsigned char*>(kBoundary - 2 * kPage);
  void* mapped = ::mmap(start, 4 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapped != start) return false;
  for (std::size_t page = 0; page < 4; ++page)
    std::memcpy(start + page * kPage, kGetPid, sizeof(kGetPid));
  return true;
}

// Filters the two pages beside the boundary as the object's, then calls the code of one page.
void CallFiltered(int page) {
  if (!MapCode() || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      pragma_filter_object(kBoundary - kPage, kBoundary + kPage - 1) != 0) {
    std::_Exit(2);
  }
  const std::uintptr_t at = kBoundary + static_cast<std::uintptr_t>(page) * kPage;
  std::_Exit(reinterpret_cast<Function>(at)() == ::getpid() ? 0 : 1);
}

TEST(ObjectFilterTest, ForbidsCallsOfTheObjectOnBothSidesOfABoundary) {
  EXPECT_EXIT(CallFiltered(-1), testing::KilledBySignal(SIGSYS), "");
  EXPECT_EXIT(CallFiltered(0), testing::KilledBySignal(SIGSYS), "");
}

TEST(ObjectFilterTest, AllowsCallsOfItsNeighboursOnBothSidesOfABoundary) {
  EXPECT_EXIT(CallFiltered(-2), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(CallFiltered(1), testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace pragma
