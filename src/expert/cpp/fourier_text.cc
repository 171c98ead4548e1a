#include "expert/cpp/fourier_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/ir/fourier.h"
#include "expert/ir/program.h"
#include "expert/ir/target.h"

namespace pragma::expert {
namespace {

// The roots of unity come from a coarse and a fine table, so that a compiler can compute them.
constexpr std::string_view kRoots = R"(constexpr std::int64_t kPoints = @points@;
constexpr double kSign = @sign@;  // of the exponent
struct Root {
  @type@ cos = 0, sin = 0;
};
struct WideRoot {
  double cos = 0, sin = 0;
};

// exp(2 pi i k / kPoints), by its series within an eighth of the circle.
constexpr WideRoot RootBySeries(std::int64_t k) {
  const std::int64_t quarter = (8 * k / kPoints + 1) / 2;
  const double x = 1.57079632679489661923 * static_cast<double>(4 * k - quarter * kPoints) / kPoints;
  double cos = 1, sin = x, even = 1, odd = x;
  for (int n = 1; n < 10; ++n) {
    even *= -x * x / (2 * n * (2 * n - 1));
    odd *= -x * x / (2 * n * (2 * n + 1));
    cos += even;
    sin += odd;
  }
  switch (quarter % 4) {
    case 0: return {cos, sin};
    case 1: return {-sin, cos};
    case 2: return {-cos, -sin};
    default: return {sin, -cos};
  }
}

constexpr std::int64_t kFine = 128;
constexpr auto kRoots = [] {
  std::array<WideRoot, kFine> fine{};
  for (std::int64_t k = 0; k < kFine && k < kPoints; ++k) fine[k] = RootBySeries(k);
  std::array<Root, kPoints> roots{};
  WideRoot coarse;
  for (std::int64_t k = 0; k < kPoints; ++k) {
    if (k % kFine == 0) coarse = RootBySeries(k);
    const WideRoot near = fine[k % kFine];
    roots[k].cos = static_cast<@type@>(coarse.cos * near.cos - coarse.sin * near.sin);
    roots[k].sin = static_cast<@type@>(kSign * (coarse.cos * near.sin + coarse.sin * near.cos));
  }
  return roots;
}();
)";

constexpr std::string_view kPasses = R"(
// Lane i belongs to line i of a group.
typedef @type@ Lanes __attribute__((vector_size(@bytes@)));
constexpr std::int64_t kGroup = sizeof(Lanes) / sizeof(@type@);
struct Point {
  Lanes re, im;
};
static inline Point operator+(Point a, Point b) { return {a.re + b.re, a.im + b.im}; }
static inline Point operator-(Point a, Point b) { return {a.re - b.re, a.im - b.im}; }
static inline Point operator*(Point a, Root w) {
  return {a.re * w.cos - a.im * w.sin, a.re * w.sin + a.im * w.cos};
}
static inline Point Scaled(Point a, @type@ factor) { return {a.re * factor, a.im * factor}; }
static inline Point TimesI(Point a) { return {-a.im, a.re}; }
static inline Point Conjugate(Point a) { return {a.re, -a.im}; }

// The transform of kRadix points. Two of them that are as far from both ends share their products.
template <int kRadix>
static inline void Small(const Point* a, Point* b) {
  if constexpr (kRadix == 2) {
    b[0] = a[0] + a[1];
    b[1] = a[0] - a[1];
  } else if constexpr (kRadix == 4) {
    const Point even = a[0] + a[2], odd = a[1] + a[3];
    const Point half = a[0] - a[2];
    const Point turned = Scaled(TimesI(a[1] - a[3]), static_cast<@type@>(kSign));
    b[0] = even + odd;
    b[1] = half + turned;
    b[2] = even - odd;
    b[3] = half - turned;
  } else {
    b[0] = a[0];
    for (int k = 1; k < kRadix; ++k) b[0] = b[0] + a[k];
    for (int j = 1; j <= kRadix / 2; ++j) {
      Point even = a[0], odd{};
      for (int k = 1; k <= kRadix / 2; ++k) {
        const Root root = kRoots[j * k % kRadix * (kPoints / kRadix)];
        even = even + Scaled(a[k] + a[kRadix - k], root.cos);
        odd = odd + Scaled(a[k] - a[kRadix - k], root.sin);
      }
      b[j] = even + TimesI(odd);
      b[kRadix - j] = even - TimesI(odd);
    }
  }
}

// One step of transforms of `points` points, of which `stride` lie between each other.
template <int kRadix>
static void Pass(const Point* from, Point* to, std::int64_t points, std::int64_t stride) {
  const std::int64_t part = points / kRadix;
  for (std::int64_t p = 0; p < part; ++p) {
    for (std::int64_t q = 0; q < stride; ++q) {
      Point a[kRadix], b[kRadix];
      for (int k = 0; k < kRadix; ++k) a[k] = from[q + stride * (p + part * k)];
      Small<kRadix>(a, b);
      Point* at = to + q + stride * kRadix * p;
      at[0] = b[0];
      for (int j = 1; j < kRadix; ++j) at[stride * j] = b[j] * kRoots[p * j * stride * kRootStep];
    }
  }
}

// Returns where the result is: in `a` or in `b`.
static Point* Transform(Point* a, Point* b) {
@passes@  return @result@;
}
)";

constexpr std::string_view kRun = R"(
constexpr std::int64_t kInner = @inner@;
constexpr std::int64_t kGiven = @given@;  // elements of a line, of which a complex one is a pair
constexpr std::int64_t kKept = @kept@;
constexpr std::int64_t kLines = @lines@;
constexpr std::int64_t kRead = @read@;        // points
constexpr std::int64_t kWritten = @written@;  // points
constexpr std::int64_t kRoom = std::max({kRead, kWritten, kTransformed});
constexpr @type@ kScale = static_cast<@type@>(@scale@);
constexpr std::size_t kScratchBytes = @threads@ * 2 * kRoom * sizeof(Point) + 64;

// The lines of a group are neighbours in memory, or else some points of a line are moved together.
constexpr bool kBeside = kInner % kGroup == 0;
constexpr std::int64_t kBlock = 16;

// The parts of point i of a line are at i * kStep and kImaginary elements further.
template <std::int64_t kStep, std::int64_t kImaginary, std::int64_t kNext>
static inline void Read(const @type@* const* lines, Point* points) {
  for (std::int64_t first = 0; first < kRead; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, kRead);
    for (std::int64_t lane = 0; lane < (kBeside ? 1 : kGroup); ++lane) {
      const @type@* line = lines[lane];
      for (std::int64_t i = first; i < end; ++i) {
        for (std::int64_t more = lane; more < (kBeside ? kGroup : lane + 1); ++more) {
          const @type@* at = line + i * kStep + (more - lane) * kNext;
          points[i].re[more] = at[0];
          points[i].im[more] = kImaginary > 0 ? at[kImaginary] : 0;
        }
      }
    }
  }
}
template <std::int64_t kStep, std::int64_t kImaginary, std::int64_t kNext>
static inline void Write(@type@* const* lines, std::int64_t count, const Point* points) {
  for (std::int64_t first = 0; first < kWritten; first += kBlock) {
    const std::int64_t end = std::min(first + kBlock, kWritten);
    for (std::int64_t lane = 0; lane < (kBeside ? 1 : count); ++lane) {
      @type@* line = lines[lane];
      for (std::int64_t i = first; i < end; ++i) {
        for (std::int64_t more = lane; more < (kBeside ? kGroup : lane + 1); ++more) {
          @type@* at = line + i * kStep + (more - lane) * kNext;
          at[0] = points[i].re[more] * kScale;
          if constexpr (kImaginary > 0) at[kImaginary] = points[i].im[more] * kScale;
        }
      }
    }
  }
}

static void Run(const @type@* x, @type@* result, void* scratch) {
@parallel@  for (std::int64_t first = 0; first < kLines; first += kGroup) {
    const std::int64_t count = std::min(kGroup, kLines - first);
    const @type@* from[kGroup];
    @type@* to[kGroup];
    for (std::int64_t lane = 0; lane < kGroup; ++lane) {
      const std::int64_t line = first + std::min(lane, count - 1);
      const std::int64_t start = line / kInner * kInner;
      from[lane] = x + (start * kGiven + line % kInner) * @pair_in@;
      to[lane] = result + (start * kKept + line % kInner) * @pair_out@;
    }
    const auto begin = (reinterpret_cast<std::uintptr_t>(scratch) + 63) / 64 * 64;
    Point* a = reinterpret_cast<Point*>(begin) + omp_get_thread_num() * 2 * kRoom;
    Point* b = a + kRoom;
    Read<@read_form@>(from, a);
@before@    const Point* done = Transform(a, b);
@after@    Write<@write_form@>(to, count, done);
  }
}
)";

// A line of an even number of real points is one of half as many complex points, whose transform Z
// holds those of the points with even and with odd numbers: Z_k +- the conjugate of Z_(-k).
constexpr std::string_view kSplit = R"(    Point* whole = done == a ? b : a;
    for (std::int64_t k = 0; k < kWritten; ++k) {
      const Point one = done[k % kTransformed];
      const Point other = Conjugate(done[(kPoints - k) % kTransformed]);
      const Point odd = TimesI(other - one) * kRoots[k];
      whole[k] = Scaled(one + other + odd, static_cast<@type@>(0.5));
    }
    done = whole;
)";
// The first and the middle number are real by definition.
constexpr std::string_view kJoin = R"(    a[0].im = a[kTransformed].im = Lanes{};
    for (std::int64_t k = 0; k < kTransformed; ++k) {
      const Point one = a[k], other = Conjugate(a[kTransformed - k]);
      b[k] = one + other + TimesI((one - other) * kRoots[k]);
    }
    std::swap(a, b);
)";
// The other half of the line is the conjugate of this one, whose first number is real.
constexpr std::string_view kMirror = R"(    a[0].im = Lanes{};
    for (std::int64_t i = 1; i < kRead; ++i) a[kPoints - i] = Conjugate(a[i]);
)";

// What becomes of a line between memory and the transform.
struct Form {
  std::int64_t transformed = 1;  // complex points
  std::int64_t read = 1;         // points
  std::int64_t written = 1;
  std::string read_form;  // template arguments of Read and Write
  std::string write_form;
  std::string_view before;
  std::string_view after;
};

Form FormOf(const Routine& routine) {
  const std::int64_t points = routine.length;
  const std::string pairs = fmt::format("{}, 1, 2", 2 * routine.inner);
  const std::string reals = fmt::format("{}, 0, 1", routine.inner);
  const std::string halves = fmt::format("{}, {}, 1", 2 * routine.inner, routine.inner);
  const std::int64_t half = points / 2;
  if (routine.real_input && points % 2 == 0)
    return {half, half, routine.kept, halves, pairs, "", kSplit};
  if (routine.real_output && points % 2 == 0)
    return {half, half + 1, half, pairs, halves, kJoin, ""};
  if (routine.real_input) return {points, points, routine.kept, reals, pairs, "", ""};
  if (routine.real_output) return {points, half + 1, points, pairs, reals, kMirror, ""};
  return {points, points, routine.kept, pairs, pairs, "", ""};
}

std::string PassesText(std::int64_t points, bool& swapped) {
  std::string text;
  std::int64_t stride = 1;
  swapped = false;
  for (const std::int64_t radix : RadicesOf(points)) {
    text += fmt::format("  Pass<{}>({}, {}, {}, {});\n", radix, swapped ? "b" : "a",
                        swapped ? "a" : "b", points, stride);
    points /= radix;
    stride *= radix;
    swapped = !swapped;
  }
  return text;
}

}  // namespace

std::string FourierText(const Routine& routine, DType dtype, const KernelTarget& target,
                        const std::string& parallel) {
  const std::string type(DTypeCppName(dtype));
  const Form form = FormOf(routine);
  bool swapped = false;
  const std::string passes = PassesText(form.transformed, swapped);
  std::string text = FillIn(kRoots, {{"points", std::to_string(routine.length)},
                                     {"sign", routine.forward ? "-1" : "1"},
                                     {"type", type}});
  text += fmt::format(
      "constexpr std::int64_t kTransformed = {};\n"
      "constexpr std::int64_t kRootStep = kPoints / kTransformed;\n",
      form.transformed);
  text += FillIn(kPasses, {{"type", type},
                           {"bytes", std::to_string(4 * target.lanes)},
                           {"passes", passes.empty() ? "  (void)b;\n" : passes},
                           {"result", swapped ? "b" : "a"}});
  const std::int64_t given = routine.real_output ? routine.length / 2 + 1 : routine.length;
  text += FillIn(kRun, {{"type", type},
                        {"inner", std::to_string(routine.inner)},
                        {"given", std::to_string(given)},
                        {"kept", std::to_string(routine.kept)},
                        {"lines", std::to_string(routine.outer * routine.inner)},
                        {"read", std::to_string(form.read)},
                        {"written", std::to_string(form.written)},
                        {"read_form", form.read_form},
                        {"write_form", form.write_form},
                        {"scale", fmt::format("{:.17g}", routine.scale)},
                        {"threads", std::to_string(std::max(1, target.threads))},
                        {"pair_in", routine.real_input ? "1" : "2"},
                        {"pair_out", routine.real_output ? "1" : "2"},
                        {"before", std::string(form.before)},
                        {"after", FillIn(form.after, {{"type", type}})},
                        {"parallel", parallel}});
  return text;
}

}  // namespace pragma::expert
