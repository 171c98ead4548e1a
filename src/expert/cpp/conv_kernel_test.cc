// Tests generated convolutions, built by real compilers, against plain loops in double precision.
#include "expert/cpp/conv_kernel.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expert/cpp/anchor_testing.h"
#include "expert/cpp/conv_plan.h"

namespace pragma::expert {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Inputs end where their memory ends, and a sanitizer detects accesses beyond that. Scratch and
// output start as NaN. The reference scatters or gathers according to the definition, one axis at a
// time. Absent axes have size one.
constexpr const char* kChecker = R"(
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

struct Axis { std::int64_t size, kernel, stride, padding, dilation, output; };
struct Shape { std::int64_t images, in, out, groups; bool transposed, bias; Axis axis[3]; };

static std::unique_ptr<float[]> Numbers(std::int64_t count) {
  std::unique_ptr<float[]> numbers(new float[count]);
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(std::rand() % 4096) / 4096.0f - 0.5f;
  return numbers;
}
static std::vector<double> Truth(const Shape& s, const float* x, const float* w, const float* bias) {
  const Axis &z = s.axis[0], &y = s.axis[1], &v = s.axis[2];
  const std::int64_t pixels = z.output * y.output * v.output, taps = z.kernel * y.kernel * v.kernel;
  const std::int64_t in = s.in / s.groups, out = s.out / s.groups;
  std::vector<double> result(s.images * s.out * pixels);
  for (std::int64_t n = 0; n < s.images; ++n)
    for (std::int64_t o = 0; o < s.out; ++o) {
      double* plane = &result[(n * s.out + o) * pixels];
      if (bias != nullptr) std::fill_n(plane, pixels, double{bias[o]});
      const std::int64_t group = o / out;
      for (std::int64_t c = group * in; c < (group + 1) * in; ++c)
        for (std::int64_t t = 0; t < taps; ++t) {
          const double weight = s.transposed ? w[(c * out + o % out) * taps + t] : w[(o * in + c % in) * taps + t];
          const std::int64_t tap[3] = {t / (y.kernel * v.kernel), t / v.kernel % y.kernel, t % v.kernel};
          // `a` walks the strided side, `b` the dense one: a * stride + tap * dilation = b + padding.
          const auto size = [&](int i) { return s.transposed ? s.axis[i].size : s.axis[i].output; };
          const auto dense = [&](int i) { return s.transposed ? s.axis[i].output : s.axis[i].size; };
          std::int64_t a[3], b[3];
          const auto inside = [&](int i) {
            b[i] = a[i] * s.axis[i].stride + tap[i] * s.axis[i].dilation - s.axis[i].padding;
            return b[i] >= 0 && b[i] < dense(i);
          };
          for (a[0] = 0; a[0] < size(0); ++a[0]) if (inside(0))
            for (a[1] = 0; a[1] < size(1); ++a[1]) if (inside(1))
              for (a[2] = 0; a[2] < size(2); ++a[2]) if (inside(2)) {
                const std::int64_t* i = s.transposed ? a : b;
                const std::int64_t* q = s.transposed ? b : a;
                plane[(q[0] * y.output + q[1]) * v.output + q[2]] +=
                    weight * x[(((n * s.in + c) * z.size + i[0]) * y.size + i[1]) * v.size + i[2]];
              }
        }
    }
  return result;
}
template <class Kernel, class After>
static void Check(const char* name, const Shape& s, std::size_t scratch_bytes, Kernel run, After after) {
  std::int64_t inputs = s.images * s.in, outputs = s.images * s.out, weights = s.in * s.out / s.groups;
  std::int64_t pixels = 1;
  for (const Axis& axis : s.axis) inputs *= axis.size, weights *= axis.kernel, pixels *= axis.output;
  outputs *= pixels;
  const auto x = Numbers(inputs), w = Numbers(weights), bias = Numbers(s.out);
  const std::size_t output_bytes = (outputs * 4 + 63) / 64 * 64;
  float* out = static_cast<float*>(std::aligned_alloc(64, output_bytes));
  std::fill_n(out, output_bytes / 4, std::numeric_limits<float>::quiet_NaN());
  char* scratch = static_cast<char*>(std::aligned_alloc(64, (scratch_bytes + 63) / 64 * 64 + 64));
  std::fill_n(reinterpret_cast<float*>(scratch), scratch_bytes / 4, std::numeric_limits<float>::quiet_NaN());
  run(x.get(), w.get(), bias.get(), out, scratch);
  const std::vector<double> truth = Truth(s, x.get(), w.get(), s.bias ? bias.get() : nullptr);
  for (std::int64_t i = 0; i < outputs; ++i) {
    const double wanted = after(truth[i], i / pixels / s.out, i / pixels % s.out, i % pixels);
    if (std::fabs(out[i] - wanted) <= 2e-5) continue;
    std::printf("%s: image %ld, channel %ld, pixel %ld = %g, should be %g\n", name, long(i / pixels / s.out),
                long(i / pixels % s.out), long(i % pixels), out[i], wanted);
    break;
  }
  std::free(out);
  std::free(scratch);
}
[[maybe_unused]] static const auto kNothing = [](double x, std::int64_t, std::int64_t, std::int64_t) { return x; };
int main() {
)";

struct Program {
  std::string kernels;
  std::string main = kChecker;
  int count = 0;

  void Add(ConvSpec spec, const KernelTarget& target, const std::string& after = "") {
    spec.name = fmt::format("convolution{}", count++);
    kernels += GenerateConv(spec, target).code;
    std::string axes;
    for (std::size_t i = spec.axes.size(); i < 3; ++i) axes += "{1, 1, 1, 0, 1, 1}, ";
    for (const ConvAxis& axis : spec.axes)
      axes += fmt::format("{{{}, {}, {}, {}, {}, {}}}, ", axis.size, axis.kernel, axis.stride,
                          axis.padding, axis.dilation, ConvOutputSize(axis, spec.transposed));
    const std::string lambda =
        after.empty() ? "kNothing"
                      : "[](double x, [[maybe_unused]] std::int64_t n, [[maybe_unused]] "
                        "std::int64_t o, [[maybe_unused]] std::int64_t p) { return " +
                            after + "; }";
    main += fmt::format(
        "  Check(\"{0}\", {{{1}, {2}, {3}, {4}, {5}, {6}, {{{7}}}}}, {0}::kScratchBytes,\n"
        "        [](const float* x, const float* w, [[maybe_unused]] const float* bias, float* "
        "out, "
        "char* scratch) {{ {0}::Run(x, w{8}, out, scratch); }},\n        {9});\n",
        spec.name, spec.images, spec.in_channels, spec.out_channels, spec.groups, spec.transposed,
        spec.bias, axes, spec.bias ? ", bias" : "", lambda);
  }
  [[nodiscard]] std::string Run(const TestCompiler& compiler) const {
    return BuildAndRun(compiler, kernels, main + "}\n");
  }
};

ConvSpec Convolution(std::int64_t images, std::int64_t in, std::int64_t out, std::int64_t groups,
                     std::vector<ConvAxis> axes) {
  ConvSpec spec;
  spec.images = images;
  spec.in_channels = in;
  spec.out_channels = out;
  spec.groups = groups;
  spec.axes = std::move(axes);
  return spec;
}

ConvSpec Transposed(ConvSpec spec) {
  spec.transposed = true;
  return spec;
}

KernelTarget SmallCaches() {
  KernelTarget target;
  target.threads = 2;
  target.private_cache_bytes = 32 << 10;
  target.shared_cache_bytes = 512 << 10;
  return target;
}

void AddStandardOnes(Program& program) {
  const KernelTarget target = SmallCaches();
  program.Add(Convolution(2, 3, 17, 1, {{.size = 37, .kernel = 3}}), target);
  program.Add(Convolution(2, 3, 5, 1, {{50, 3, 3, 0, 4}}), target);
  program.Add(Convolution(2, 3, 16, 1, {{19, 3}, {34, 3}}), target);
  program.Add(Convolution(2, 16, 16, 1, {{23, 3, 1, 1}, {31, 5, 1, 2}}), target);
  program.Add(Convolution(2, 4, 10, 2, {{23, 3, 2, 1}, {31, 5, 3, 2, 2}}), target);
  program.Add(Convolution(1, 12, 9, 3, {{9, 11, 4, 5}, {7, 7, 2, 3}}), target);
  program.Add(Convolution(2, 3, 8, 1, {{20, 3}, {21, 3}, {10, 3}}), target);
  program.Add(Convolution(2, 8, 8, 1, {{6, 3, 2, 1}, {5, 2, 1, 1}, {7, 3, 2, 1}}), target);
  program.Add(Convolution(1, 5, 1, 1, {{1, 1}, {1, 1}}), target);
  program.Add(Convolution(1, 32, 40, 1, {{12, 3, 1, 1}, {14, 3, 1, 1}}), target);
  program.Add(Convolution(1, 32, 40, 1, {{12, 3}, {42, 3}}), target);
}

void AddTransposedOnes(Program& program) {
  const KernelTarget target = SmallCaches();
  program.Add(Transposed(Convolution(2, 9, 3, 1, {{.size = 29, .kernel = 3}})), target);
  program.Add(Transposed(Convolution(2, 3, 17, 1, {{26, 5, 1, 0, 3}})), target);
  program.Add(Transposed(Convolution(2, 8, 5, 1, {{13, 3, 2, 1, 2}})), target);
  program.Add(Transposed(Convolution(2, 16, 9, 1, {{14, 3, 1, 1}, {11, 5, 1, 4}})), target);
  program.Add(Transposed(Convolution(2, 8, 16, 4, {{9, 3, 2, 1, 2}, {23, 5, 3, 2}})), target);
  program.Add(Transposed(Convolution(2, 3, 16, 1, {{16, 3, 2, 1, 1, 1}, {16, 3, 2, 1, 1, 1}})),
              target);
  program.Add(Transposed(Convolution(1, 4, 6, 1, {{7, 3, 5, 1, 2}, {6, 3, 5, 1, 2, 3}})), target);
  program.Add(Transposed(Convolution(1, 8, 8, 4,
                                     {{4, 3, 2, 1, 1, 1}, {5, 5, 2, 2, 1, 1}, {6, 7, 2, 3, 1, 1}})),
              target);
  program.Add(Transposed(Convolution(1, 6, 5, 1, {{5, 3, 2, 3}, {6, 3, 2, 3}, {4, 3, 2, 3}})),
              target);
}

// One image of one group: threads share pieces of its rows.
void AddPiecesOfRows(Program& program) {
  const KernelTarget target = SmallCaches();
  program.Add(Convolution(1, 16, 24, 1, {{301, 3, 2, 1}}), target);
  program.Add(Convolution(1, 40, 9, 1, {{700, 7, 3, 9, 2}}), target);
  program.Add(Convolution(1, 3, 5, 1, {{.size = 500, .kernel = 3}}), target);
  program.Add(Convolution(1, 16, 16, 1, {{512, 3, 1, 1}}), target);
  program.Add(Convolution(1, 12, 10, 2, {{200, 5, 1, 40}}), target);
  program.Add(Transposed(Convolution(1, 16, 9, 1, {{150, 4, 2, 1}})), target);
  program.Add(Transposed(Convolution(1, 8, 12, 1, {{333, 16, 5, 7, 1, 2}})), target);
  program.Add(Transposed(Convolution(1, 32, 8, 1, {{257, 5, 1, 2}})), target);
}

// Outputs larger than the caches are written with non-temporal stores, wherever their rows begin.
// The epilogue and the bias see the position of each pixel.
void AddEpiloguesAndLargeOutputs(Program& program) {
  KernelTarget target = SmallCaches();
  target.shared_cache_bytes = 1 << 10;
  const std::string long_comment = "// " + std::string(300, 'x') + "\n";
  const std::vector<ConvSpec> specs{
      Convolution(2, 3, 5, 1, {{23, 3}, {85, 3}}),
      Convolution(2, 3, 16, 1, {{16, 1}, {16, 1}}),
      Convolution(2, 3, 4, 1, {{5, 3}, {21, 3}, {10, 3}}),
      Transposed(Convolution(2, 8, 6, 2, {{9, 3, 2, 1}, {37, 3, 2, 1, 1, 1}})),
      Transposed(Convolution(2, 3, 5, 1, {{41, 5, 1, 2}})),
      Convolution(1, 16, 6, 1, {{259, 3, 2, 1}}),
      Transposed(Convolution(1, 16, 6, 1, {{171, 7, 3, 2}})),
  };
  for (ConvSpec spec : specs) {
    spec.bias = true;
    // The second comment is so long that kernels keep the epilogue out of their tiles.
    for (const std::string& comment : {std::string(), long_comment}) {
      spec.epilogue = [comment](const OutputSite& site) {
        return comment + fmt::format(
                             "for (std::int64_t lane = 0; lane < {}; ++lane)\n"
                             "  {}[lane] = 2.0f * {}[lane] + static_cast<float>({} + 10 * {} + ({} "
                             "+ lane) % 7);",
                             site.lanes, site.value, site.value, site.batch, site.row, site.column);
      };
      program.Add(spec, target, "2 * x + n + 10 * o + p % 7");
    }
  }
}

class ConvKernelTest : public testing::TestWithParam<TestCompiler> {
 protected:
  void SetUp() override {
    if (!Installed(GetParam())) GTEST_SKIP() << GetParam().name << " is not installed";
  }
};
INSTANTIATE_TEST_SUITE_P(Compilers, ConvKernelTest, testing::ValuesIn(CompilersOfAll()));

TEST_P(ConvKernelTest, EveryConvolutionIsRight) {
  Program program;
  AddStandardOnes(program);
  AddTransposedOnes(program);
  AddPiecesOfRows(program);
  AddEpiloguesAndLargeOutputs(program);
  EXPECT_EQ(program.Run(GetParam()), "");
}

TEST(ConvKernel, AnotherCompilerTakesThem) {
  if (!Installed(CompilerOfSome())) GTEST_SKIP() << CompilerOfSome().name << " is not installed";
  Program program;
  AddEpiloguesAndLargeOutputs(program);
  EXPECT_EQ(program.Run(CompilerOfSome()), "");
}

TEST(ConvKernel, LargeOutputsAreWrittenPastTheCaches) {
  Program program;
  AddEpiloguesAndLargeOutputs(program);
  EXPECT_THAT(program.kernels, HasSubstr("Stream(out + index, value)"));
}

TEST(ConvKernel, TunablesMayTakeTheirExtremes) {
  Program program;
  const KernelTarget target = SmallCaches();
  program.Add(Convolution(2, 3, 9, 1, {{23, 3, 2, 1}, {71, 5, 1, 2}}), target);
  program.Add(Transposed(Convolution(2, 8, 16, 4, {{9, 3, 2, 1, 2}, {23, 5, 2, 2}})), target);
  program.Add(Convolution(1, 3, 20, 1, {{5, 3}, {21, 3}, {10, 3}}), target);
  for (const char* extreme : {"min", "max"}) {
    if (!Installed(WithExtremes(extreme))) GTEST_SKIP() << "g++ is not installed";
    EXPECT_EQ(program.Run(WithExtremes(extreme)), "") << extreme;
  }
}

TEST(ConvPlan, InputsThatAreReadInPlaceAreNotCopied) {
  const KernelTarget target;
  EXPECT_FALSE(PlanConv(Convolution(1, 3, 64, 1, {{64, 3}, {64, 3}}), target).copy);
  EXPECT_TRUE(PlanConv(Convolution(1, 3, 64, 1, {{64, 3, 1, 1}, {64, 3}}), target).copy);
  EXPECT_TRUE(PlanConv(Convolution(1, 3, 64, 1, {{64, 3}, {64, 3, 2}}), target).copy);
}

TEST(ConvPlan, OnlySlotsThatSomeTapReadsAreCopied) {
  const ConvPlan pointwise = PlanConv(Convolution(1, 3, 4, 1, {{64, 1, 2}}), KernelTarget{});
  EXPECT_THAT(pointwise.axes[0].slots, ElementsAre(0));
  const ConvPlan dilated = PlanConv(Convolution(1, 3, 4, 1, {{64, 3, 4, 0, 2}}), KernelTarget{});
  EXPECT_THAT(dilated.axes[0].slots, ElementsAre(0, 2));
}

// In a transposed convolution with stride, each output uses only the taps of its phase.
TEST(ConvPlan, PhasesShareOutTheTaps) {
  const ConvPlan plan =
      PlanConv(Transposed(Convolution(1, 8, 4, 1, {{16, 3, 5, 0, 2}})), KernelTarget{});
  ASSERT_EQ(plan.axes[0].taps.size(), 5);
  EXPECT_EQ(plan.axes[0].taps[0].size(), 1);
  EXPECT_EQ(plan.axes[0].taps[1].size(), 0);
  EXPECT_EQ(plan.axes[0].taps[4].size(), 1);
}

TEST(ConvPlan, ThreadsShareTheOnlyRow) {
  KernelTarget target;
  target.threads = 4;
  const ConvPlan plan = PlanConv(Convolution(1, 512, 512, 1, {{3000, 3, 2, 1}}), target);
  EXPECT_LE(plan.band * 4, plan.axes[0].steps);
  EXPECT_EQ(plan.band % 16, 0);
}

TEST(ConvPlan, ShortRowsShareVectors) {
  EXPECT_EQ(PlanConv(Convolution(1, 3, 64, 1, {{64, 3}, {10, 3}}), KernelTarget{}).flat, 2);
  EXPECT_EQ(PlanConv(Convolution(1, 3, 64, 1, {{64, 3}, {66, 3}}), KernelTarget{}).flat, 1);
}

}  // namespace
}  // namespace pragma::expert
