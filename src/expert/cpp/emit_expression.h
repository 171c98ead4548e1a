// Writes expressions as C++. A value that is invariant over a pass is computed before it, and a
// value that is used twice is given a name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/choices.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// A value in the generated code: a scalar, or a Vec (Ints for int and bool).
struct Text {
  std::string code;
  bool vector = false;
  ExprType type = ExprType::kFloat;
};

// The pieces of the preamble and the headers that a kernel needs, and what else its emitters
// report.
struct Needs {
  std::set<VectorPiece> pieces;
  bool cmath = false;
  bool vectors = false;
  bool packing = false;   // products and convolutions pack their operands
  bool routines = false;  // <bit>, for sorting and searching
  CppFacts facts;
  void Add(const Needs& other);
};

// Returns the code of a form, such as "i * 40 + x". `loops` are the names of the loop variables; an
// empty name means that the dimension has no loop (size 1).
[[nodiscard]] std::string FormText(const AffineForm& form, const std::vector<std::string>& loops);

class ExpressionWriter final {
 public:
  ExpressionWriter(const Program& program, const Nest& nest, std::vector<std::string> loops,
                   Needs& needs)
      : program_(program), nest_(nest), loops_(std::move(loops)), needs_(needs) {}

  // Replaces loads from this buffer by `value` from now on.
  void Forward(int buffer, Text value) { forwarded_[buffer] = std::move(value); }
  void Forget(int buffer) { forwarded_.erase(buffer); }
  // Sets the bounds that the loops already guarantee.
  void Assume(const std::vector<Bound>& bounds) { assumed_ = bounds; }

  // Sets the expression for the number of lanes in use.
  void CountLanesBy(std::string lanes) { lanes_ = std::move(lanes); }

  [[nodiscard]] bool InnerVarying(const ExprPtr& expr) const;
  // Starts a pass. Expressions that do not vary in the inner dimensions are named in `before`,
  // which is emitted before the pass. In column passes such a name is an array over the vectors.
  void BeginPass(Writer* before, Writer* body);
  [[nodiscard]] Text Write(const ExprPtr& expr);
  // Counts uses, so that a value used twice is given a name. Call it before Write, for all
  // expressions of a pass.
  void CountUses(const ExprPtr& expr) { expert::CountUses(expr, uses_); }

  [[nodiscard]] Text Position(const AffineForm& form) { return WriteIndex(form); }
  [[nodiscard]] std::string AsVector(const Text& text);
  [[nodiscard]] std::string Place(int buffer, const AffineForm& form) const;
  void StoreTo(Writer& out, int buffer, const AffineForm& place, const Text& value);
  [[nodiscard]] std::string NewName(std::string_view stem);
  // Reserves a name of the surrounding code, so that no value here is given it.
  void Reserve(std::string_view name) { ++names_[std::string(name)]; }
  [[nodiscard]] static std::string TypeName(const Text& text);

 private:
  Text WriteNode(const ExprPtr& expr);
  Text WriteLoad(const Expr& expr);
  Text WriteBounded(const Load& load, const std::string& pointer, const Text& plain);
  Text WriteIndex(const AffineForm& form);
  Text WriteCast(const Expr& expr);
  Text WriteSelect(const Expr& expr);
  Text WriteUnary(ExprOp op, const Text& arg);
  Text WriteBinary(ExprOp op, const Text& a, const Text& b);
  Text WriteConstant(const Expr& expr) const;
  Text Named(const ExprPtr& expr, Text value, bool outside);

  const Program& program_;
  const Nest& nest_;
  std::vector<std::string> loops_;
  Needs& needs_;
  std::string lanes_ = "lanes";
  Writer* before_ = nullptr;
  Writer* body_ = nullptr;
  bool hoisting_ = false;  // the writer is emitting code before the pass
  std::map<int, Text> forwarded_;
  std::vector<Bound> assumed_;
  UseCounts uses_;
  std::map<const Expr*, Text> inside_;   // names defined in the body of this pass
  std::map<const Expr*, Text> outside_;  // names defined before the pass
  std::map<std::string, int> names_;
};

}  // namespace pragma::expert
