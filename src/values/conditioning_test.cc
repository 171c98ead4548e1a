#include "values/conditioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace pragma {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::span<const std::byte> Bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

Movement Moved(const std::vector<double>& truth, const std::vector<double>& moved, double factor) {
  Movement movement(truth.size());
  movement.Add(Bytes(truth), Bytes(moved), factor);
  movement.Settle();
  return movement;
}

struct Case {
  TensorSpec spec{.name = "out", .dtype = DType::kFloat32, .shape = {4}};
  std::vector<float> actual{1, 2, 3, 4};
  std::vector<float> native{1, 2, 3, 4};
  std::vector<double> expected{1, 2, 3, 4};
  [[nodiscard]] OutputView view() const {
    return {.spec = &spec,
            .actual = Bytes(actual),
            .expected = Bytes(expected),
            .native = Bytes(native)};
  }
  [[nodiscard]] Comparison Run(const Movement& movement) const {
    return CompareConditioned(view(), {.rel = 1e-6, .rel_l2 = 1e-6}, movement);
  }
};

TEST(MovementTest, AllowsTheLargestOfAllCopiesEachWithItsFactor) {
  const std::vector<double> truth{1, 2, 3};
  Movement movement(3);
  movement.Add(Bytes(truth), Bytes(std::vector<double>{1, 2.25, 3}), 12);
  movement.Add(Bytes(truth), Bytes(std::vector<double>{1, 2.5, 4}), 2);
  EXPECT_DOUBLE_EQ(movement.Allowance(0), 0);
  EXPECT_DOUBLE_EQ(movement.Allowance(1), 3);
  EXPECT_DOUBLE_EQ(movement.Allowance(2), 2);
}

TEST(MovementTest, WhatIsNotFiniteAllowsNothing) {
  const Movement movement = Moved({1, kInfinity}, {kInfinity, 1}, 12);
  EXPECT_DOUBLE_EQ(movement.Allowance(0), 0);
  EXPECT_DOUBLE_EQ(movement.Allowance(1), 0);
}

std::span<const std::byte> BytesOf(const std::vector<std::int64_t>& integers) {
  return std::as_bytes(std::span(integers));
}

TEST(MovementTest, AnIntegerMayBeWhatItIsForAChangedCopyAndNothingElse) {
  const std::vector<std::int64_t> truth{3, 5, 7, 9};
  Movement movement(0);
  movement.AddIntegers(BytesOf(truth), BytesOf({5, 3, 7, 9}), 8);
  movement.AddIntegers(BytesOf(truth), BytesOf({3, 5, 8, 9}), 8);
  const std::vector<std::int64_t> actual{5, 8, 8, 10};
  const std::vector<std::byte> explained = movement.Explained(BytesOf(actual), BytesOf(truth), 8);
  const std::vector<std::int64_t> expected{3, 8, 7, 10};
  EXPECT_TRUE(std::ranges::equal(explained, BytesOf(expected)));
}

TEST(MovementTest, WhatIsTypicalIsAllowedEverywhere) {
  const Movement movement = Moved({0, 0, 0}, {0, 1, 1}, 2);
  EXPECT_DOUBLE_EQ(movement.Allowance(0), 0);
  EXPECT_DOUBLE_EQ(movement.AllowanceOrTypical(0), 2);
}

// The copy that was seen moves the third element; the kernel's choice moves another one as far.
TEST(CompareConditionedTest, WhereTheChoiceIsFreeAnotherElementMayJumpAsFar) {
  const Movement movement = Moved({1, 2, 3, 4}, {1, 2, 5, 4}, 2);
  const auto judged = [&](const std::vector<float>& actual) {
    Case one;
    one.actual = actual;
    return CompareConditioned(one.view(), {.rel = 1e-6, .rel_l2 = 1e-6}, movement, Jumps::kAnywhere)
        .ok;
  };
  EXPECT_TRUE(judged({1, 4, 3, 4}));
  EXPECT_TRUE(judged({1, 2, 3, 8}));
  EXPECT_FALSE(judged({1, 2, 3, 9}));  // farther than twice the copy's movement
  EXPECT_FALSE(judged({5, 6, 3, 4}));  // too far in all
  EXPECT_FALSE(judged({1, std::nanf(""), 3, 4}));
  Case same;
  same.actual = {1, 4, 3, 4};
  EXPECT_FALSE(same.Run(movement).ok);
}

TEST(CompareConditionedTest, AnElementThatJumpsMayLieOnEitherSide) {
  Case jumped;
  jumped.actual[2] = 5;
  EXPECT_FALSE(jumped.Run(Moved(jumped.expected, jumped.expected, 2)).ok);
  EXPECT_TRUE(jumped.Run(Moved(jumped.expected, {1, 2, 5, 4}, 2)).ok);
}

TEST(CompareConditionedTest, AJumpExplainsNoOtherElement) {
  Case wrong;
  wrong.actual[3] = 5;
  const Comparison compared = wrong.Run(Moved(wrong.expected, {1, 2, 5, 4}, 2));
  EXPECT_FALSE(compared.ok);
  EXPECT_THAT(compared.reason, HasSubstr("out[3]: got 5"));
}

TEST(WrongSmallValueTest, AZeroIsWrongUnlessTheTruthMoves) {
  Case zero;
  zero.expected[1] = 1e-9;
  zero.native[1] = 1e-9F;
  zero.actual[1] = 0;
  EXPECT_TRUE(WrongSmallValue(zero.view(), Moved(zero.expected, zero.expected, 12)).has_value());
  EXPECT_FALSE(WrongSmallValue(zero.view(), Moved(zero.expected, {1, 2e-9, 3, 4}, 12)).has_value());
}

// Rounding moves elements a little everywhere; only a jump says that a choice is free.
TEST(WrongSmallValueTest, WhereTheChoiceIsFreeOnlyAJumpExplainsASmallValue) {
  Case zero;
  zero.expected[1] = 1e-9;
  zero.native[1] = 1e-9F;
  zero.actual[1] = 0.5F;
  const auto wrong = [&](double moved_to) {
    const Movement movement = Moved(zero.expected, {1, 1e-9, 3, moved_to}, 2);
    return WrongSmallValue(zero.view(), movement, Jumps::kAnywhere).has_value();
  };
  EXPECT_FALSE(wrong(5));
  EXPECT_TRUE(wrong(4.2));  // a jump of less than half the error
  EXPECT_TRUE(wrong(4.000001));
}

}  // namespace
}  // namespace pragma
