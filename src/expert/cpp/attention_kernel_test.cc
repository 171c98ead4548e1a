// Tests generated attention, built by real compilers, against plain loops in double precision.
#include "expert/cpp/attention_kernel.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "expert/cpp/anchor_testing.h"

namespace pragma::expert {
namespace {

using testing::HasSubstr;
using testing::Not;

// Scratch and output start as NaN. Arrays end where their memory ends, and a sanitizer detects
// accesses beyond that.
constexpr const char* kChecker = R"(
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

struct Sizes { std::int64_t batch, rows, keys, depth, columns; };

static std::unique_ptr<float[]> Numbers(std::int64_t count) {
  std::unique_ptr<float[]> numbers(new float[count]);
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(std::rand() % 4096) / 1024.0f - 2.0f;
  return numbers;
}
template <class Kernel, class Score>
static void Check(const char* name, const Sizes& s, bool empty_zero, std::size_t scratch_bytes, Kernel run, Score score) {
  const auto q = Numbers(s.batch * s.rows * s.depth), k = Numbers(s.batch * s.keys * s.depth);
  const auto v = Numbers(s.batch * s.keys * s.columns);
  std::unique_ptr<float[]> out(new float[s.batch * s.rows * s.columns]);
  std::fill_n(out.get(), s.batch * s.rows * s.columns, std::numeric_limits<float>::quiet_NaN());
  char* scratch = static_cast<char*>(std::aligned_alloc(64, (scratch_bytes + 63) / 64 * 64));
  std::fill_n(reinterpret_cast<float*>(scratch), scratch_bytes / 4, std::numeric_limits<float>::quiet_NaN());
  run(q.get(), k.get(), v.get(), out.get(), scratch);
  std::free(scratch);
  for (std::int64_t b = 0; b < s.batch; ++b)
    for (std::int64_t row = 0; row < s.rows; ++row) {
      std::vector<double> scores(s.keys);
      double largest = -INFINITY, total = 0;
      for (std::int64_t key = 0; key < s.keys; ++key) {
        double sum = 0;
        for (std::int64_t d = 0; d < s.depth; ++d)
          sum += double{q[(b * s.rows + row) * s.depth + d]} * k[(b * s.keys + key) * s.depth + d];
        scores[key] = score(sum, row, key);
        largest = std::fmax(largest, scores[key]);
      }
      for (double& each : scores) total += each = largest == -INFINITY ? 0 : std::exp(each - largest);
      for (std::int64_t column = 0; column < s.columns; ++column) {
        double wanted = 0;
        for (std::int64_t key = 0; key < s.keys; ++key)
          wanted += scores[key] / total * v[(b * s.keys + key) * s.columns + column];
        if (total == 0) wanted = empty_zero ? 0 : NAN;
        const double found = out[(b * s.rows + row) * s.columns + column];
        if (std::fabs(found - wanted) <= 2e-5 || (std::isnan(found) && std::isnan(wanted))) continue;
        std::printf("%s: row %ld, column %ld = %g, should be %g\n", name, long(row), long(column), found, wanted);
        return;
      }
    }
}
int main() {
)";

struct Program {
  std::string kernels;
  std::string main = kChecker;
  int count = 0;

  // `score` is the expression for a score in the checker, in terms of sum, row and key. `text` is
  // the same for the kernel.
  void Add(AttentionSpec spec, const std::string& score = "sum", const std::string& text = "") {
    spec.name = fmt::format("attention{}", count++);
    spec.query = {spec.rows * spec.depth, spec.depth, 1};
    spec.key = {spec.keys * spec.depth, spec.depth, 1};
    spec.value = {spec.keys * spec.columns, spec.columns, 1};
    spec.out = {spec.rows * spec.columns, spec.columns, 1};
    if (!text.empty())
      spec.score = [text](const OutputSite& site) {
        return fmt::format(
            "for (std::int64_t lane = 0; lane < {}; ++lane) {{\n"
            "  [[maybe_unused]] const std::int64_t row_ = {}, key = {} + lane;\n"
            "  float sum = {}[lane];\n  {}\n  {}[lane] = sum;\n}}\n",
            site.lanes, site.row, site.column, site.value, text, site.value);
      };
    KernelTarget target;
    target.threads = 2;
    kernels += GenerateAttention(spec, target).code;
    main += fmt::format(
        "  Check(\"{0}\", {{{1}, {2}, {3}, {4}, {5}}}, {6}, {0}::kScratchBytes, {0}::Run,\n"
        "        [](double sum, [[maybe_unused]] std::int64_t row, [[maybe_unused]] std::int64_t "
        "key) {{ return {7}; }});\n",
        spec.name, spec.batch, spec.rows, spec.keys, spec.depth, spec.columns,
        spec.empty_zero ? "true" : "false", score);
  }
  [[nodiscard]] std::string Run(const TestCompiler& compiler) const {
    return BuildAndRun(compiler, kernels, main + "}\n");
  }
};

AttentionSpec Attention(std::int64_t batch, std::int64_t rows, std::int64_t keys,
                        std::int64_t depth, std::int64_t columns) {
  AttentionSpec spec;
  spec.batch = batch;
  spec.rows = rows;
  spec.keys = keys;
  spec.depth = depth;
  spec.columns = columns;
  return spec;
}

void AddCausal(Program& program) {
  AttentionSpec causal = Attention(2, 133, 150, 8, 40);
  causal.diagonal = 3;
  program.Add(causal, "key > row + 3 ? -INFINITY : sum",
              "if (key > row_ + 3) sum = -__builtin_inff();");
}

// Returns sizes that end inside tiles, vectors and blocks, as well as masks and rows without any
// key.
Program Samples() {
  Program program;
  program.Add(Attention(2, 70, 301, 24, 37));
  program.Add(Attention(1, 4, 5, 3, 2), "0.25 * sum", "sum *= 0.25f;");
  program.Add(Attention(3, 129, 64, 16, 16));
  AddCausal(program);
  const std::string holes = "row % 5 == 1 || (row % 3 == 2 && key < 140) ? -INFINITY : 3 * sum";
  const std::string same =
      "sum = row_ % 5 == 1 || (row_ % 3 == 2 && key < 140) ? -__builtin_inff() : 3 * sum;";
  AttentionSpec zero = Attention(1, 31, 290, 12, 9);
  program.Add(zero, holes, same);
  zero.empty_zero = true;
  program.Add(zero, holes, same);
  return program;
}

TEST(AttentionKernel, IsRight) {
  for (const TestCompiler& compiler : CompilersOfAll()) {
    if (!Installed(compiler)) continue;
    EXPECT_EQ(Samples().Run(compiler), "") << compiler.name;
  }
}

TEST(AttentionKernel, AnotherCompilerTakesIt) {
  if (!Installed(CompilerOfSome())) GTEST_SKIP() << CompilerOfSome().name << " is not installed";
  Program program;
  AddCausal(program);
  EXPECT_EQ(program.Run(CompilerOfSome()), "");
}

TEST(AttentionKernel, TunablesMayTakeTheirExtremes) {
  for (const char* extreme : {"min", "max"}) {
    if (!Installed(WithExtremes(extreme))) GTEST_SKIP() << "g++ is not installed";
    EXPECT_EQ(Samples().Run(WithExtremes(extreme)), "") << extreme;
  }
}

TEST(AttentionKernel, KeysThatNoQuerySeesAreSkipped) {
  AttentionSpec spec = Attention(2, 133, 150, 8, 40);
  EXPECT_THAT(GenerateAttention(spec, {}).code, Not(HasSubstr("break;")));
  spec.diagonal = 0;
  EXPECT_THAT(GenerateAttention(spec, {}).code, HasSubstr("break;"));
}

}  // namespace
}  // namespace pragma::expert
