// Conditioning, element by element: how far the truth itself moves when the inputs are changed by
// what rounding does to them. An element may be wrong by its own movement and by no other
// element's, because a few ill-conditioned elements say nothing about the rest of an output. Where
// the truth does not move and Torch gets it right, even a small element must be right in the
// relative sense: a probability of 1e-9 that is written as zero is wrong, whatever its neighbours
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/task.h"
#include "values/comparator.h"

namespace pragma {

// How far each element of one output moves. For a floating output that is its largest movement; for
// an integer output it is the other values that the element takes.
class Movement final {
 public:
  explicit Movement(std::size_t elements) : allowed_(elements) {}
  // Adds one movement, from `truth` to `moved`; both are float64. Each element may then be wrong by
  // `factor` times its movement. Where either value is not finite, nothing is added.
  void Add(std::span<const std::byte> truth, std::span<const std::byte> moved, double factor);
  // Adds the elements in which `moved` differs from `truth`; both hold integers of `width` bytes.
  void AddIntegers(std::span<const std::byte> truth, std::span<const std::byte> moved,
                   std::size_t width);
  // Returns an integer output with each element that is one of its other values replaced by the
  // truth.
  [[nodiscard]] std::vector<std::byte> Explained(std::span<const std::byte> actual,
                                                 std::span<const std::byte> truth,
                                                 std::size_t width) const;
  // Computes the typical allowance of the output (the median of a sample). Call it after the last
  // Add.
  void Settle();
  // Returns how far an honest kernel may be off in this element because of its inputs.
  [[nodiscard]] double Allowance(std::size_t element) const { return allowed_[element]; }
  // Returns the element's allowance or the typical one, whichever is larger. Algorithms that mix
  // neighbours (Winograd's) carry an ordinary error to each element.
  [[nodiscard]] double AllowanceOrTypical(std::size_t element) const;
  // Returns the largest movement of an element in any copy.
  [[nodiscard]] double farthest() const { return farthest_; }
  // Returns the largest L2 distance of a copy from the truth.
  [[nodiscard]] double distance() const { return distance_; }

 private:
  struct Other {
    std::size_t element = 0;
    std::uint64_t value = 0;  // the integer's bytes
  };

  std::vector<float> allowed_;
  std::vector<Other> others_;
  float typical_ = 0;
  double farthest_ = 0;
  double distance_ = 0;
};

// Numbers of changed copies of the inputs that are computed: for a second opinion, and where a
// single element decides. By chance, such an element may hardly move in only a few copies.
inline constexpr int kMovements = 3;
inline constexpr int kMovementsOfSmall = 8;
inline constexpr double kConditionFactor = 12;
// More copies for a kernel that fails. The truth may jump, for example in a soft-max with two
// scores that differ by less than their rounding. Three copies often end up on the same side of the
// jump: of honest kernels that took the other side, one in three was called wrong. A kernel that
// fails is therefore compared with many more copies. The copies show the jump at its full size, so
// they count with a small factor and widen nothing where the truth is smooth.
inline constexpr int kFurtherMovements = 24;
inline constexpr double kFurtherFactor = 2;
// Changed copies on which Torch's own error is measured, before a kernel is called wrong.
inline constexpr int kTorchsErrors = 8;
// Jumps are rare. A kernel that is wrong by more than this part of its output has another defect,
// and further copies are not worth the time.
inline constexpr double kJumpsAreFew = 0.1;  // relative L2 error

// kAnywhere: which elements move is a matter of chance, as where a kernel chooses among equal
// elements. The output may then be as far from the truth as copies are, up to kFurtherFactor.
enum class Jumps : std::uint8_t { kWhereSeen, kAnywhere };
// Like Compare, but subtracts each element's allowance from its error. `view.expected` is float64.
[[nodiscard]] Comparison CompareConditioned(const OutputView& view, const Tolerance& tolerance,
                                            const Movement& movement,
                                            Jumps jumps = Jumps::kWhereSeen);

// True if all elements of the truth have the same sign. Where signs differ, sums cross zero. An
// honest error that is ordinary for the output is then large compared with an element that happens
// to be small.
[[nodiscard]] bool OfOneSign(const OutputView& view);
// Returns a relative error that is larger than rounding causes in any well-conditioned element.
[[nodiscard]] double LargeRelativeError(DType dtype);
// Returns the first element with such an error where Torch (`view.native`) is close and the truth
// does not move, as "out[3, 4]: got 0, expected 1e-09". Returns nullopt if no
// element is wrong.
[[nodiscard]] std::optional<std::string> WrongSmallValue(const OutputView& view,
                                                         const Movement& movement,
                                                         Jumps jumps = Jumps::kWhereSeen);

}  // namespace pragma
