// Comparator: compares a kernel's output with the truth (the fp64 reference). It is NaN-safe and
// built without fast-math.
//
// An element y passes against its true value r when |y - r| <= rel * (|r| + rms(r)), written so
// that NaN fails. `rel` scales with what honest single-precision arithmetic costs. It is the larger
// of Torch's own error on the same inputs and a bound for a plain running sum in the output's
// precision. The error of such a sum grows like eps * sqrt(n) for n terms (random rounding; Higham,
// Accuracy and Stability, 2nd ed., 2.8). Where the terms are nearly equal, they are rounded in the
// same way again and again, and the error grows like eps * n / 4 (for n equal terms: eps / 2 of
// each partial sum; 4.2 there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error_figures.h"
#include "core/error_pass.h"
#include "core/task.h"

namespace pragma {

// Views of one output tensor. `actual` is what the kernel wrote. `expected` is float64 or the
// output's own type for floating outputs, as its size says; for other outputs it has their own
// type. `native` is Torch's own result in the task's precision, or empty.
struct OutputView {
  const TensorSpec* spec = nullptr;
  std::span<const std::byte> actual;
  std::span<const std::byte> expected;
  std::span<const std::byte> native;
};

struct Tolerance {
  double rel = 0;     // allowed error of an element, relative to |r| + rms(r)
  double rel_l2 = 0;  // allowed L2 error, relative to ||r||
  double honest_rel_l2 = 0;
  // Elements whose true value is NaN or infinite are not judged, only counted.
  bool where_finite = false;
  // An error up to this size counts as no error. For a truth that consists only of zeros and so has
  // no magnitude of its own.
  double absolute = 0;
};

// The terms that are added up to one element.
struct Terms {
  std::int64_t count = 1;
  bool repeat = false;  // the terms are nearly equal or have few distinct values
};

// Derives a tolerance from the error of Torch's own result: `native` against `expected`, both of
// which must be given.
[[nodiscard]] Tolerance DeriveTolerance(const OutputView& torch, const Terms& terms);
[[nodiscard]] Tolerance DeriveTolerance(const TensorSpec& spec, const ErrorPass& torch,
                                        const Terms& terms);
// Returns the tolerance for an output of a timed call, which is compared with Torch's own result
// instead of the truth. It adds that result's own error and leaves room for the worst of many sets.
[[nodiscard]] Tolerance AgainstTorch(const Tolerance& tolerance);
// Returns the truth's largest magnitude divided by its root mean square; 1 when the truth is all
// zero.
[[nodiscard]] double PeakOverRms(const OutputView& view);
// Returns the looser of two tolerances. For several input sets of one output.
[[nodiscard]] Tolerance Looser(const Tolerance& a, const Tolerance& b);

struct Comparison {
  bool ok = false;
  std::string reason;  // where the output is wrong and by how much, when not ok
  // Some element is wrong by a large part of itself, though by little compared with the whole
  // output. Whether that is an error depends on the element (conditioning.h).
  bool small_values = false;
  ErrorFigures error;
  std::string odd;  // elements that are not judged: the truth is not finite there, and the output
                    // differs from it
};

[[nodiscard]] Comparison Compare(const OutputView& view, const Tolerance& tolerance);
// Judges an error pass that was made elsewhere (task/referee.h). `text` returns an element's name,
// place and values; it is called only for elements that the pass names.
using ElementTexts = std::function<std::string(std::size_t flat)>;
[[nodiscard]] Comparison Judge(const TensorSpec& spec, const ErrorPass& pass,
                               const Tolerance& tolerance, const ElementTexts& text);
// Returns "out[3, 4]: VALUES".
[[nodiscard]] std::string ElementAt(const TensorSpec& spec, std::size_t flat,
                                    const std::string& values);

// Judges several outputs, one after the other. Returns the first wrong one, or else (ok) the
// figures of the least exact one.
using JudgeOutput = std::function<Comparison(std::size_t output)>;
[[nodiscard]] Comparison WorstOf(std::size_t outputs, const JudgeOutput& judge);
// Compares several outputs in this way, each with its own tolerance.
[[nodiscard]] Comparison CompareAll(std::span<const OutputView> views,
                                    std::span<const Tolerance> tolerances);

// Applies KernelBench's rule, which compares with Torch's own result t: |y - t| <= 1e-4 + 1e-4 |t|
// in fp32 (1e-2 in 16-bit types), never true for NaN. Needs `native`.
[[nodiscard]] bool OfficiallyCorrect(const OutputView& view);

// True if no element of a tensor in its own dtype is NaN or infinite.
[[nodiscard]] bool AllFinite(const TensorSpec& spec, std::span<const std::byte> data);
// True if the truth consists of integers that fp32 holds exactly and Torch (`native`) gets each of
// them right.
[[nodiscard]] bool ExactIntegers(const OutputView& torch);

// True if any element of a floating tensor is NaN or infinite. The tensor has its own type or
// float64, as its size says.
[[nodiscard]] bool HasNonFinite(const TensorSpec& spec, std::span<const std::byte> expected);

}  // namespace pragma
