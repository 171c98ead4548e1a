#include "expert/plan/anchor_nests.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/lanes.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

bool IsFloat(const Program& program, int buffer) {
  return BufferOf(program, buffer).dtype == DType::kFloat32;
}

// Returns a form over [batch..., rest...] with all batch dimensions merged into one.
std::optional<AffineForm> OneBatch(const AffineForm& form, const Shape& shape, std::size_t rest) {
  Shape merged(shape.end() - static_cast<std::ptrdiff_t>(rest), shape.end());
  merged.insert(merged.begin(), 1);
  for (std::size_t i = 0; i + rest < shape.size(); ++i) merged[0] *= shape[i];
  return Reshape(form, shape, merged);
}

Nest NestOver(const Shape& shape, const Step& step, const AffineForm& place) {
  Nest nest;
  nest.anchored = true;
  nest.repeat = step.repeat;
  nest.shape = shape;
  nest.inner.assign(shape.size(), false);
  nest.steps = {step};
  nest.steps[0].shape = shape;
  nest.steps[0].folded.assign(shape.size(), false);
  nest.steps[0].place = place;
  nest.outer = {true};
  return nest;
}

std::optional<Nest> ProductNest(const Program& program, const Step& step) {
  const Expr& left = *step.product->left;
  const Expr& right = *step.product->right;
  if (!IsPlainLoad(left) || !IsPlainLoad(right)) return std::nullopt;
  for (const int buffer : {left.load.buffer, right.load.buffer, step.buffer})
    if (!IsFloat(program, buffer)) return std::nullopt;
  const std::optional<AffineForm> a = OneBatch(left.load.address, step.shape, 3);
  const std::optional<AffineForm> b = OneBatch(right.load.address, step.shape, 3);
  const std::optional<AffineForm> c = OneBatch(step.place, step.shape, 3);
  if (!a || !b || !c) return std::nullopt;
  const std::size_t rank = step.shape.size();
  const std::int64_t depth = step.shape[rank - 1];
  const Shape shape{Elements(step.shape) / (step.shape[rank - 3] * step.shape[rank - 2] * depth),
                    step.shape[rank - 3], step.shape[rank - 2]};
  AffineForm place = *c;
  place.factor.pop_back();
  Nest nest = NestOver(shape, step, place);
  Expr over = left;
  over.load.address = *a;
  nest.steps[0].product->left = std::make_shared<Expr>(over);
  over = right;
  over.load.address = *b;
  nest.steps[0].product->right = std::make_shared<Expr>(over);
  return nest;
}

std::optional<Nest> ConvolutionNest(const Program& program, const Step& step) {
  const ConvolutionHint& form = *step.convolution;
  for (const int buffer : {form.input, form.weight, step.buffer})
    if (!IsFloat(program, buffer)) return std::nullopt;
  if (form.in_size.empty() || form.in_size.size() > 3) return std::nullopt;
  const Shape shape{form.batch, form.out_channels, Elements(form.out_size)};
  return NestOver(shape, step, *Reshape(ContiguousForm(shape), shape, shape));
}

// The generator stores the results of the last step.
const Step& Last(const Nest& nest) { return nest.steps.back(); }

bool StoresAsGenerated(const Nest& nest, const AffineForm& place) {
  if (nest.steps[0].convolution)
    return place == *Reshape(ContiguousForm(nest.shape), nest.shape, nest.shape);
  if (nest.steps[0].attention)
    return nest.shape[kColumnOfNest] == 1 || place.factor[kColumnOfNest] == 1;
  return StoresLines(nest.shape, place, kRowOfNest, kColumnOfNest);
}

// Returns whether the step has a vector form in either direction of the generator's vectors.
bool HasText(const Program& program, const Step& step, const Nest& nest) {
  for (const std::size_t lane : {kRowOfNest, kColumnOfNest})
    if (!HasVectorForm(program, step, nest, lane)) return false;
  return true;
}

// The shape [batch..., row, column] of the results, and where they are stored.
struct AttentionPlace {
  Shape shape;
  AffineForm form;
};

AttentionPlace PlaceOf(const Step& step) {
  Shape shape = step.attention->shape;
  shape.back() = step.shape[step.shape.size() - 2];
  Shape merged = shape;
  merged.push_back(step.shape.back());
  // FuseAttention has ensured that this succeeds.
  AffineForm form = *Reshape(step.place, step.shape, merged);
  form.factor.pop_back();
  return {shape, form};
}

}  // namespace

bool StoresLines(const Shape& shape, const AffineForm& place, std::size_t row, std::size_t column) {
  if (shape[row] == 1 && shape[column] == 1) return true;
  const auto contiguous = [&](std::size_t dim) { return shape[dim] > 1 && place.factor[dim] == 1; };
  return contiguous(row) || contiguous(column);
}

std::optional<Nest> AnchorNest(const Program& program, const Step& step) {
  if (Elements(step.shape) == 0) return std::nullopt;
  if (step.product) {
    std::optional<Nest> nest = ProductNest(program, step);
    if (nest) nest->depth = step.shape.back();
    return nest;
  }
  if (step.convolution) return ConvolutionNest(program, step);
  if (step.attention) return AttentionNest(step);
  if (step.routine) return NestOver(step.shape, step, step.place);
  return std::nullopt;
}

Nest AttentionNest(const Step& step) {
  const AttentionPlace place = PlaceOf(step);
  return NestOver(place.shape, step, place.form);
}

bool JoinAnchor(const Program& program, const Step& step, Nest& nest) {
  if (step.kind != Step::Kind::kMap || step.product || step.convolution) return false;
  if (nest.steps[0].routine) return false;
  if (Elements(step.shape) != Elements(nest.shape) || !IsFloat(program, step.buffer)) return false;
  const auto over = [&](const AffineForm& form) { return Reshape(form, step.shape, nest.shape); };
  Step joined = step;
  joined.expr = WithForms(step.expr, over);
  const std::optional<AffineForm> place = over(step.place);
  if (!joined.expr || !place || !StoresAsGenerated(nest, *place)) return false;
  joined.place = *place;
  joined.shape = nest.shape;
  joined.folded.assign(nest.shape.size(), false);
  bool chained = false;
  bool in_place = true;
  VisitLoads(joined.expr, [&](const Load& load, ExprType) {
    chained = chained || load.buffer == Last(nest).buffer;
    for (const Step& writer : nest.steps) {
      if (writer.buffer != load.buffer) continue;
      in_place = in_place && load.buffer == Last(nest).buffer && load.bounds.empty() &&
                 load.indirect.empty() &&
                 Reshape(load.address, nest.shape, nest.shape) ==
                     Reshape(writer.place, nest.shape, nest.shape);
    }
    in_place = in_place && IsFloat(program, load.buffer) && load.bounds.empty();
  });
  if (!chained || !in_place || !HasText(program, joined, nest)) return false;
  nest.steps.push_back(std::move(joined));
  nest.outer.push_back(true);
  return true;
}

}  // namespace pragma::expert
