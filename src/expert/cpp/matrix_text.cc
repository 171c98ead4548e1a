#include "expert/cpp/matrix_text.h"

#include <string>
#include <string_view>

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/ir/program.h"

namespace pragma::expert {
namespace {

constexpr std::string_view kHead = R"(constexpr std::int64_t kOrder = @order@;  // rows of a matrix
constexpr std::int64_t kColumns = @columns@;  // of the right sides
constexpr std::int64_t kMatrices = @matrices@;
constexpr std::size_t kScratchBytes = 0;
using Number = @type@;
)";

// What solves with the factors of LU, and with a triangle alone.
constexpr std::string_view kSubstitution = R"(
// Solves L x = b, where L is below the diagonal, and writes x over b.
template <bool kUnit>
static inline void Forward(const Number* a, Number* b) {
  for (std::int64_t i = 0; i < kOrder; ++i) {
    for (std::int64_t k = 0; k < i; ++k)
      for (std::int64_t j = 0; j < kColumns; ++j)
        b[i * kColumns + j] -= a[i * kOrder + k] * b[k * kColumns + j];
    if constexpr (!kUnit)
      for (std::int64_t j = 0; j < kColumns; ++j) b[i * kColumns + j] /= a[i * kOrder + i];
  }
}
// Solves U x = b, where U is above the diagonal, and writes x over b.
template <bool kUnit>
static inline void Backward(const Number* a, Number* b) {
  for (std::int64_t i = kOrder; i-- > 0;) {
    for (std::int64_t k = i + 1; k < kOrder; ++k)
      for (std::int64_t j = 0; j < kColumns; ++j)
        b[i * kColumns + j] -= a[i * kOrder + k] * b[k * kColumns + j];
    if constexpr (!kUnit)
      for (std::int64_t j = 0; j < kColumns; ++j) b[i * kColumns + j] /= a[i * kOrder + i];
  }
}
)";

constexpr std::string_view kFactors = R"(
// Writes the factors of P A = L U to `a`. Row i of P A is row order[i] of A. Returns whether P is
// odd. A column of zeros is passed over, as LAPACK does.
static inline bool Factor(const Number* matrix, Number* a, std::int64_t* order) {
  bool odd = false;
  std::copy_n(matrix, kOrder * kOrder, a);
  for (std::int64_t i = 0; i < kOrder; ++i) order[i] = i;
  for (std::int64_t k = 0; k < kOrder; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < kOrder; ++i)
      if (std::abs(a[i * kOrder + k]) > std::abs(a[best * kOrder + k])) best = i;
    if (best != k) {
      for (std::int64_t j = 0; j < kOrder; ++j) std::swap(a[k * kOrder + j], a[best * kOrder + j]);
      std::swap(order[k], order[best]);
      odd = !odd;
    }
    if (a[k * kOrder + k] == 0) continue;
    for (std::int64_t i = k + 1; i < kOrder; ++i) {
      const Number factor = a[i * kOrder + k] / a[k * kOrder + k];
      a[i * kOrder + k] = factor;
      for (std::int64_t j = k + 1; j < kOrder; ++j)
        a[i * kOrder + j] -= factor * a[k * kOrder + j];
    }
  }
  return odd;
}
)";

constexpr std::string_view kInverseText = R"(
static void Run(const Number* matrices, Number* result, void*) {
@parallel@  for (std::int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    Number a[kOrder * kOrder];
    std::int64_t order[kOrder];
    Factor(matrices + matrix * kOrder * kOrder, a, order);
    Number* b = result + matrix * kOrder * kOrder;
    for (std::int64_t i = 0; i < kOrder; ++i)
      for (std::int64_t j = 0; j < kOrder; ++j) b[i * kOrder + j] = order[i] == j ? 1 : 0;
    Forward<true>(a, b);
    Backward<false>(a, b);
  }
}
)";

constexpr std::string_view kSolveText = R"(
static void Run(const Number* matrices, const Number* sides, Number* result, void*) {
@parallel@  for (std::int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    Number a[kOrder * kOrder];
    std::int64_t order[kOrder];
    Factor(matrices + matrix * kOrder * kOrder, a, order);
    const Number* from = sides + matrix * kOrder * kColumns;
    Number* b = result + matrix * kOrder * kColumns;
    for (std::int64_t i = 0; i < kOrder; ++i)
      std::copy_n(from + order[i] * kColumns, kColumns, b + i * kColumns);
    Forward<true>(a, b);
    Backward<false>(a, b);
  }
}
)";

// The sign of the determinant, the logarithm of its size, and itself.
constexpr std::string_view kDeterminantText = R"(
static void Run(const Number* matrices, Number* result, void*) {
@parallel@  for (std::int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    Number a[kOrder * kOrder];
    std::int64_t order[kOrder];
    const bool odd = Factor(matrices + matrix * kOrder * kOrder, a, order);
    Number product = odd ? -1 : 1, sign = product, logarithm = 0;
    for (std::int64_t i = 0; i < kOrder; ++i) {
      const Number pivot = a[i * kOrder + i];
      product *= pivot;
      sign *= pivot > 0 ? 1 : pivot < 0 ? -1 : pivot;
      logarithm += std::log(std::abs(pivot));
    }
    result[matrix * 3] = sign;
    result[matrix * 3 + 1] = logarithm;
    result[matrix * 3 + 2] = product;
  }
}
)";

// Reads what is not above the diagonal.
constexpr std::string_view kCholeskyText = R"(
static void Run(const Number* matrices, Number* result, void*) {
@parallel@  for (std::int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    const Number* a = matrices + matrix * kOrder * kOrder;
    Number* l = result + matrix * kOrder * kOrder;
    for (std::int64_t i = 0; i < kOrder; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        Number sum = a[i * kOrder + j];
        for (std::int64_t k = 0; k < j; ++k) sum -= l[i * kOrder + k] * l[j * kOrder + k];
        l[i * kOrder + j] = i == j ? std::sqrt(sum) : sum / l[j * kOrder + j];
      }
      for (std::int64_t j = i + 1; j < kOrder; ++j) l[i * kOrder + j] = 0;
    }
  }
}
)";

constexpr std::string_view kTriangleText = R"(
static void Run(const Number* matrices, const Number* sides, Number* result, void*) {
@parallel@  for (std::int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    Number* b = result + matrix * kOrder * kColumns;
    std::copy_n(sides + matrix * kOrder * kColumns, kOrder * kColumns, b);
    @direction@<@unit@>(matrices + matrix * kOrder * kOrder, b);
  }
}
)";

std::string BodyOf(Routine::Matrix what) {
  using enum Routine::Matrix;
  const std::string solving = std::string(kSubstitution) + std::string(kFactors);
  switch (what) {
    case kInverse: return solving + std::string(kInverseText);
    case kSolve: return solving + std::string(kSolveText);
    case kDeterminant: return std::string(kFactors) + std::string(kDeterminantText);
    case kCholesky: return std::string(kCholeskyText);
    default: return std::string(kSubstitution) + std::string(kTriangleText);
  }
}

}  // namespace

std::string MatrixText(const Routine& routine, DType dtype, const std::string& parallel) {
  const Places places{{"order", std::to_string(routine.length)},
                      {"columns", std::to_string(routine.kept)},
                      {"matrices", std::to_string(routine.outer)},
                      {"type", std::string(DTypeCppName(dtype))},
                      {"direction", routine.upper ? "Backward" : "Forward"},
                      {"unit", routine.unit ? "true" : "false"},
                      {"parallel", parallel}};
  return FillIn(std::string(kHead) + BodyOf(routine.matrix), places);
}

}  // namespace pragma::expert
