// Conditioning, element by element: how far the truth itself moves when inputs are changed by what
// rounding does to them. An element may be off by that much, and no other element by it: a few
// ill-conditioned elements say nothing of the rest of an output. Where the truth does not move and
// Torch gets it, even a small element must be right in the relative sense: a probability of 1e-9
// that is written as zero is wrong, whatever its neighbours are.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/task.h"
#include "verify/comparator.h"

namespace pragma {

// The largest movement of each element of one floating output.
class Movement final {
 public:
  explicit Movement(std::size_t elements) : allowed_(elements) {}
  // Both float64. Each element may then be off by `factor` times what it moved. Where either is not
  // finite nothing is added.
  void Add(std::span<const std::byte> truth, std::span<const std::byte> moved, double factor);
  // After the last Add: what is typical of the output (the median of a sample).
  void Settle();
  // What an honest kernel may be off there because of its inputs.
  [[nodiscard]] double Allowance(std::size_t element) const { return allowed_[element]; }
  // The same, or what is typical if that is more: algorithms that mix neighbours (Winograd's) carry
  // an ordinary error to each element.
  [[nodiscard]] double AllowanceOrTypical(std::size_t element) const;

 private:
  std::vector<float> allowed_;
  float typical_ = 0;
};

// So many changed copies of the inputs are asked for: for a second opinion, and where a single
// element decides, which by chance may hardly move in a few of them.
inline constexpr int kMovements = 3;
inline constexpr int kMovementsOfSmall = 8;
inline constexpr double kConditionFactor = 12;
// Where the truth jumps (a soft-max with two scores that differ by less than their rounding), three
// copies often lie on one side of the jump: of honest kernels that took the other side, one in
// three was called wrong. So a kernel that fails is held against many more copies. The jump itself
// is seen whole, so these count with a small factor, and widen nothing where the truth is smooth.
inline constexpr int kFurtherMovements = 24;
inline constexpr double kFurtherFactor = 2;
// A jump is rare: a kernel that is off by more than this of its output has another defect, and is
// not worth the time.
inline constexpr double kJumpsAreFew = 0.1;  // relative L2 error

// As Compare, of errors less their allowance. `view.expected` is float64.
[[nodiscard]] Comparison CompareConditioned(const OutputView& view, const Tolerance& tolerance,
                                            const Movement& movement);

// No element of the truth has another sign than another. Where signs differ, sums cross zero, and
// an honest error that is ordinary for the output is large beside an element that happens to be
// small.
[[nodiscard]] bool OfOneSign(const OutputView& view);
// A relative error that no rounding of a well-conditioned element makes.
[[nodiscard]] double LargeRelativeError(DType dtype);
// The first element that is so far off though Torch (`view.native`) is near and the truth does not
// move, as "out[3, 4]: got 0, expected 1e-09"; nullopt: there is none.
[[nodiscard]] std::optional<std::string> WrongSmallValue(const OutputView& view,
                                                         const Movement& movement);

}  // namespace pragma
