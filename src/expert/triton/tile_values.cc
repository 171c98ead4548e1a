#include "expert/triton/tile_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/spelling.h"
#include "expert/triton/operators.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_index.h"

namespace pragma::expert::triton {
namespace {

constexpr std::size_t kLongLine = 70;  // longer values are given a name

// Converts a value from the type of its buffer to the type in which it is computed.
std::string AsComputed(const std::string& code, DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
    case DType::kFloat16: return code + ".to(tl.float32)";
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kUInt8: return code + ".to(tl.int64)";
    default: return code;
  }
}

std::string OutsideText(double value, DType dtype) {
  const ExprType type = ComputeType(dtype);
  const bool real = type == ExprType::kFloat || type == ExprType::kDouble;
  return real ? NumberText(value) : std::to_string(static_cast<long long>(value));
}

}  // namespace

std::string Names::New(std::string_view stem) {
  std::string name(stem);
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

void TileValues::Begin(PyLines* before, PyLines* body, Axes loop) {
  before_ = before;
  body_ = body;
  loop_ = loop;
  here_.clear();
  inside_.clear();
}

void TileValues::WriteFor(DType dtype) {
  is_short_ = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

bool TileValues::VariesInLoop(const ExprPtr& expr) const {
  return AnyForm(expr, [&](const AffineForm& form) { return (index_.AxesOf(form) & loop_) != 0; });
}

TileText TileValues::Named(std::string_view stem, const TileText& value) {
  const bool outside = before_ == body_ || (value.axes & loop_) == 0;
  auto& known = outside ? outside_ : inside_;
  const auto [place, fresh] = known.try_emplace(value.code, "");
  if (fresh) {
    place->second = names_.New(stem);
    (outside ? before_ : body_)->Line(fmt::format("{} = {}", place->second, value.code));
  }
  return {place->second, value.axes, value.type};
}

TileText TileValues::Write(const ExprPtr& expr) {
  if (expr->op == ExprOp::kConstant) return {triton::ConstantText(*expr), 0, expr->type};
  if (expr->op == ExprOp::kLoad) {
    const int buffer = expr->load.buffer;
    if (const auto value = here_.find(buffer); value != here_.end()) return value->second;
    if (const auto value = kept_.find(buffer); value != kept_.end()) return value->second;
    if (const auto again = recomputed_.find(buffer); again != recomputed_.end())
      return Write(again->second);
  }
  // The arguments of a value that does not vary in the loop are computed before the loop as well.
  PyLines* body = body_;
  const bool hoisted = before_ != body_ && !VariesInLoop(expr);
  if (hoisted) body_ = before_;
  TileText value = WriteNode(expr);
  body_ = body;
  const bool names =
      expr->op == ExprOp::kLoad || uses_[expr.get()] > 1 || value.code.size() > kLongLine;
  return names && expr->op != ExprOp::kIndex ? Named(StemOf(*expr, program_), value) : value;
}

TileText TileValues::WriteNode(const ExprPtr& expr) {
  switch (expr->op) {
    case ExprOp::kLoad: return WriteLoad(*expr);
    case ExprOp::kIndex: {
      const IndexText index = index_.Text(expr->index);
      return {"(" + index.code + ")", index.axes, ExprType::kInt};
    }
    case ExprOp::kSelect: return WriteSelect(*expr);
    default: break;
  }
  const TileText a = Write(expr->args[0]);
  if (expr->op == ExprOp::kCast) {
    // A Python number has no type to convert.
    if (a.axes == 0 && expr->args[0]->op == ExprOp::kConstant) return {a.code, 0, expr->type};
    return {CastText(a.code, a.type, expr->type), a.axes, expr->type};
  }
  if (ShortText text = is_short_ ? ShortOperatorText(expr->op, a.type, a.code) : ShortText{};
      !text.code.empty()) {
    if (!text.helper.empty()) helpers_.insert(text.helper);
    return {text.code, a.axes, expr->type};
  }
  uses_library_ = uses_library_ || NeedsLibrary(expr->op, a.type);
  if (const std::string helper = HelperOf(expr->op); !helper.empty()) helpers_.insert(helper);
  if (expr->args.size() == 1) return {OperatorText(expr->op, a.type, a.code), a.axes, expr->type};
  const TileText b = Write(expr->args[1]);
  return {OperatorText(expr->op, a.type, a.code, b.code), a.axes | b.axes, expr->type};
}

TileText TileValues::WriteSelect(const Expr& expr) {
  const TileText condition = Write(expr.args[0]);
  const TileText yes = Write(expr.args[1]);
  const TileText no = Write(expr.args[2]);
  return {fmt::format("tl.where({}, {}, {})", condition.code, yes.code, no.code),
          condition.axes | yes.axes | no.axes, expr.type};
}

// The address must vary with every axis with which the mask varies.
void TileValues::AddBounds(const Load& load, IndexText& address, std::string& mask) {
  Axes axes = 0;
  for (const Bound& bound : load.bounds) axes |= index_.AxesOf(bound.form);
  if (const Axes missing = axes & ~address.axes; missing != 0) {
    address.code += " + " + index_.Zero(missing);
    address.axes |= missing;
    mask = index_.Inside(address.axes);
  }
  for (const Bound& bound : load.bounds) {
    const std::string form = index_.Text(bound.form).code;
    mask +=
        fmt::format("{}({} >= 0) & ({} < {})", mask.empty() ? "" : " & ", form, form, bound.limit);
  }
}

TileText TileValues::WriteLoad(const Expr& expr) {
  TileText text = LoadText(expr);
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(expr.load.buffer)];
  text.code = AsComputed(text.code, buffer.dtype);
  return text;
}

TileText TileValues::WriteStored(const Expr& load) {
  return Named(StemOf(load, program_), LoadText(load));
}

TileText TileValues::LoadText(const Expr& expr) {
  const Load& load = expr.load;
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load.buffer)];
  buffers_.insert(load.buffer);
  IndexText address = index_.Text(load.address);
  for (const Indirect& part : load.indirect) {
    const TileText place = Write(part.index);
    address.code +=
        part.stride == 1 ? " + " + place.code : fmt::format(" + {} * {}", place.code, part.stride);
    address.axes |= place.axes;
  }
  std::string mask = index_.Inside(address.axes);
  AddBounds(load, address, mask);
  std::string code = buffer.name + (address.code == "0" ? "" : " + " + address.code);
  if (!mask.empty())
    code += fmt::format(", mask={}, other={}", mask, OutsideText(load.outside, buffer.dtype));
  return {"tl.load(" + code + ")", address.axes, expr.type};
}

void TileValues::Store(PyLines& out, int buffer, const AffineForm& place, const TileText& value) {
  buffers_.insert(buffer);
  IndexText address = index_.Text(place);
  if (const Axes missing = value.axes & ~address.axes; missing != 0) {
    address.code += " + " + index_.Zero(missing);
    address.axes |= missing;
  }
  const Buffer& target = program_.buffers[static_cast<std::size_t>(buffer)];
  std::string code = target.name + (address.code == "0" ? "" : " + " + address.code);
  code += ", " + value.code;
  if (const std::string mask = index_.Inside(address.axes); !mask.empty()) code += ", mask=" + mask;
  out.Line("tl.store(" + code + ")");
}

}  // namespace pragma::expert::triton
