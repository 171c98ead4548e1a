// ProgramBuilder: turns values of a graph into steps of a program, as late as it can: pointwise
// operators and views stay expressions until something needs their elements in memory.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// A tensor of the graph. `dims` is the shape that the expression's forms are over; it has the same
// elements in the same order as `shape`, which differs only while a reshape could not be made part
// of the forms (and may never have to be).
struct Value {
  ExprPtr expr;
  Shape dims;
  Shape shape;
  DType dtype = DType::kFloat32;
};

class ProgramBuilder final {
 public:
  explicit ProgramBuilder(Program& program) : program_(program) {}

  // Names and explains the steps made from now on.
  void Begin(std::string_view name, std::string_view what);

  [[nodiscard]] int NewBuffer(DType dtype, const Shape& shape);
  [[nodiscard]] Value Whole(int buffer) const;  // all of a buffer
  [[nodiscard]] static Value Number(double value, DType dtype);
  [[nodiscard]] static Value Positions(AffineForm form, Shape shape);  // int64

  // With dims == shape.
  [[nodiscard]] Value Settled(const Value& value);
  // In a buffer of its own, contiguous (an argument or earlier result as it is).
  [[nodiscard]] Value Stored(const Value& value);
  // The same value from memory, where Stored has put it there already.
  [[nodiscard]] Value Known(const Value& value) const;
  // Stored when computing it several times costs more than keeping it.
  [[nodiscard]] Value ForReuse(const Value& value);
  void StoreInto(const Value& value, int buffer, const AffineForm& place);

  [[nodiscard]] Value Reshaped(const Value& value, const Shape& shape);
  [[nodiscard]] Value Mapped(const Value& value, const IndexMap& map, const Shape& shape);
  [[nodiscard]] Value Expanded(const Value& value, const Shape& shape);

  using Combine = std::function<ExprPtr(const std::vector<ExprPtr>&)>;
  // Broadcasts; each argument is cast to `compute` first, where that is given.
  [[nodiscard]] Value Pointwise(const std::vector<Value>& values, std::optional<ExprType> compute,
                                DType result, const Combine& combine);

  struct FoldPlan {
    Fold fold = Fold::kSum;
    std::vector<bool> folded;
    bool keep = false;    // folded dimensions stay with size 1
    AffineForm position;  // kArgMin, kArgMax
    DType dtype = DType::kFloat32;
  };
  [[nodiscard]] Value Folded(const Value& value, const FoldPlan& plan);
  [[nodiscard]] Value Scanned(const Value& value, Fold fold, std::size_t dimension, DType dtype);
  // Steps made in between run so often, and find the elements of these buffers moved on each time.
  void BeginRepeat(std::int64_t count);
  void EndRepeat(std::map<int, std::int64_t> step);
  // The step made last.
  [[nodiscard]] Step& last() { return program_.steps.back(); }
  [[nodiscard]] Program& program() { return program_; }

 private:
  struct Kept {
    Value value;   // as it was given; holds the expression that is the key
    Value stored;  // and where it lies
  };

  Program& program_;
  std::map<const Expr*, Kept> kept_;
  int repeat_ = -1;
  std::string name_;
  std::string what_;
};

}  // namespace pragma::expert
