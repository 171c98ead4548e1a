// Tests the table of operators: each is spelled in every dialect.
#include "expert/ir/operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "expert/ir/expression.h"

namespace pragma::expert {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Operators, EachIsSpelledInEveryDialect) {
  for (int i = static_cast<int>(ExprOp::kNegate); i < static_cast<int>(ExprOp::kSelect); ++i) {
    const Operator* known = FindOperator(static_cast<ExprOp>(i));
    ASSERT_NE(known, nullptr) << "operator " << i;
    for (const ExprType type :
         {ExprType::kFloat, ExprType::kDouble, ExprType::kInt, ExprType::kBool}) {
      for (const Spelling* spelling : {&known->scalar, &known->triton}) {
        const std::string text = Spelled(spelling->For(type), {.x = "left", .y = "right"});
        EXPECT_THAT(text, Not(HasSubstr("{"))) << "operator " << i;
        if (known->arguments == 2) {
          EXPECT_THAT(text, HasSubstr("right")) << "operator " << i;
        }
      }
    }
  }
}

TEST(Operators, IntegersAreWrittenInTheirOwnWay) {
  const Operator& remainder = *FindOperator(ExprOp::kTruncRemainder);
  EXPECT_EQ(Spelled(remainder.scalar.For(ExprType::kInt), {.x = "a", .y = "b"}), "(a % b)");
  EXPECT_EQ(Spelled(remainder.scalar.For(ExprType::kFloat), {.x = "a", .y = "b"}),
            "std::fmod(a, b)");
  EXPECT_EQ(Spelled(FindOperator(ExprOp::kRound)->triton.For(ExprType::kInt), {.x = "a"}), "a");
}

}  // namespace
}  // namespace pragma::expert
