// Comparator: a kernel's output against the truth (fp64), NaN-safe. Built without fast-math.
//
// An element passes when |y - r| <= rel * (|r| + rms(r)), written so that NaN fails. `rel` scales
// with what honest single-precision arithmetic costs: the larger of Torch's own error on the same
// inputs and a bound for a plain running sum in the output's precision, whose error grows like
// eps * sqrt(n) for n terms (random rounding; Higham, Accuracy and Stability, 2nd ed., 2.8). Where
// the terms are nearly equal, they are rounded the same way again and again and it grows like
// eps * n / 4 (of n equal ones: eps / 2 of each partial sum; 4.2 there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/error_pass.h"
#include "core/evaluation.h"
#include "core/task.h"

namespace pragma {

// Views of one output tensor. `expected`: of floating outputs float64 or the output's own type, as
// its size says; of others their own type. `native`: Torch's own result in the task's precision, or
// empty.
struct OutputView {
  const TensorSpec* spec = nullptr;
  std::span<const std::byte> actual;
  std::span<const std::byte> expected;
  std::span<const std::byte> native;
};

struct Tolerance {
  double rel = 0;     // of |r| + rms(r), elementwise
  double rel_l2 = 0;  // of ||r||
  double honest_rel_l2 = 0;
  // Places where the truth is NaN or infinite are not judged, only counted.
  bool where_finite = false;
  // Errors up to it are none: for a truth that is nothing but zeros, which has no size of its own.
  double absolute = 0;
};

// What flows into an element.
struct Terms {
  std::int64_t count = 1;
  bool repeat = false;  // nearly equal, or few distinct values
};

// From the error of Torch's own result (`native` against `expected`, both given).
[[nodiscard]] Tolerance DeriveTolerance(const OutputView& torch, const Terms& terms);
[[nodiscard]] Tolerance DeriveTolerance(const TensorSpec& spec, const ErrorPass& torch,
                                        const Terms& terms);
// For an output of a timed call, held against Torch's own result instead of the truth: that
// result's error on top, and room for the worst of many sets.
[[nodiscard]] Tolerance AgainstTorch(const Tolerance& tolerance);
// Of the truth: its largest size over its root mean square; 1 when it is all zero.
[[nodiscard]] double PeakOverRms(const OutputView& view);
// The looser of two, for several input sets of one output.
[[nodiscard]] Tolerance Looser(const Tolerance& a, const Tolerance& b);

struct Comparison {
  bool ok = false;
  std::string reason;  // where and how far off, when not ok
  // Some element is off by a large part of itself, though by little of the output: whether that is
  // wrong depends on the element (conditioning.h).
  bool small_values = false;
  ErrorFigures error;
  std::string odd;  // not judged: where the truth is not finite and something else was found
};

[[nodiscard]] Comparison Compare(const OutputView& view, const Tolerance& tolerance);
// The same of a pass that was made elsewhere (task/referee.h). `text`: the element's name, place
// and values; it is asked only about elements that the pass names.
using ElementTexts = std::function<std::string(std::size_t flat)>;
[[nodiscard]] Comparison Judge(const TensorSpec& spec, const ErrorPass& pass,
                               const Tolerance& tolerance, const ElementTexts& text);
// "out[3, 4]: VALUES"
[[nodiscard]] std::string ElementAt(const TensorSpec& spec, std::size_t flat,
                                    const std::string& values);

// Of several outputs with a tolerance each: the first wrong one, else (ok) the least exact one.
[[nodiscard]] Comparison CompareAll(std::span<const OutputView> views,
                                    std::span<const Tolerance> tolerances);

// KernelBench's rule against Torch's own result: |y - t| <= 1e-4 + 1e-4 |t| in fp32 (1e-2 in 16
// bit), never true for NaN. Needs `native`.
[[nodiscard]] bool OfficiallyCorrect(const OutputView& view);

// No element of a tensor in its own dtype is NaN or infinite.
[[nodiscard]] bool AllFinite(const TensorSpec& spec, std::span<const std::byte> data);
// The truth consists of integers that fp32 holds exactly, and Torch (`native`) gets each of them.
[[nodiscard]] bool ExactIntegers(const OutputView& torch);

// True when any element of a floating tensor (native or float64 as its size says) is NaN or
// infinite.
[[nodiscard]] bool HasNonFinite(const TensorSpec& spec, std::span<const std::byte> expected);

}  // namespace pragma
