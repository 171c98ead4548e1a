#include "expert/cpp/emit_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/cpp/scalar_text.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/operators.h"
#include "expert/ir/program.h"
#include "expert/ir/spelling.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

// Appends a term with its sign, as in "a * 4 - b".
void AppendTerm(std::string& text, std::string_view index, std::int64_t factor) {
  const std::int64_t size = std::abs(factor);
  const std::string term = size == 1 ? std::string(index) : fmt::format("{} * {}", index, size);
  if (text.empty()) {
    text = factor < 0 ? "-" + term : term;
  } else {
    text += (factor < 0 ? " - " : " + ") + term;
  }
}

}  // namespace

void Needs::Add(const Needs& other) {
  pieces.insert(other.pieces.begin(), other.pieces.end());
  cmath = cmath || other.cmath;
  vectors = vectors || other.vectors;
  packing = packing || other.packing;
  routines = routines || other.routines;
  facts.Add(other.facts);
}

std::string FormText(const AffineForm& form, const std::vector<std::string>& loops) {
  std::string text;
  for (std::size_t i = 0; i < form.factor.size(); ++i) {
    const std::int64_t factor = form.factor[i];
    if (factor == 0 || loops[i].empty()) continue;
    AppendTerm(text, loops[i], factor);
  }
  if (text.empty()) return std::to_string(form.offset);
  if (form.offset > 0) text += fmt::format(" + {}", form.offset);
  if (form.offset < 0) text += fmt::format(" - {}", -form.offset);
  return text;
}

void ExpressionWriter::BeginPass(Writer* before, Writer* body) {
  before_ = before;
  body_ = body;
  uses_.clear();
  inside_.clear();
}

std::string ExpressionWriter::NewName(std::string_view stem) {
  const int count = names_[std::string(stem)]++;
  return count == 0 ? std::string(stem) : fmt::format("{}_{}", stem, count + 1);
}

std::string ExpressionWriter::TypeName(const Text& text) {
  const bool real = text.type == ExprType::kFloat;
  if (text.vector) return real ? "Vec" : "Ints";
  switch (text.type) {
    case ExprType::kFloat: return "float";
    case ExprType::kDouble: return "double";
    case ExprType::kInt: return "std::int64_t";
    case ExprType::kBool: return "bool";
  }
  return "float";
}

bool ExpressionWriter::InnerVarying(const ExprPtr& expr) const {
  for (std::size_t i = 0; i < nest_.shape.size(); ++i)
    if (nest_.inner[i] && DependsOn(expr, i)) return true;
  return false;
}

Text ExpressionWriter::Named(const ExprPtr& expr, Text value, bool outside) {
  const std::string name = NewName(StemOf(*expr, program_));
  Text named{name, value.vector, value.type};
  const std::string type = TypeName(value);
  if (outside && value.vector) {
    before_->Line(fmt::format("{} {}[V];", type, name));
    before_->Line("for (int v = 0; v < V; ++v) {");
    before_->Line("[[maybe_unused]] const std::int64_t c = first + v * kLanes;");
    before_->Line(fmt::format("{}[v] = {};", name, value.code));
    before_->Line("}");
    named.code += "[v]";
  } else {
    (outside ? before_ : body_)->Line(fmt::format("const {} {} = {};", type, name, value.code));
  }
  (outside ? outside_ : inside_)[expr.get()] = named;
  return named;
}

Text ExpressionWriter::Write(const ExprPtr& expr) {
  if (const auto known = outside_.find(expr.get()); known != outside_.end()) return known->second;
  if (const auto known = inside_.find(expr.get()); known != inside_.end()) return known->second;
  if (expr->op == ExprOp::kConstant) return WriteConstant(*expr);
  if (expr->op == ExprOp::kLoad)
    if (const auto value = forwarded_.find(expr->load.buffer); value != forwarded_.end())
      return value->second;
  const bool hoisted = before_ != body_ && !InnerVarying(expr);
  if (!hoisted) {
    Text value = WriteNode(expr);
    // Before a pass there is no loop over its vectors, so a name there is an array with one value
    // per vector.
    return uses_[expr.get()] > 1 ? Named(expr, std::move(value), hoisting_ && value.vector) : value;
  }
  // The arguments of a hoisted expression are computed before the pass as well.
  Writer* body = std::exchange(body_, before_);
  hoisting_ = true;
  Text value = WriteNode(expr);
  hoisting_ = false;
  body_ = body;
  if (expr->op == ExprOp::kIndex) return value;
  return Named(expr, std::move(value), true);
}

Text ExpressionWriter::WriteNode(const ExprPtr& expr) {
  switch (expr->op) {
    case ExprOp::kLoad: return WriteLoad(*expr);
    case ExprOp::kIndex: return WriteIndex(expr->index);
    case ExprOp::kCast: return WriteCast(*expr);
    case ExprOp::kSelect: return WriteSelect(*expr);
    default: break;
  }
  Text a = Write(expr->args[0]);
  if (expr->args.size() == 1) return WriteUnary(expr->op, a);
  const Text b = Write(expr->args[1]);
  return WriteBinary(expr->op, a, b);
}

std::string ExpressionWriter::AsVector(const Text& text) {
  if (text.vector) return text.code;
  if (text.type == ExprType::kFloat) return fmt::format("Broadcast({})", text.code);
  if (text.type == ExprType::kBool)
    return fmt::format("(Ints{{}} - static_cast<std::int32_t>({}))", text.code);
  return fmt::format("(Ints{{}} + static_cast<std::int32_t>({}))", text.code);
}

Text ExpressionWriter::WriteConstant(const Expr& expr) const {
  return {ConstantText(expr), false, expr.type};
}

std::string ExpressionWriter::Place(int buffer, const AffineForm& form) const {
  const std::string& name = program_.buffers[static_cast<std::size_t>(buffer)].name;
  const std::string index = FormText(form, loops_);
  return index == "0" ? name : name + " + " + index;
}

Text ExpressionWriter::WriteLoad(const Expr& expr) {
  const Load& load = expr.load;
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load.buffer)];
  std::string index = FormText(load.address, loops_);
  for (const Indirect& part : load.indirect) {
    const Text place = Write(part.index);
    index += part.stride == 1 ? " + " + place.code
                              : fmt::format(" + ({}) * {}", place.code, part.stride);
  }
  const auto lane = static_cast<std::size_t>(std::max(nest_.lane, 0));
  bool varies = nest_.lane >= 0 && load.address.factor[lane] != 0;
  for (const Bound& bound : load.bounds)
    varies = varies || (nest_.lane >= 0 && bound.form.factor[lane] != 0);
  if (!varies) {
    const Text plain{ScalarLoad(buffer, index), false, expr.type};
    return WriteBounded(load, "", plain);
  }
  const std::string pointer = buffer.name + " + " + index;
  const std::int64_t stride = load.address.factor[lane];
  if (expr.type == ExprType::kBool) {
    needs_.pieces.insert(VectorPiece::kMasks);
    return {fmt::format("LoadMask({}, {})", pointer, lanes_), true, ExprType::kBool};
  }
  std::string code = fmt::format("LoadLanes({}, {})", pointer, lanes_);
  if (stride != 1) {
    needs_.pieces.insert(VectorPiece::kStrided);
    code = fmt::format("LoadStrided({}, {}, {})", pointer, stride, lanes_);
  }
  return WriteBounded(load, pointer, {code, true, ExprType::kFloat});
}

Text ExpressionWriter::WriteBounded(const Load& load, const std::string& pointer,
                                    const Text& plain) {
  Text result = plain;
  std::string conditions;
  const std::string outside = FloatText(load.outside, plain.type);
  for (const Bound& bound : load.bounds) {
    const bool assumed = std::ranges::any_of(assumed_, [&](const Bound& known) {
      return known.form == bound.form && known.limit == bound.limit;
    });
    if (assumed) continue;
    const std::string form = FormText(bound.form, loops_);
    if (plain.vector && bound.form.factor[static_cast<std::size_t>(nest_.lane)] != 0) {
      needs_.pieces.insert(VectorPiece::kStrided);
      result.code = fmt::format("LoadInside({}, {}, {}, {}, {}, {}, {})", pointer,
                                load.address.factor[static_cast<std::size_t>(nest_.lane)], form,
                                bound.form.factor[static_cast<std::size_t>(nest_.lane)],
                                bound.limit, outside, lanes_);
      continue;
    }
    conditions += fmt::format("{}{} >= 0 && {} < {}", conditions.empty() ? "" : " && ", form, form,
                              bound.limit);
  }
  if (conditions.empty()) return result;
  const std::string other = plain.vector ? "Broadcast(" + outside + ")" : outside;
  result.code = fmt::format("({} ? {} : {})", conditions, result.code, other);
  return result;
}

Text ExpressionWriter::WriteIndex(const AffineForm& form) {
  const std::string base = FormText(form, loops_);
  const std::int64_t step = nest_.lane >= 0 ? form.factor[static_cast<std::size_t>(nest_.lane)] : 0;
  if (step == 0) return {"(" + base + ")", false, ExprType::kInt};
  const std::string lanes = step == 1 ? "LaneNumbers()" : fmt::format("LaneNumbers() * {}", step);
  return {fmt::format("({} + static_cast<std::int32_t>({}))", lanes, base), true, ExprType::kInt};
}

Text ExpressionWriter::WriteCast(const Expr& expr) {
  const Text value = Write(expr.args[0]);
  if (!value.vector) {
    if (expr.type == ExprType::kBool)
      return {fmt::format("({} != 0)", value.code), false, expr.type};
    const Text target{"", false, expr.type};
    return {fmt::format("static_cast<{}>({})", TypeName(target), value.code), false, expr.type};
  }
  Text result{"", true, expr.type};
  if (expr.type == ExprType::kFloat) {
    result.code = value.type == ExprType::kBool
                      ? fmt::format("Select({}, Broadcast(1.0f), Vec{{}})", value.code)
                      : fmt::format("__builtin_convertvector({}, Vec)", value.code);
  } else if (expr.type == ExprType::kBool) {
    result.code = fmt::format("({} != 0)", value.code);
  } else {
    result.code = value.type == ExprType::kBool ? fmt::format("(-{})", value.code) : value.code;
  }
  return result;
}

Text ExpressionWriter::WriteSelect(const Expr& expr) {
  const Text condition = Write(expr.args[0]);
  const Text yes = Write(expr.args[1]);
  const Text no = Write(expr.args[2]);
  const bool vector = condition.vector || yes.vector || no.vector;
  const std::string a = vector ? AsVector(yes) : yes.code;
  const std::string b = vector ? AsVector(no) : no.code;
  if (!condition.vector)
    return {fmt::format("({} ? {} : {})", condition.code, a, b), vector, expr.type};
  if (expr.type == ExprType::kFloat)
    return {fmt::format("Select({}, {}, {})", condition.code, a, b), true, expr.type};
  return {fmt::format("({} ? {} : {})", condition.code, a, b), true, expr.type};
}

Text ExpressionWriter::WriteUnary(ExprOp op, const Text& arg) {
  const bool real = arg.type == ExprType::kFloat || arg.type == ExprType::kDouble;
  const bool tests = op == ExprOp::kNot || op == ExprOp::kIsNan;
  Text result{"", arg.vector, tests ? ExprType::kBool : arg.type};
  if (op == ExprOp::kIsNan && !real) result.vector = false;
  if (result.vector) {
    result.code = VectorText(op, arg.type, arg.code, "", needs_);
  } else {
    needs_.cmath = needs_.cmath || (!tests && op != ExprOp::kNegate);
    result.code = ScalarText(op, arg.type, arg.code);
  }
  return result;
}

Text ExpressionWriter::WriteBinary(ExprOp op, const Text& a, const Text& b) {
  const bool vector = a.vector || b.vector;
  const bool yes_no = op == ExprOp::kEqual || op == ExprOp::kNotEqual || op == ExprOp::kLess ||
                      op == ExprOp::kLessEqual;
  Text result{"", vector, yes_no ? ExprType::kBool : a.type};
  if (!vector) {
    needs_.cmath = true;
    result.code = ScalarText(op, a.type, a.code, b.code);
    return result;
  }
  // C++ broadcasts a float operand of a Vec between which it has a sign. Integers and flags must be
  // converted.
  const bool sign = !FindOperator(op)->sign.empty();
  const auto side = [&](const Text& text) {
    return sign && text.type == ExprType::kFloat ? text.code : AsVector(text);
  };
  result.code = VectorText(op, a.type, side(a), side(b), needs_);
  return result;
}

void ExpressionWriter::StoreTo(Writer& out, int buffer, const AffineForm& place,
                               const Text& value) {
  const Buffer& target = program_.buffers[static_cast<std::size_t>(buffer)];
  const std::string pointer = Place(buffer, place);
  const std::int64_t stride =
      nest_.lane >= 0 ? place.factor[static_cast<std::size_t>(nest_.lane)] : 0;
  if (stride == 0) {
    out.Line(fmt::format("{}[{}] = {};", target.name, FormText(place, loops_),
                         ScalarStore(target, value.code)));
  } else if (target.dtype == DType::kInt64) {
    out.Line(
        fmt::format("StoreIntegers({}, {}, {}, {});", pointer, stride, AsVector(value), lanes_));
  } else if (stride == 1) {
    out.Line(fmt::format("StoreLanes({}, {}, {});", pointer, AsVector(value), lanes_));
  } else {
    needs_.pieces.insert(VectorPiece::kStrided);
    out.Line(
        fmt::format("StoreStrided({}, {}, {}, {});", pointer, stride, AsVector(value), lanes_));
  }
}

}  // namespace pragma::expert
