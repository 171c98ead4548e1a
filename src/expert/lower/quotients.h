// Quotients and remainders as Torch rounds them.
#pragma once

#include "expert/ir/expression.h"

namespace pragma::expert {

// A quotient that a task asks for by itself is rounded as Torch rounds it: it may lie where the
// next operator rounds to an integer.
[[nodiscard]] ExprPtr Quotient(const ExprPtr& a, const ExprPtr& b);
// Multiplies by the inverse where that is exact.
[[nodiscard]] ExprPtr QuotientBy(const ExprPtr& a, const ExprPtr& b);
// As in Python, the result has the divisor's sign.
[[nodiscard]] ExprPtr Remainder(const ExprPtr& x, const ExprPtr& y);
// As Python's floor division: the quotient of what the remainder leaves. So it is right where x / y
// rounds up to the next whole number, and for infinite divisors.
[[nodiscard]] ExprPtr FloorQuotient(const ExprPtr& x, const ExprPtr& y);

}  // namespace pragma::expert
