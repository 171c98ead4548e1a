#include "values/comparator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "values/element.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
std::span<const std::byte> Bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

struct Case {
  TensorSpec spec{.name = "out", .dtype = DType::kFloat32, .shape = {2, 2}};
  std::vector<float> actual{1, 2, 3, 4};
  std::vector<double> expected{1, 2, 3, 4};
  [[nodiscard]] OutputView view() const {
    return {.spec = &spec, .actual = Bytes(actual), .expected = Bytes(expected), .native = {}};
  }
  [[nodiscard]] Comparison Run() const { return Compare(view(), {.rel = 1e-6, .rel_l2 = 1e-6}); }
};

TEST(CompareTest, PassesEqualValues) { EXPECT_TRUE(Case{}.Run().ok); }

TEST(CompareTest, NamesTheWorstElement) {
  Case wrong;
  wrong.actual[2] = 3.1F;
  const Comparison comparison = wrong.Run();
  EXPECT_FALSE(comparison.ok);
  EXPECT_THAT(comparison.error.at, ElementsAre(1, 0));
  EXPECT_NEAR(comparison.error.max_abs, 0.1, 1e-6);
  EXPECT_THAT(comparison.reason, HasSubstr("out[1, 0]: got 3.0"));
}

TEST(CompareTest, NanNeverPassesForANumber) {
  Case wrong;
  wrong.actual[1] = kNan;
  EXPECT_FALSE(wrong.Run().ok);
}

TEST(CompareTest, ANumberNeverPassesForNan) {
  Case wrong;
  wrong.expected[1] = std::nan("");
  EXPECT_FALSE(wrong.Run().ok);
}

TEST(CompareTest, NanAndInfinityPassWhereTheyBelong) {
  Case same;
  same.expected = {std::nan(""), -kInf, 3, 4};
  same.actual = {kNan, -kInf, 3, 4};
  EXPECT_TRUE(same.Run().ok);
  same.actual[1] = kInf;
  EXPECT_FALSE(same.Run().ok);
}

TEST(CompareTest, WhereTheTruthIsNotFiniteADifferenceCanBeCountedOnly) {
  Case other;
  other.expected = {std::nan(""), -kInf, 3, 4};
  other.actual = {0, -kInf, 3, 4};
  Tolerance tolerance{.rel = 1e-5, .rel_l2 = 1e-5};
  EXPECT_FALSE(Compare(other.view(), tolerance).ok);
  tolerance.where_finite = true;
  const Comparison counted = Compare(other.view(), tolerance);
  EXPECT_TRUE(counted.ok);
  EXPECT_THAT(counted.odd, HasSubstr("1 elements; first out[0, 0]: got 0, expected nan"));
  other.actual[2] = kInf;
  EXPECT_FALSE(Compare(other.view(), tolerance).ok);
}

TEST(CompareTest, TruthBeyondTheTypesRangeIsInfinity) {
  Case large;
  large.expected = {1e300, 2, 3, 4};
  large.actual = {kInf, 2, 3, 4};
  EXPECT_TRUE(large.Run().ok);
}

TEST(CompareTest, ZerosMustBeZeros) {
  Case zeros;
  zeros.expected = {0, 0, 0, 0};
  zeros.actual = {0, 0, 0, 0};
  EXPECT_TRUE(zeros.Run().ok);
  zeros.actual[3] = 1e-30F;
  EXPECT_FALSE(zeros.Run().ok);
}

TEST(CompareTest, IntegersMustBeEqualToTruthOrTorch) {
  const TensorSpec spec{.name = "index", .dtype = DType::kInt64, .shape = {3}};
  const std::vector<std::int64_t> truth{1, 2, 3};
  const std::vector<std::int64_t> torch{1, 5, 3};
  std::vector<std::int64_t> actual{1, 5, 3};
  EXPECT_FALSE(
      Compare({.spec = &spec, .actual = Bytes(actual), .expected = Bytes(truth), .native = {}}, {})
          .ok);
  EXPECT_TRUE(Compare({.spec = &spec,
                       .actual = Bytes(actual),
                       .expected = Bytes(truth),
                       .native = Bytes(torch)},
                      {})
                  .ok);
  actual[2] = 4;
  const Comparison wrong = Compare(
      {.spec = &spec, .actual = Bytes(actual), .expected = Bytes(truth), .native = Bytes(torch)},
      {});
  EXPECT_FALSE(wrong.ok);
  EXPECT_THAT(wrong.reason, HasSubstr("index[2]: got 4, expected 3"));
}

TEST(JudgeTest, APassMadeElsewhereIsJudgedLikeOneMadeHere) {
  const TensorSpec spec{.name = "out", .shape = {2, 2}};
  const auto text = [&](std::size_t flat) { return ElementAt(spec, flat, "got 9, expected 4"); };
  ErrorPass pass{.sum_squared_error = 1e-12, .sum_squared = 1, .max_scaled = 1e-6, .worst = 3};
  const Tolerance tolerance{.rel = 1e-5, .rel_l2 = 1e-5};
  EXPECT_TRUE(Judge(spec, pass, tolerance, text).ok);
  pass.max_scaled = 1e-4;
  const Comparison far = Judge(spec, pass, tolerance, text);
  EXPECT_FALSE(far.ok);
  EXPECT_THAT(far.reason, HasSubstr("worst at out[1, 1]: got 9, expected 4"));
  pass = {.mismatched = 2, .first_mismatch = 1};
  EXPECT_THAT(Judge(spec, pass, tolerance, text).reason, HasSubstr("2 elements are NaN"));
  pass.max_scaled = std::nan("");
  pass.mismatched = 0;
  EXPECT_FALSE(Judge(spec, pass, tolerance, text).ok);
}

TEST(ToleranceTest, ARunningSumIsHonestAndSixteenBitIsNot) {
  // Compares a plain float running sum of 4096 terms of one sign with the truth and with Torch's
  // better sum.
  constexpr int kTerms = 4096;
  constexpr int kRows = 256;
  const TensorSpec spec{.name = "out", .dtype = DType::kFloat32, .shape = {kRows}};
  std::vector<double> truth(kRows);
  std::vector<float> torch(kRows);
  std::vector<float> running(kRows);
  std::vector<float> coarse(kRows);
  std::uint32_t state = 1;
  for (std::size_t row = 0; row < kRows; ++row) {
    float sum = 0;
    double low = 0;
    for (int i = 0; i < kTerms; ++i) {
      state = state * 1664525U + 1013904223U;
      const auto term = static_cast<float>(state >> 8U) * 0x1p-24F;
      sum += term;
      truth[row] += static_cast<double>(term);
      low +=
          static_cast<double>(term) * (1 + 0x1p-10 * (static_cast<double>(state % 1000) / 500 - 1));
    }
    running[row] = sum;
    torch[row] = static_cast<float>(truth[row]);
    coarse[row] = static_cast<float>(low + low * 0x1p-9);
  }
  const OutputView own{
      .spec = &spec, .actual = {}, .expected = Bytes(truth), .native = Bytes(torch)};
  const Tolerance tolerance = DeriveTolerance(own, {.count = kTerms});
  OutputView view = own;
  view.actual = Bytes(running);
  EXPECT_TRUE(Compare(view, tolerance).ok) << Compare(view, tolerance).reason;
  view.actual = Bytes(coarse);
  EXPECT_FALSE(Compare(view, tolerance).ok);
}

TEST(ToleranceTest, EqualTermsAreRoundedTheSameWayEachTime) {
  constexpr int kTerms = 20000;
  const TensorSpec spec{.name = "out", .dtype = DType::kFloat32, .shape = {}};
  const float term = std::log(2.0F);
  std::vector<float> running(1);
  for (int i = 0; i < kTerms; ++i) running[0] += term;
  const std::vector<double> truth{static_cast<double>(term) * kTerms};
  const std::vector<float> torch{static_cast<float>(truth[0])};
  const OutputView own{
      .spec = &spec, .actual = {}, .expected = Bytes(truth), .native = Bytes(torch)};
  OutputView view = own;
  view.actual = Bytes(running);
  EXPECT_FALSE(Compare(view, DeriveTolerance(own, {.count = kTerms})).ok);
  EXPECT_TRUE(Compare(view, DeriveTolerance(own, {.count = kTerms, .repeat = true})).ok);
  // No matter how many terms there are, lower precision is still detected.
  const std::vector<float> coarse{torch[0] * (1 + 0x1p-9F)};
  view.actual = Bytes(coarse);
  EXPECT_FALSE(Compare(view, DeriveTolerance(own, {.count = 1 << 20, .repeat = true})).ok);
}

TEST(WorstOfTest, WhatAnyOutputShowsIsKeptBesideTheLeastExactOnesFigures) {
  const std::vector<Comparison> outputs{
      {.ok = true, .small_values = true, .error = {.rel_l2 = 1e-7}},
      {.ok = true, .error = {.rel_l2 = 1e-3}},
      {.ok = true, .error = {.rel_l2 = 1e-5}, .odd = "1 elements"}};
  const auto judge = [&](std::size_t i) { return outputs[i]; };
  const Comparison worst = WorstOf(outputs.size(), judge);
  EXPECT_EQ(worst.error.rel_l2, 1e-3);
  EXPECT_TRUE(worst.small_values);
  EXPECT_EQ(worst.odd, "1 elements");
}

TEST(OfficialTest, FollowsKernelBenchAndRejectsNan) {
  const TensorSpec spec{.name = "out", .dtype = DType::kFloat32, .shape = {2}};
  const std::vector<float> torch{1, 0};
  std::vector<float> actual{1.00015F, 0.00009F};
  const auto official = [&] {
    return OfficiallyCorrect(
        {.spec = &spec, .actual = Bytes(actual), .expected = {}, .native = Bytes(torch)});
  };
  EXPECT_TRUE(official());
  actual[1] = 0.00011F;
  EXPECT_FALSE(official());
  actual[1] = kNan;
  EXPECT_FALSE(official());
}

TEST(ElementTest, ReadsHalfPrecision) {
  EXPECT_EQ(Float16ToDouble(0x3C00), 1);
  EXPECT_EQ(Float16ToDouble(0xC000), -2);
  EXPECT_EQ(Float16ToDouble(0x0001), std::ldexp(1, -24));
  EXPECT_TRUE(std::isinf(Float16ToDouble(0x7C00)));
  EXPECT_TRUE(std::isnan(Float16ToDouble(0x7C01)));
  EXPECT_EQ(BFloat16ToDouble(0x3F80), 1);
}

}  // namespace
}  // namespace pragma
