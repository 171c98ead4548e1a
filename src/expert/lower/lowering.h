// Lowering: turns the ATen graph of a task into a Program. There is one function per operator, in
// tables by family. An operator that is in no table makes the task unsupported, and the error names
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {

inline constexpr LowerPolicy kForCpp{};
inline constexpr LowerPolicy kForTriton{
    .one_batch = false, .loops = false, .selects_parts = true, .stores_shared = true};

// Fails with ErrorKind::kTask, naming the operator, where there is no kernel for this graph.
[[nodiscard]] Result<Program> LowerTask(const Task& task, const LowerPolicy& policy = kForCpp);

// NodeView: the arguments of one graph node, with access to its operands.
class NodeView final {
 public:
  NodeView(const GraphNode& node, const std::map<std::string, std::vector<Value>>& values)
      : node_(node), values_(values) {}

  [[nodiscard]] const GraphNode& node() const { return node_; }
  // Returns argument `place`, or the keyword `name`. Returns nullptr where neither is given (None
  // counts as given).
  [[nodiscard]] const ScalarValue* Find(std::size_t place, std::string_view name) const;
  [[nodiscard]] bool Has(std::size_t place, std::string_view name = "") const;  // and is not None
  [[nodiscard]] bool IsTensor(std::size_t place) const;
  [[nodiscard]] Value Tensor(std::size_t place) const;
  [[nodiscard]] std::vector<Value> Tensors(std::size_t place) const;  // the tensors of a list,
                                                                      // without None
  // Returns a tensor, or a number as a tensor without dimensions.
  [[nodiscard]] Value Operand(std::size_t place) const;
  [[nodiscard]] std::int64_t Int(std::size_t place, std::string_view name,
                                 std::int64_t otherwise) const;
  [[nodiscard]] double Real(std::size_t place, std::string_view name, double otherwise) const;
  [[nodiscard]] bool Flag(std::size_t place, std::string_view name, bool otherwise) const;
  [[nodiscard]] std::vector<std::int64_t> Ints(std::size_t place, std::string_view name) const;
  // Returns `count` integers. One given value is used for all, and no given value means
  // `otherwise`.
  [[nodiscard]] std::vector<std::int64_t> Ints(std::size_t place, std::string_view name,
                                               std::size_t count, std::int64_t otherwise) const;
  [[nodiscard]] std::string Text(std::size_t place, std::string_view name) const;
  // Returns a dimension of a tensor of rank `rank`, counted from the front.
  [[nodiscard]] std::size_t Dimension(std::size_t place, std::string_view name, std::size_t rank,
                                      std::int64_t otherwise = 0) const;
  [[nodiscard]] DType dtype(std::size_t result = 0) const;
  [[nodiscard]] const Shape& shape(std::size_t result = 0) const;
  [[nodiscard]] std::string_view overload() const;  // "dim_IntList" of "aten.sum.dim_IntList"

 private:
  const GraphNode& node_;
  const std::map<std::string, std::vector<Value>>& values_;
};

using Lower = std::function<Result<std::vector<Value>>(ProgramBuilder&, const NodeView&)>;
// Operators by name, without "aten." and without the overload.
using LowerTable = std::map<std::string, Lower, std::less<>>;

[[nodiscard]] const LowerTable& PointwiseOperators();
[[nodiscard]] const LowerTable& ShapeOperators();
[[nodiscard]] const LowerTable& CreationOperators();
[[nodiscard]] const LowerTable& FoldOperators();
[[nodiscard]] const LowerTable& NormOperators();
[[nodiscard]] const LowerTable& WindowOperators();
[[nodiscard]] const LowerTable& ProductOperators();
[[nodiscard]] const LowerTable& IndexOperators();
[[nodiscard]] const LowerTable& ScatterOperators();
[[nodiscard]] const LowerTable& OrderOperators();
[[nodiscard]] const LowerTable& FourierOperators();
[[nodiscard]] const LowerTable& MatrixOperators();
[[nodiscard]] const LowerTable& IntegerOperators();
[[nodiscard]] const LowerTable& BorderOperators();
[[nodiscard]] const LowerTable& ResampleOperators();
[[nodiscard]] const LowerTable& RecurrentOperators();

// Exchanges the last two dimensions.
[[nodiscard]] Value Transposed(ProgramBuilder& builder, const Value& matrix);
// Selects one index of a dimension, and removes the dimension.
[[nodiscard]] Value Picked(ProgramBuilder& builder, const Value& x, std::size_t dimension,
                           std::int64_t index);
// Multiplies left [m, k] by the transpose of right [n, k].
[[nodiscard]] Value TimesTransposed(ProgramBuilder& builder, const Value& left, const Value& right);

// Returns the error for a known operator that is used in an unsupported way. The message names
// both.
[[nodiscard]] std::unexpected<Error> Unsupported(const NodeView& node, std::string_view why);
[[nodiscard]] double NumberOf(const ScalarValue& value);

}  // namespace pragma::expert
