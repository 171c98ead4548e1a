// Tests generated matrix products, built by real compilers, against plain loops in double
// precision.
#include "expert/cpp/matmul_kernel.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "expert/cpp/anchor_testing.h"

namespace pragma::expert {
namespace {

using testing::HasSubstr;
using testing::Not;

// Inputs end where their memory ends, and a sanitizer detects accesses beyond that. Scratch and
// output start as NaN.
constexpr const char* kChecker = R"(
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>

struct Steps { std::int64_t batch, first, second; };
struct Band { std::int64_t low, high; };
struct Shape { std::int64_t batch, rows, columns, depth; Steps a, b, c; int structure; std::int64_t diagonal; Band a_nonzero, b_nonzero; };

static std::unique_ptr<float[]> Numbers(std::int64_t count) {
  std::unique_ptr<float[]> numbers(new float[count]);
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(std::rand() % 4096) / 4096.0f - 0.5f;
  return numbers;
}
static std::int64_t Extent(Steps s, std::int64_t batch, std::int64_t first, std::int64_t second) {
  return (batch - 1) * s.batch + (first - 1) * s.first + (second - 1) * s.second + 1;
}
static double Truth(const Shape& s, const float* a, const float* b, std::int64_t n, std::int64_t i, std::int64_t j) {
  const std::int64_t right = j - i;
  if ((s.structure == 1 && right < s.diagonal) || (s.structure == 2 && right > s.diagonal)) return 0;
  if (s.structure == 3) return double{a[n * s.a.batch + i * s.a.first]} * b[n * s.b.batch + i * s.b.first + j * s.b.second];
  if (s.structure == 4) return double{a[n * s.a.batch + i * s.a.first + j * s.a.second]} * b[n * s.b.batch + j * s.b.second];
  double sum = 0;
  for (std::int64_t k = 0; k < s.depth; ++k)
    sum += double{a[n * s.a.batch + i * s.a.first + k * s.a.second]} * b[n * s.b.batch + k * s.b.first + j * s.b.second];
  return sum;
}
static void ZeroBeside(Band band, Steps s, std::int64_t batch, std::int64_t first, std::int64_t second, float* x) {
  for (std::int64_t n = 0; n < batch; ++n)
    for (std::int64_t i = 0; i < first; ++i)
      for (std::int64_t j = 0; j < second; ++j)
        if (j - i < band.low || j - i > band.high) x[n * s.batch + i * s.first + j * s.second] = 0;
}
template <class Kernel, class After>
static void Check(const char* name, const Shape& s, std::size_t scratch_bytes, Kernel run, After after) {
  const auto a = Numbers(Extent(s.a, s.batch, s.rows, s.depth));
  const auto b = Numbers(Extent(s.b, s.batch, s.depth, s.columns));
  ZeroBeside(s.a_nonzero, s.a, s.batch, s.rows, s.depth, a.get());
  ZeroBeside(s.b_nonzero, s.b, s.batch, s.depth, s.columns, b.get());
  const std::int64_t outputs = Extent(s.c, s.batch, s.rows, s.columns);
  const std::size_t output_bytes = (outputs * 4 + 63) / 64 * 64;
  const std::unique_ptr<float, void (*)(void*)> output(
      static_cast<float*>(std::aligned_alloc(64, output_bytes)), std::free);
  float* c = output.get();
  std::fill_n(c, output_bytes / 4, std::numeric_limits<float>::quiet_NaN());
  const std::unique_ptr<char, void (*)(void*)> room(
      static_cast<char*>(std::aligned_alloc(64, (scratch_bytes + 63) / 64 * 64 + 64)), std::free);
  char* scratch = room.get();
  std::fill_n(reinterpret_cast<float*>(scratch), scratch_bytes / 4, std::numeric_limits<float>::quiet_NaN());
  run(a.get(), b.get(), c, scratch);
  const double allowed = 1e-6 * (4 + std::sqrt(double(s.depth)));
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t i = 0; i < s.rows; ++i)
      for (std::int64_t j = 0; j < s.columns; ++j) {
        const double wanted = after(Truth(s, a.get(), b.get(), n, i, j), n, i, j);
        const double got = c[n * s.c.batch + i * s.c.first + j * s.c.second];
        if (std::fabs(got - wanted) <= allowed) continue;
        std::printf("%s: c[%ld][%ld][%ld] = %g, should be %g\n", name, long(n), long(i), long(j), got, wanted);
        return;
      }
}
[[maybe_unused]] static const auto kNothing = [](double x, std::int64_t, std::int64_t, std::int64_t) { return x; };
int main() {
)";

std::string StepsText(const MatrixSteps& s) {
  return fmt::format("{{{}, {}, {}}}", s.batch, s.first, s.second);
}

std::string BandText(const Diagonals& nonzero) {
  return fmt::format("{{{}, {}}}", nonzero.low.value_or(-9999), nonzero.high.value_or(9999));
}

struct Program {
  std::string kernels;
  std::string main = kChecker;
  int count = 0;
  int kept = 0;  // number of kernels that have a Pack

  // `after` is the body of a lambda that computes the result of the epilogue from x.
  void Add(MatmulSpec spec, const KernelTarget& target, const std::string& after = "",
           const std::string& arguments = "a, b, c, scratch") {
    spec.name = fmt::format("product{}", count++);
    const KernelText kernel = GenerateMatmul(spec, target);
    kernels += kernel.code;
    kept += kernel.keeps ? 1 : 0;
    const std::string lambda = after.empty()
                                   ? "kNothing"
                                   : fmt::format(
                                         "[](double x, [[maybe_unused]] std::int64_t n, "
                                         "[[maybe_unused]] std::int64_t i, [[maybe_unused]] "
                                         "std::int64_t j) {{ return {}; }}",
                                         after);
    main += fmt::format(
        "  Check(\"{0} {1}x{2}x{3}x{4}\", {{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {12}, "
        "{13}}}, "
        "{0}::kScratchBytes,\n"
        "        [](const float* a, const float* b, float* c, char* scratch) {{ "
        "{14}{0}::Run({11}); "
        "}},\n        {10});\n",
        spec.name, spec.batch, spec.rows, spec.columns, spec.depth, StepsText(spec.a),
        StepsText(spec.b), StepsText(spec.c), static_cast<int>(spec.structure), spec.diagonal,
        lambda, arguments, BandText(spec.a_nonzero), BandText(spec.b_nonzero),
        kernel.keeps ? spec.name + "::Pack(b, scratch); " : "");
  }
  [[nodiscard]] std::string Run(const TestCompiler& compiler) const {
    return BuildAndRun(compiler, kernels, main + "}\n");
  }
};

enum class Order : std::uint8_t { kPlain, kTransposed };

MatmulSpec Product(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                   Order a = Order::kPlain, Order b = Order::kPlain, Order c = Order::kPlain) {
  const auto steps = [](Order order, std::int64_t first, std::int64_t second) {
    return order == Order::kPlain ? MatrixSteps{first * second, second, 1}
                                  : MatrixSteps{first * second, 1, first};
  };
  MatmulSpec spec;
  spec.batch = batch;
  spec.rows = rows;
  spec.columns = columns;
  spec.depth = depth;
  spec.a = steps(a, rows, depth);
  spec.b = steps(b, depth, columns);
  spec.c = steps(c, rows, columns);
  return spec;
}

// Returns a target with small caches, so that small products have several blocks of each kind.
KernelTarget SmallCaches() {
  KernelTarget target;
  target.threads = 2;
  target.private_cache_bytes = 64 << 10;
  target.shared_cache_bytes = 512 << 10;
  return target;
}

void AddTranspositions(Program& program) {
  for (const Order a : {Order::kPlain, Order::kTransposed})
    for (const Order b : {Order::kPlain, Order::kTransposed})
      for (const Order c : {Order::kPlain, Order::kTransposed})
        program.Add(Product(2, 37, 53, 29, a, b, c), SmallCaches());
}

void AddSizesFromOneToPrimes(Program& program) {
  for (const auto& [rows, columns, depth] :
       std::vector<std::array<std::int64_t, 3>>{{1, 1, 1},
                                                {1, 67, 31},
                                                {67, 1, 31},
                                                {5, 3, 1},
                                                {131, 97, 1021},
                                                {16, 16, 16},
                                                {3, 521, 257},
                                                {521, 3, 257}})
    program.Add(Product(1, rows, columns, depth, Order::kPlain, Order::kTransposed), SmallCaches());
  program.Add(Product(11, 17, 33, 9), SmallCaches());
}

// With few rows, b is packed where it is used: in one block of the depth, and in several.
void AddFewRows(Program& program) {
  for (const std::int64_t depth : {600, 1100})
    for (const Order a : {Order::kPlain, Order::kTransposed})
      for (const Order b : {Order::kPlain, Order::kTransposed})
        program.Add(Product(1, 45, 1003, depth, a, b), SmallCaches());
}

// Tests the product of a row and a matrix, in either order.
void AddSumsOfLines(Program& program) {
  for (const std::int64_t depth : {16, 31, 1026})
    for (const std::int64_t columns : {64, 129, 5000})
      program.Add(Product(2, 1, columns, depth), SmallCaches());
  program.Add(Product(1, 300, 1, 40, Order::kTransposed, Order::kPlain), SmallCaches());
}

void AddTrianglesAndEpilogues(Program& program) {
  for (const MatmulStructure structure :
       {MatmulStructure::kUpperOutput, MatmulStructure::kLowerOutput}) {
    for (const Order c : {Order::kPlain, Order::kTransposed}) {
      MatmulSpec spec = Product(1, 139, 101, 1040, Order::kPlain, Order::kPlain, c);
      spec.structure = structure;
      spec.diagonal = structure == MatmulStructure::kUpperOutput ? 3 : -2;
      spec.epilogue = [](const OutputSite& site) {
        const bool by_row = site.along == OutputSite::Along::kRow;
        return fmt::format(
            "for (std::int64_t lane = 0; lane < {0}; ++lane)\n"
            "  {1}[lane] = 2.0f * {1}[lane] + 0.001f * static_cast<float>(10 * {2} + {3}{4} * "
            "lane);",
            site.lanes, site.value, site.row, site.column, by_row ? " + 10" : " + 1");
      };
      program.Add(spec, SmallCaches(), "2 * x + 0.001 * (10.0 * i + j)");
    }
  }
}

// Zeros outside the nonzero band of a factor are skipped, in whole tiles and across blocks.
void AddTriangularFactors(Program& program) {
  const auto add = [&](const Diagonals& a, const Diagonals& b, std::int64_t depth, Order c) {
    MatmulSpec spec = Product(2, 139, 101, depth, Order::kPlain, Order::kTransposed, c);
    spec.a_nonzero = a;
    spec.b_nonzero = b;
    program.Add(spec, SmallCaches());
  };
  for (const Order c : {Order::kPlain, Order::kTransposed}) {
    add({{}, 0}, {{}, 0}, 120, c);      // lower by lower
    add({3, {}}, {-2, {}}, 120, c);     // upper by upper
    add({{}, -1}, {0, {}}, 1040, c);    // lower by upper
    add({-4, 5}, {{}, {}}, 1040, c);    // a band by a full matrix
    add({{}, {}}, {200, {}}, 1040, c);  // all zeros
  }
}

// Matrices that are multiplied by the same b are computed as one long matrix. The epilogue still
// receives the number of the original matrix.
void AddBatchesThatMeetOneMatrix(Program& program) {
  for (const std::int64_t rows : {1, 19}) {
    MatmulSpec spec = Product(3, rows, 37, 40, Order::kPlain, Order::kTransposed);
    spec.b.batch = 0;
    spec.epilogue = [](const OutputSite& site) {
      // The epilogue is so long that it is kept out of the tiles.
      return "// " + std::string(300, 'x') +
             fmt::format("\n{0} += static_cast<float>({1}) + 0.1f * static_cast<float>({2});",
                         site.value, site.batch, site.row);
    };
    program.Add(spec, SmallCaches(), "x + n + 0.1 * i");
  }
}

// The tensors that the epilogue reads are passed as parameters. Results that do not fit in any
// cache are written with non-temporal stores.
void AddEpiloguesThatReadTensors(Program& program) {
  KernelTarget target = SmallCaches();
  target.shared_cache_bytes = 1 << 10;
  MatmulSpec spec = Product(1, 45, 96, 33, Order::kPlain, Order::kTransposed);
  spec.extra = {{"const float*", "bias"}};
  spec.epilogue = [](const OutputSite& site) {
    return site.whole
               ? fmt::format("{} += Load(bias + {});", site.value, site.column)
               : fmt::format("{} += LoadPart(bias + {}, {});", site.value, site.column, site.lanes);
  };
  program.main.insert(program.main.find("int main"),
                      "static const float* Bias() {\n  static float bias[96];\n"
                      "  for (int i = 0; i < 96; ++i) bias[i] = static_cast<float>(i);\n"
                      "  return bias;\n}\n");
  program.Add(spec, target, "x + j", "a, b, c, Bias(), scratch");
}

void AddMatricesThatStay(Program& program) {
  EXPECT_EQ(program.kept, 0);
  for (MatmulSpec spec : {Product(1, 10, 101, 37, Order::kPlain, Order::kTransposed),
                          Product(1, 13, 300, 900, Order::kTransposed), Product(1, 70, 64, 16)}) {
    spec.keeps_b = true;
    program.Add(spec, SmallCaches());
    spec.epilogue = [](const OutputSite& site) { return fmt::format("{} += 1.0f;", site.value); };
    KernelTarget alone = SmallCaches();
    alone.threads = 1;
    program.Add(spec, alone, "x + 1");
  }
  EXPECT_EQ(program.kept, 6);                  // and none of the following
  MatmulSpec other = Product(2, 10, 101, 37);  // a batch of two matrices
  other.keeps_b = true;
  program.Add(other, SmallCaches());
  // Here b takes the place of a.
  other = Product(1, 40, 70, 37, Order::kPlain, Order::kPlain, Order::kTransposed);
  other.keeps_b = true;
  program.Add(other, SmallCaches());
  EXPECT_EQ(program.kept, 6);
}

void AddDotProducts(Program& program) {
  program.Add(Product(3, 2, 45, 100, Order::kPlain, Order::kTransposed), SmallCaches());
  program.Add(Product(1, 6, 16, 16, Order::kPlain, Order::kTransposed), SmallCaches());
  program.Add(Product(1, 130, 1, 1000), SmallCaches());
}

void AddDiagonals(Program& program) {
  for (const Order order : {Order::kPlain, Order::kTransposed}) {
    MatmulSpec spec = Product(2, 37, 41, 37, Order::kPlain, order, order);
    spec.structure = MatmulStructure::kDiagonalA;
    spec.a = {37, 1, 0};
    program.Add(spec, SmallCaches());
    spec = Product(2, 37, 41, 41, order, Order::kPlain);
    spec.structure = MatmulStructure::kDiagonalB;
    spec.b = {41, 0, 1};
    program.Add(spec, SmallCaches());
  }
}

class MatmulKernelTest : public testing::TestWithParam<TestCompiler> {
 protected:
  void SetUp() override {
    if (!Installed(GetParam())) GTEST_SKIP() << GetParam().name << " is not installed";
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, MatmulKernelTest, testing::ValuesIn(CompilersOfAll()));

TEST_P(MatmulKernelTest, EveryProductIsRight) {
  Program program;
  AddTranspositions(program);
  AddSizesFromOneToPrimes(program);
  AddFewRows(program);
  AddSumsOfLines(program);
  AddTrianglesAndEpilogues(program);
  AddTriangularFactors(program);
  AddBatchesThatMeetOneMatrix(program);
  AddEpiloguesThatReadTensors(program);
  AddMatricesThatStay(program);
  AddDotProducts(program);
  AddDiagonals(program);
  EXPECT_EQ(program.Run(GetParam()), "");
}

TEST(MatmulKernel, AnotherCompilerTakesThem) {
  if (!Installed(CompilerOfSome())) GTEST_SKIP() << CompilerOfSome().name << " is not installed";
  Program program;
  AddSumsOfLines(program);
  AddTrianglesAndEpilogues(program);
  AddEpiloguesThatReadTensors(program);
  AddMatricesThatStay(program);
  AddDotProducts(program);
  EXPECT_EQ(program.Run(CompilerOfSome()), "");
}

std::string TextOf(void (*add)(Program&)) {
  Program program;
  add(program);
  return program.kernels;
}

TEST(MatmulKernel, EachFamilyHasTheKernelThatIsMeantForIt) {
  EXPECT_THAT(TextOf(AddFewRows), HasSubstr("Each takes columns of b in turn"));
  EXPECT_THAT(TextOf(AddSumsOfLines), HasSubstr("sums of lines"));
  EXPECT_THAT(TextOf(AddTriangularFactors), HasSubstr("end - begin"));
  EXPECT_THAT(TextOf(AddBatchesThatMeetOneMatrix), HasSubstr("kBatch = 1, kRows = 57"));
  EXPECT_THAT(TextOf(AddEpiloguesThatReadTensors), HasSubstr("Stream(c + index, value)"));
  EXPECT_THAT(TextOf(AddDotProducts), HasSubstr("Dots("));
  EXPECT_THAT(TextOf(AddDotProducts), Not(HasSubstr("PackPanel<")));
}

TEST(MatmulKernel, TunablesMayTakeTheirExtremes) {
  Program program;
  program.Add(Product(1, 139, 101, 1040), SmallCaches());
  program.Add(Product(9, 17, 50, 40, Order::kTransposed, Order::kTransposed), SmallCaches());
  for (const char* extreme : {"min", "max"}) {
    if (!Installed(WithExtremes(extreme))) GTEST_SKIP() << "g++ is not installed";
    EXPECT_EQ(program.Run(WithExtremes(extreme)), "") << extreme;
  }
}

}  // namespace
}  // namespace pragma::expert
