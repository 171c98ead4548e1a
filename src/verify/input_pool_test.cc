#include "verify/input_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "base/random.h"
#include "core/task.h"
#include "task/set_layout.h"

namespace pragma {
namespace {

constexpr std::int64_t kCount = 4000;
constexpr std::size_t kDrawn = 3;  // of the pool's sets; there was no time for two others

// A task with three inputs: signed values with a zero in every third place, positive values, and
// class indices.
Task MixedTask() {
  Task task;
  task.arguments = {{.name = "signed_values", .shape = {kCount}},
                    {.name = "positive", .shape = {kCount}},
                    {.name = "index", .dtype = DType::kInt64, .shape = {kCount}}};
  return task;
}

class SpliceTest : public ::testing::Test {
 protected:
  SpliceTest() : pool_(InputPool::Create(task_, kDrawn + 2).value()), layout_(PackedLayout(task_)) {
    Rng rng({3, 4});
    for (std::size_t draw = 0; draw < kDrawn; ++draw) {
      for (std::size_t i = 0; i < kCount; ++i) {
        Put<float>(draw, 0, i, i % 3 == 0 ? 0.0F : static_cast<float>(rng.Uniform() * 2 - 1));
        Put<float>(draw, 1, i, static_cast<float>(0.25 + rng.Uniform()));
        Put<std::int64_t>(draw, 2, i, static_cast<std::int64_t>(rng.Below(10)));
      }
      pool_.NoteDrawn(draw);
    }
  }

  template <class T>
  void Put(std::size_t draw, std::size_t tensor, std::size_t i, T value) {
    std::memcpy(pool_.memory().data() + pool_.offset(draw) + layout_.argument_offsets[tensor] +
                    i * sizeof(T),
                &value, sizeof(T));
  }
  template <class T>
  [[nodiscard]] std::vector<T> Spliced(std::size_t tensor) {
    std::vector<std::byte> packed(layout_.argument_bytes);
    pool_.Splice(task_, rng_, packed);
    std::vector<T> values(kCount);
    std::memcpy(values.data(), packed.data() + layout_.argument_offsets[tensor],
                kCount * sizeof(T));
    return values;
  }

  Task task_ = MixedTask();
  InputPool pool_;
  SetLayout layout_;
  Rng rng_{{5, 6}};
};

TEST_F(SpliceTest, KeepsZerosWhereTheyWereAndGivesNoValueTwice) {
  std::set<float> seen;
  for (int round = 0; round < 5; ++round) {
    const std::vector<float> values = Spliced<float>(0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % 3 == 0) {
        ASSERT_EQ(values[i], 0.0F);
      } else {
        seen.insert(values[i]);
      }
    }
  }
  // Random floats may collide by chance, but must not repeat systematically.
  EXPECT_GT(seen.size(), 5U * kCount * 2 / 3 * 99 / 100);
}

TEST_F(SpliceTest, KeepsPositiveValuesPositiveAndWithinRange) {
  for (const float value : Spliced<float>(1)) {
    ASSERT_GT(value, 0.12F);
    ASSERT_LT(value, 1.25F);
  }
}

TEST_F(SpliceTest, TakesIndicesWhole) {
  const std::vector<std::int64_t> index = Spliced<std::int64_t>(2);
  bool whole = false;
  for (std::size_t draw = 0; draw < pool_.drawn(); ++draw) {
    whole = whole || std::memcmp(index.data(), pool_.set(draw).data() + layout_.argument_offsets[2],
                                 kCount * 8) == 0;
  }
  EXPECT_TRUE(whole);
}

TEST_F(SpliceTest, FlipsSignsOfSignedDataOnly) {
  int flipped = 0;
  for (int round = 0; round < 20; ++round) {
    const std::vector<float> values = Spliced<float>(0);
    bool any = false;
    for (std::size_t i = 1; i < 17; ++i) {
      for (std::size_t draw = 0; draw < pool_.drawn(); ++draw) {
        float original = 0;
        std::memcpy(&original, pool_.set(draw).data() + layout_.argument_offsets[0] + i * 4, 4);
        const float ratio = values[i] / original;
        any = any || (ratio < -0.5F + 1e-6F && ratio >= -1.0F);
      }
    }
    flipped += any ? 1 : 0;
  }
  EXPECT_GT(flipped, 0);
}

}  // namespace
}  // namespace pragma
