// ProgramBuilder: turns values of a graph into steps of a program, as late as possible. Pointwise
// operators and views stay expressions until something needs their elements in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// A tensor of the graph. The expression's forms are over the shape `dims`, which has the same
// elements in the same order as `shape`. The two differ only while a reshape could not be made part
// of the forms (and may never have to be).
struct Value {
  ExprPtr expr;
  Shape dims;
  Shape shape;
  DType dtype = DType::kFloat32;
  bool complex =
      false;  // pairs of real numbers in a last dimension that the graph's tensor has not
};

// Returns by how many elements the second value lies behind the first, or nullopt where they are
// not the same elements of one buffer, moved.
[[nodiscard]] std::optional<std::int64_t> ElementsBetween(const Value& first, const Value& other);

// What the language of the kernel needs.
struct LowerPolicy {
  // Operands of batched products have one stride from matrix to matrix. Others are copied.
  bool one_batch = true;
  // Unrolled loops become repeats again (unrolled.h).
  bool loops = true;
  // Where a few parts of one tensor are put together, each element is chosen where it is read.
  // Otherwise the parts are copied side by side, one after the other, so that each copy has
  // vectors.
  bool selects_parts = false;
  // What several operators read is stored where each of them would read several large tensors.
  bool stores_shared = false;
};

// A concatenation in memory, and the graph's names of the tensors in it.
struct Concatenation {
  std::vector<std::string> tensors;
  std::size_t dimension = 0;
  Value whole;
};

// Above this number of instructions an element is stored rather than computed again.
inline constexpr double kCheap = 5;

class ProgramBuilder final {
 public:
  explicit ProgramBuilder(Program& program, const LowerPolicy& policy = {})
      : program_(program), policy_(policy) {}

  void Keep(Concatenation made) { concatenations_.push_back(std::move(made)); }
  // Returns the longest concatenation along this dimension with which these tensors begin, or null.
  [[nodiscard]] const Concatenation* LongestStart(const std::vector<std::string>& tensors,
                                                  std::size_t dimension) const;

  // Sets the name and the description of the steps made from now on.
  void Begin(std::string_view name, std::string_view what);

  [[nodiscard]] int NewBuffer(DType dtype, const Shape& shape);
  [[nodiscard]] Value Whole(int buffer) const;  // all elements of a buffer
  [[nodiscard]] static Value Number(double value, DType dtype);
  [[nodiscard]] static Value Filled(double value, DType dtype, const Shape& shape);
  [[nodiscard]] static Value Positions(AffineForm form, Shape shape);  // int64

  // Returns the value with dims == shape.
  [[nodiscard]] Value Settled(const Value& value);
  // Returns the value in a contiguous buffer of its own. An argument or an earlier result is
  // returned as it is.
  [[nodiscard]] Value Stored(const Value& value);
  // Does the same, but the buffer has the dimensions in the order in which the largest tensor that
  // the value reads has them. So a transposed value is written as it is read.
  [[nodiscard]] Value StoredAsRead(const Value& value);
  // Returns the value as a load from memory, where Stored has already written it there.
  [[nodiscard]] Value Known(const Value& value) const;
  // Stores the value where computing it several times costs more than keeping it.
  [[nodiscard]] Value ForReuse(const Value& value);
  void StoreInto(const Value& value, int buffer, const AffineForm& place);

  [[nodiscard]] Value Reshaped(const Value& value, const Shape& shape);
  [[nodiscard]] Value Mapped(const Value& value, const IndexMap& map, const Shape& shape);
  [[nodiscard]] Value Expanded(const Value& value, const Shape& shape);

  using Combine = std::function<ExprPtr(const std::vector<ExprPtr>&)>;
  // Applies `combine` to the values with broadcasting. If `compute` is given, each argument is
  // first cast to it.
  [[nodiscard]] Value Pointwise(const std::vector<Value>& values, std::optional<ExprType> compute,
                                DType result, const Combine& combine);

  struct FoldPlan {
    Fold fold = Fold::kSum;
    std::vector<bool> folded;
    bool keep = false;    // reduced dimensions stay, with size 1
    AffineForm position;  // kArgMin, kArgMax: the index of an element
    DType dtype = DType::kFloat32;
  };
  [[nodiscard]] Value Folded(const Value& value, const FoldPlan& plan);
  [[nodiscard]] Value Scanned(const Value& value, Fold fold, std::size_t dimension, DType dtype);
  // Adds a step that works on whole lines (program.h). The result has the shape and type given.
  [[nodiscard]] Value WithRoutine(Routine routine, DType dtype, const Shape& shape);
  // Combines `source` with the elements of `into` that `place`, a load of it over the source's
  // shape, names. Without `combine` the last value replaces what was there. `into` is a buffer that
  // only this changes. `overlaps`: only along the first dimension do values go to other elements.
  void Scatter(const Value& source, const ExprPtr& place, std::optional<Fold> combine,
               bool overlaps = false);
  // Steps made between BeginRepeat and EndRepeat run `count` times. In each iteration the elements
  // of each buffer in `step` advance by the given distance.
  void BeginRepeat(std::int64_t count);
  void EndRepeat(std::map<int, std::int64_t> step);
  // Returns the step made last.
  [[nodiscard]] Step& last() { return program_.steps.back(); }
  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] const LowerPolicy& policy() const { return policy_; }

 private:
  struct Kept {
    Value value;   // as it was given; owns the expression that is the key
    Value stored;  // the same value as a load from memory
  };

  Program& program_;
  LowerPolicy policy_;
  std::map<const Expr*, Kept> kept_;
  std::vector<Concatenation> concatenations_;
  int repeat_ = -1;
  std::string name_;
  std::string what_;
};

}  // namespace pragma::expert
