// Expressions as C++: what is the same for a whole pass is computed before it, what is used twice
// has a name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"

namespace pragma::expert {

// A value in the text: scalar, or a Vec (Ints for int and bool).
struct Text {
  std::string code;
  bool vector = false;
  ExprType type = ExprType::kFloat;
};

// The pieces of the preamble that a kernel turned out to need.
struct Needs {
  std::set<VectorPiece> pieces;
  bool cmath = false;
  bool vectors = false;
};

// "a[i * 40 + x]" needs the names of the loops; empty: the dimension has no loop (size 1).
[[nodiscard]] std::string FormText(const AffineForm& form, const std::vector<std::string>& loops);

class ExpressionWriter final {
 public:
  ExpressionWriter(const Program& program, const Nest& nest, std::vector<std::string> loops,
                   Needs& needs)
      : program_(program), nest_(nest), loops_(std::move(loops)), needs_(needs) {}

  // A value that loads from this buffer stand for, from now on.
  void Forward(int buffer, Text value) { forwarded_[buffer] = std::move(value); }
  void Forget(int buffer) { forwarded_.erase(buffer); }
  // Bounds that loops have been made to keep.
  void Assume(const std::vector<Bound>& bounds) { assumed_ = bounds; }

  // The text of how many lanes count.
  void CountLanesBy(std::string lanes) { lanes_ = std::move(lanes); }

  [[nodiscard]] bool InnerVarying(const ExprPtr& expr) const;
  // Expressions that do not vary in the inner dimensions are named in `before`, which stands
  // outside the pass; in column passes such a name is an array over the vectors.
  void BeginPass(Writer* before, Writer* body);
  [[nodiscard]] Text Write(const ExprPtr& expr);
  // Counts uses, so that what is used twice is named. Before Write, for all expressions of a pass.
  void CountUses(const ExprPtr& expr) { expert::CountUses(expr, uses_); }

  [[nodiscard]] Text Position(const AffineForm& form) { return WriteIndex(form); }
  [[nodiscard]] std::string AsVector(const Text& text);
  [[nodiscard]] std::string Place(int buffer, const AffineForm& form) const;
  void StoreTo(Writer& out, int buffer, const AffineForm& place, const Text& value);
  [[nodiscard]] std::string NewName(std::string_view stem);
  // A name of the text round this one: nothing here gets it.
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
  bool hoisting_ = false;  // writing what stands before the pass
  std::map<int, Text> forwarded_;
  std::vector<Bound> assumed_;
  UseCounts uses_;
  std::map<const Expr*, Text> inside_;   // names in the body of this pass
  std::map<const Expr*, Text> outside_;  // names before it
  std::map<std::string, int> names_;
};

}  // namespace pragma::expert
