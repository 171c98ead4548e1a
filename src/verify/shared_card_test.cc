#include "verify/shared_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/evaluation.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;

Result<Evaluation> Ended(Status status, std::string reason = "") {
  return Evaluation{.status = status, .reason = std::move(reason)};
}

// A GPU on which evaluations end as they are listed.
struct FakeCard {
  std::vector<Result<Evaluation>> outcomes;
  bool neighbour = true;
  std::size_t judged = 0;
  int rooms = 0;

  Result<Evaluation> Judge() {
    return JudgeOnSharedCard({.judge = [this] { return outcomes.at(judged++); },
                              .has_neighbour = [this] { return neighbour; },
                              .make_room = [this]() -> Result<void> {
                                ++rooms;
                                return {};
                              }});
  }
};

TEST(SharedCardTest, JudgesOnceMoreWhereANeighbourTookTheMemory) {
  FakeCard card{.outcomes = {Ended(Status::kOutOfMemory), Ended(Status::kPassed)}};
  EXPECT_EQ(card.Judge()->status, Status::kPassed);
  EXPECT_EQ(card.rooms, 1);
}

TEST(SharedCardTest, AnErrorOfTheServerForLackOfMemoryIsTriedAgainToo) {
  FakeCard card{.outcomes = {Fail("OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"),
                             Ended(Status::kWrongValues)}};
  EXPECT_EQ(card.Judge()->status, Status::kWrongValues);
}

TEST(SharedCardTest, AKernelThatAsksForTooMuchAloneIsToldSo) {
  FakeCard card{.outcomes = {Ended(Status::kOutOfMemory)}, .neighbour = false};
  EXPECT_EQ(card.Judge()->status, Status::kOutOfMemory);
  EXPECT_EQ(card.judged, 1U);
}

TEST(SharedCardTest, OtherOutcomesAreNotRepeated) {
  for (const Status status : {Status::kPassed, Status::kWrongValues, Status::kCrashed}) {
    FakeCard card{.outcomes = {Ended(status, "an illegal address")}};
    EXPECT_EQ(card.Judge()->status, status);
    EXPECT_EQ(card.judged, 1U);
  }
}

TEST(SharedCardTest, ASecondLackOfMemoryIsNoVerdict) {
  FakeCard card{.outcomes = {Ended(Status::kCrashed, "RuntimeError: CUDA error: out of memory"),
                             Ended(Status::kOutOfMemory)}};
  const Result<Evaluation> outcome = card.Judge();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(outcome.error().message, HasSubstr("--devices"));
}

}  // namespace
}  // namespace pragma
