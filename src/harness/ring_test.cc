#include "harness/ring.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/task.h"
#include "task/set_layout.h"

namespace pragma {
namespace {

Task SmallTask() {
  Task task;
  task.arguments = {{.name = "x", .shape = {5, 7}},
                    {.name = "w", .role = TensorRole::kParameter, .shape = {7}}};
  task.outputs = {{.name = "out", .role = TensorRole::kOutput, .shape = {5}}};
  return task;
}

TEST(PlaceRingTest, AlignsEveryTensorAndKeepsThemApart) {
  const Placement place = PlaceRing(SmallTask(), 3);
  std::vector<std::size_t> all;
  for (const auto& set : place.arguments) all.insert(all.end(), set.begin(), set.end());
  for (const std::size_t offset : all) EXPECT_EQ(offset % kTensorAlignment, 0U);
  std::ranges::sort(all);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i] - all[i - 1], 5U * 7 * 4);
}

TEST(PlaceRingTest, OddSetsEndAtAGuardPage) {
  const Placement place = PlaceRing(SmallTask(), 2);
  const std::size_t end = place.arguments[1][0] + 5UL * 7 * 4;
  const auto next =
      std::ranges::find_if(place.input_guards, [&](std::size_t guard) { return guard >= end; });
  ASSERT_NE(next, place.input_guards.end());
  EXPECT_LT(*next - end, kTensorAlignment);
  EXPECT_EQ(place.arguments[0][0] % 4096, 0U);
}

TEST(PlaceRingTest, SomeSetsBeginWhereMallocPutsLargeBlocks) {
  const Placement place = PlaceRing(SmallTask(), 4);
  EXPECT_EQ(place.arguments[2][0] % 4096, kTensorAlignment);
  EXPECT_EQ(place.outputs[2][0] % 4096, kTensorAlignment);
}

TEST(RingTest, FillPutsEachTensorWhereThePlacementSays) {
  const Task task = SmallTask();
  Ring ring = Ring::Create(task, 2).value();
  const SetLayout layout = PackedLayout(task);
  std::vector<std::byte> packed(layout.argument_bytes);
  for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<std::byte>(i);
  ring.Fill(task, 1, packed);
  const std::byte* w = ring.inputs().data() + ring.placement().arguments[1][1];
  EXPECT_EQ(std::memcmp(w, packed.data() + layout.argument_offsets[1], 7 * 4), 0);
}

TEST(RingTest, NobodyGetsAnotherWritableMapping) {
  const Ring ring = Ring::Create(SmallTask(), 2).value();
  const int fd = ring.inputs().fd();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  void* reading = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(reading, MAP_FAILED);
  EXPECT_NE(::mprotect(reading, 4096, PROT_READ | PROT_WRITE), 0);
  EXPECT_LT(::pwrite(fd, "x", 1, 0), 0);
  EXPECT_NE(::ftruncate(fd, 0), 0);
  ::munmap(reading, 4096);
}

}  // namespace
}  // namespace pragma
