// Tests the vector preamble, built by real compilers for each vector width that this machine can
// run, against libm in double precision.
#include "expert/cpp/vector_preamble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "expert/cpp/vector_text.h"
#include "expert/ir/operators.h"

namespace pragma::expert {
namespace {

using testing::HasSubstr;
using testing::Not;

// The program prints one line for each result that is not as promised.
constexpr const char* kProgram = R"(
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

static std::int64_t Key(float x) {
  std::int32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits < 0 ? std::int64_t{-2147483648} - bits : bits;
}
static float FromKey(std::int64_t key) {
  const std::int32_t bits = static_cast<std::int32_t>(key < 0 ? -2147483648 - key : key);
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
static void Complain(const char* name, float x, double got, double wanted) {
  std::printf("%s(%.9g) = %.9g, should be %.9g\n", name, x, got, wanted);
}

// Errors below the smallest normal number are none.
template <class Vector, class Truth>
static void Check(const char* name, Vector vector, Truth truth, double most_ulps,
                  float from = -INFINITY, float to = INFINITY) {
  const std::int64_t step = std::max<std::int64_t>(1, (Key(to) - Key(from)) / 300000);
  for (std::int64_t key = Key(from); key <= Key(to); key += step) {
    const float x = FromKey(key);
    const float got = vector(Broadcast(x))[key % kLanes < 0 ? 0 : key % kLanes];
    const double wanted = truth(static_cast<double>(x));
    const float nearest = static_cast<float>(wanted);
    if (std::isnan(nearest) ? std::isnan(got) : got == nearest) continue;
    const float size = std::max(std::fabs(nearest), 1.17549435e-38f);
    const double ulp = size == 1.17549435e-38f ? size : std::nextafterf(size, INFINITY) - size;
    if (std::fabs(got - wanted) <= most_ulps * ulp) continue;
    return Complain(name, x, got, wanted);
  }
}

static void CheckParts() {
  volatile float minus_zero = -0.0f;
  if (!std::signbit(Broadcast(minus_zero)[0])) Complain("Broadcast", minus_zero, 0, -0.0);
  for (std::int64_t n = 0; n <= kLanes; ++n) {
    float from[kLanes], to[kLanes];
    for (std::int64_t i = 0; i < kLanes; ++i) from[i] = static_cast<float>(i + 1), to[i] = -1;
    const Vec v = LoadPart(from, n, Broadcast(7));
    StorePart(to, v, n);
    for (std::int64_t i = 0; i < kLanes; ++i) {
      if (v[i] != (i < n ? from[i] : 7)) Complain("LoadPart", from[i], v[i], n);
      if (to[i] != (i < n ? from[i] : -1)) Complain("StorePart", from[i], to[i], n);
    }
  }
}

// The lanes of a window that hangs over either end of a row.
static void CheckInside() {
  float storage[16 * kLanes];
  for (std::int64_t i = 0; i < 16 * kLanes; ++i) storage[i] = static_cast<float>(i);
  const std::int64_t limit = 2 * kLanes + 3;
  for (const std::int64_t stride : {1, 2, 3, 4, 5})
    for (std::int64_t at = -kLanes; at < limit + 2; ++at)
      for (const std::int64_t n : {std::int64_t{1}, kLanes - 1, kLanes}) {
        const Vec inside = LoadInside(storage + 5 * kLanes + at, stride, at, stride, limit, 9.5f, n);
        for (std::int64_t i = 0; i < n; ++i) {
          const std::int64_t index = at + i * stride;
          const float wanted = index >= 0 && index < limit ? static_cast<float>(5 * kLanes + index) : 9.5f;
          if (inside[i] != wanted) Complain("LoadInside", static_cast<float>(at), inside[i], wanted);
        }
      }
}

static void CheckMoves() {
  float from[6 * kLanes], to[2 * kLanes];
  bool flags[kLanes];
  for (std::int64_t i = 0; i < 6 * kLanes; ++i) from[i] = static_cast<float>(i);
  for (std::int64_t i = 0; i < 2 * kLanes; ++i) to[i] = -1;
  for (std::int64_t i = 0; i < kLanes; ++i) flags[i] = i % 3 == 0;
  const Vec scanned = ScanLanes(Load(from), 0.0f, [](Vec a, Vec b) { return a + b; });
  const Vec flag = Select(LoadMask(flags, kLanes), Broadcast(1), Vec{});
  StoreStrided(to + 2 * kLanes - 1, -1, Load(from), kLanes);
  for (std::int64_t i = 0; i < kLanes; ++i) {
    for (const std::int64_t stride : {-1, 1, 2, 3, 4, 5}) {
      const float* p = stride < 0 ? from + kLanes - 1 : from;
      for (std::int64_t n = 1; n <= kLanes; ++n)
        if (LoadStrided(p, stride, n)[i] != (i < n ? p[i * stride] : 0)) Complain("LoadStrided", i, stride, n);
    }
    if (to[2 * kLanes - 1 - i] != from[i]) Complain("StoreStrided", i, to[i], from[i]);
    if (scanned[i] != i * (i + 1) / 2) Complain("ScanLanes", i, scanned[i], i);
    if (flag[i] != flags[i]) Complain("LoadMask", i, flag[i], flags[i]);
  }
  for (const std::int64_t step : {-2, -1, 1, 3})
    for (std::int64_t start = -7; start < 12; ++start) {
      std::int64_t first = 5, end = 0;
      for (std::int64_t r = 4; r >= 0; --r)
        if (start + r * step >= 0 && start + r * step < 6) first = r, end = end ? end : r + 1;
      const std::int64_t a = FirstInside(start, step, 6), b = EndInside(start, step, 6, 5);
      if (first < end ? a != first || b != end : a < b) Complain("Inside", start, a, b);
    }
}

static void CheckLanes() {
  Vec v;
  for (std::int64_t i = 0; i < kLanes; ++i) v[i] = static_cast<float>((i * 5) % kLanes) - 1;
  const float n = kLanes;
  if (SumLanes(v) != n * (n - 1) / 2 - n) Complain("SumLanes", 0, SumLanes(v), 0);
  if (MinLanes(v) != -1) Complain("MinLanes", 0, MinLanes(v), -1);
  if (MaxLanes(v) != n - 2) Complain("MaxLanes", 0, MaxLanes(v), n - 2);
  if (ProductLanes(v + 2.0f - v) != std::exp2(n)) Complain("ProductLanes", 2, ProductLanes(v), 0);
  v[kLanes / 2] = NAN;
  if (!std::isnan(MaxLanes(v)) || !std::isnan(MinLanes(v))) Complain("NaN in lanes", 0, 0, 0);
  const Vec one = Broadcast(1), nan = Broadcast(NAN);
  if (!std::isnan(KeepMax(nan, one)[0]) || !std::isnan(KeepMin(one, nan)[0])) Complain("Keep", 0, 0, 0);
  alignas(64) float streamed[kLanes];
  Stream(streamed, one * 3.0f);
  StreamEnd();
  if (streamed[kLanes - 1] != 3) Complain("Stream", 3, streamed[0], 3);
}

int main() {
  Check("Exp", [](Vec v) { return Exp(v); }, [](double x) { return std::exp(x); }, 1);
  Check("Exp", [](Vec v) { return Exp(v); }, [](double x) { return std::exp(x); }, 1, -90, 90);
  Check("ExpMinus1", [](Vec v) { return ExpMinus1(v); }, [](double x) { return std::expm1(x); }, 2);
  Check("ExpMinus1", [](Vec v) { return ExpMinus1(v); }, [](double x) { return std::expm1(x); }, 2, -3, 3);
  Check("ExpMinus1", [](Vec v) { return ExpMinus1(v); }, [](double x) { return std::expm1(x); }, 2, 80, 90);
  Check("Log", [](Vec v) { return Log(v); }, [](double x) { return std::log(x); }, 1);
  Check("Log", [](Vec v) { return Log(v); }, [](double x) { return std::log(x); }, 1, 0.4f, 2.5f);
  Check("Log1p", [](Vec v) { return Log1p(v); }, [](double x) { return std::log1p(x); }, 3, -0.3f);
  Check("ExpNegative", [](Vec v) { return ExpNegative(v); }, [](double x) { return std::exp(x); }, 1, -INFINITY, 0);
  Check("ExpNegative", [](Vec v) { return ExpNegative(v); }, [](double x) { return std::exp(x); }, 1, -90, 0);
  if (ExpNegative(Broadcast(-INFINITY))[0] != 0) Complain("ExpNegative", -INFINITY, 1, 0);
  if (!std::isnan(ExpNegative(Broadcast(NAN))[0])) Complain("ExpNegative", NAN, 0, NAN);
  Check("Tanh", [](Vec v) { return Tanh(v); }, [](double x) { return std::tanh(x); }, 2);
  Check("Tanh", [](Vec v) { return Tanh(v); }, [](double x) { return std::tanh(x); }, 2, 0.3f, 9);
  Check("Tanh", [](Vec v) { return Tanh(v); }, [](double x) { return std::tanh(x); }, 2, -9, -0.01f);
  if (std::fabs(Tanh(Broadcast(1e30f))[0]) > 1) Complain("Tanh", 1e30f, Tanh(Broadcast(1e30f))[0], 1);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  Check("Sigmoid", [](Vec v) { return Sigmoid(v); }, sigmoid, 3);
  Check("Sigmoid", [](Vec v) { return Sigmoid(v); }, sigmoid, 3, -87, 80);
  Check("Erf", [](Vec v) { return Erf(v); }, [](double x) { return std::erf(x); }, 2.1);
  Check("Erf", [](Vec v) { return Erf(v); }, [](double x) { return std::erf(x); }, 2.1, 0.3f, 5);
  const auto below = [](double x) { return std::erfc(-x * std::sqrt(0.5)) / 2; };
  Check("NormalCdf", [](Vec v) { return NormalCdf(v); }, below, 9, 0);
  Check("NormalCdf", [](Vec v) { return NormalCdf(v); }, below, 9, 0.01f, 6);
  const auto above = [](Vec v) { return 1.0f - NormalCdf(v); };
  Check("1 - NormalCdf", above, [&](double x) { return 1 - below(x); }, 9, -INFINITY, 0);
  Check("1 - NormalCdf", above, [&](double x) { return 1 - below(x); }, 9, -6, -0.01f);
  Check("Sqrt", [](Vec v) { return Sqrt(v); }, [](double x) { return std::sqrt(x); }, 0.51);
  Check("RoundEven", [](Vec v) { return RoundEven(v); }, [](double x) { return std::nearbyint(x); }, 0);
  Check("Floor", [](Vec v) { return Floor(v); }, [](double x) { return std::floor(x); }, 0);
  Check("Ceil", [](Vec v) { return Ceil(v); }, [](double x) { return std::ceil(x); }, 0);
  Check("Trunc", [](Vec v) { return Trunc(v); }, [](double x) { return std::trunc(x); }, 0);
  Check("Abs", [](Vec v) { return Abs(v); }, [](double x) { return std::fabs(x); }, 0);
  CheckParts();
  CheckMoves();
  CheckInside();
  CheckLanes();
}
)";

std::set<VectorPiece> AllPieces() {
  using P = VectorPiece;
  std::set<P> pieces{P::kCore,        P::kParts, P::kStrided, P::kLoops,     P::kLimits, P::kStream,
                     P::kStreamLanes, P::kMasks, P::kScans,   P::kPositions, P::kLanes};
  for (const vector_text::Piece& piece : vector_text::MathPieces()) pieces.insert(piece.name);
  return pieces;
}

std::string Output(std::vector<std::string> argv, const std::string& folder) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.cwd = folder;
  spec.inherit_env = true;
  const Result<RunResult> run = RunProcess(spec, {});
  if (!run) return run.error().message;
  return run->status.ok() ? run->out : "fails: " + run->err;
}

class VectorPreambleTest : public testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(Compilers, VectorPreambleTest,
                         testing::Values(std::pair{"g++", "native"},
                                         std::pair{"clang++-19", "native"},
                                         std::pair{"g++", "x86-64-v3"},
                                         std::pair{"g++", "x86-64"}));

TEST_P(VectorPreambleTest, IsAsAccurateAsItSays) {
  const auto& [compiler, processor] = GetParam();
  if (std::system((std::string(compiler) + " --version >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << compiler << " is not installed";
#if defined(__x86_64__)
  if (processor == std::string("x86-64-v3") && __builtin_cpu_supports("avx2") == 0)
    GTEST_SKIP() << "this processor has no AVX2";
#else
  if (processor != std::string("native")) GTEST_SKIP() << "not an x86 processor";
#endif
  const TempDir folder = std::move(*TempDir::Create());
  const std::string source =
      "#include <cstdint>\n#include <utility>\n" + VectorPreamble(AllPieces()) + kProgram;
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "check.cpp", source));
  ASSERT_EQ(Output({compiler, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-psabi",
                    "-Wno-uninitialized",  // g++ 12 warns in its own header of intrinsics
                    std::string("-march=") + processor, "check.cpp", "-o", "check"},
                   folder.path()),
            "");
  EXPECT_EQ(Output({"./check"}, folder.path()), "");
}

TEST(VectorPreamble, HasAPieceForTheVectorFormOfEachOperator) {
  for (const Operator& known : Operators()) {
    if (known.piece.empty()) continue;
    const std::string function = known.vector.real.substr(0, known.vector.real.find('('));
    EXPECT_THAT(VectorPreamble({VectorPiece(known.piece)}),
                HasSubstr("static inline Vec " + function + "("));
  }
}

TEST(VectorPreamble, AKernelHasOnlyWhatItUses) {
  EXPECT_THAT(VectorPreamble({}), Not(HasSubstr("Exp(")));
  const std::string text = VectorPreamble({VectorPiece("Sigmoid")});
  EXPECT_THAT(text, HasSubstr("static inline Vec ExpNormal("));
  EXPECT_LT(text.find("static inline Vec ExpNormal("), text.find("static inline Vec Sigmoid("));
  EXPECT_THAT(text, Not(HasSubstr("Tanh(")));
}

}  // namespace
}  // namespace pragma::expert
