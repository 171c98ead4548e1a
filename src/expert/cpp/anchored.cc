#include "expert/cpp/anchored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/anchored_attention.h"
#include "expert/cpp/attention_kernel.h"
#include "expert/cpp/conv_kernel.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/matmul_kernel.h"
#include "expert/cpp/routine_text.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/structure.h"
#include "expert/plan/anchor_nests.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

// The generator stores the results of the last step.
const Step& Last(const Nest& nest) { return nest.steps.back(); }

class EpilogueWriter final {
 public:
  EpilogueWriter(const Program& program, const Nest& nest, Needs& needs)
      : program_(program), nest_(nest), needs_(needs) {}

  std::string Write(const OutputSite& site) {
    Nest view = nest_;
    view.lane = site.along == OutputSite::Along::kRow ? kRowOfNest : kColumnOfNest;
    const std::vector<std::string> loops{std::string(site.batch), std::string(site.row),
                                         std::string(site.column)};
    ExpressionWriter values(program_, view, loops, needs_);
    values.CountLanesBy(site.whole ? "AllLanes{}" : std::string(site.lanes));
    values.Forward(nest_.steps[0].buffer, {std::string(site.value), true, ExprType::kFloat});
    ReserveNames(values, site);
    Writer out;
    for (std::size_t s = 1; s < nest_.steps.size(); ++s) {
      const Step& step = nest_.steps[s];
      values.BeginPass(&out, &out);
      values.CountUses(step.expr);
      const Text value = values.Write(step.expr);
      out.Line(fmt::format("{} = {};", site.value, values.AsVector(value)));
      values.Forward(step.buffer, {std::string(site.value), true, ExprType::kFloat});
    }
    return out.text();
  }

 private:
  const Program& program_;
  const Nest& nest_;
  Needs& needs_;
};

// Gives buffers names that do not collide with names in the generators' code.
Program Renamed(const Program& program) {
  Program renamed = program;
  for (Buffer& buffer : renamed.buffers) buffer.name += "_data";
  return renamed;
}

std::vector<int> ExtraBuffers(const Nest& nest) {
  std::set<int> made;
  for (const Step& step : nest.steps) made.insert(step.buffer);
  std::set<int> read;
  if (const std::optional<AttentionHint>& form = nest.steps[0].attention) {
    made.insert(form->product);
    VisitLoads(form->score, [&](const Load& load, ExprType) {
      if (!made.contains(load.buffer)) read.insert(load.buffer);
    });
  }
  for (std::size_t s = 1; s < nest.steps.size(); ++s)
    VisitLoads(nest.steps[s].expr, [&](const Load& load, ExprType) {
      if (!made.contains(load.buffer)) read.insert(load.buffer);
    });
  return {read.begin(), read.end()};
}

std::string Shifted(const std::string& name, std::int64_t offset) {
  return offset == 0 ? name : fmt::format("{} + {}", name, offset);
}

MatmulSpec SpecOf(const Nest& nest) {
  const Step& step = nest.steps[0];
  const AffineForm& a = step.product->left->load.address;
  const AffineForm& b = step.product->right->load.address;
  const AffineForm& c = Last(nest).place;
  MatmulSpec spec;
  spec.batch = nest.shape[0];
  spec.rows = nest.shape[kRowOfNest];
  spec.columns = nest.shape[kColumnOfNest];
  spec.depth = nest.depth;
  spec.a = {a.factor[0], a.factor[1], a.factor[3]};
  spec.b = {b.factor[0], b.factor[3], b.factor[2]};
  spec.c = {c.factor[0], c.factor[1], c.factor[2]};
  // A dimension of size 1 needs no stride of its own.
  if (spec.rows == 1 && spec.c.second != 1) spec.c.first = 1;
  if (spec.columns == 1 && spec.c.first != 1) spec.c.second = 1;
  spec.aligned_output = c.offset % 16 == 0;
  spec.a_nonzero = step.product->left_nonzero;
  spec.b_nonzero = step.product->right_nonzero;
  for (std::size_t s = 1; s < nest.steps.size(); ++s) {
    const std::optional<Triangle> triangle =
        TriangleOf(nest.steps[s].expr, nest.steps[s - 1].buffer, kRowOfNest, kColumnOfNest);
    if (!triangle) continue;
    spec.structure = triangle->structure;
    spec.diagonal = triangle->diagonal;
    break;
  }
  return spec;
}

// Returns a product that is masked to a triangle without its mask, since the generator leaves zeros
// there itself.
Nest WithoutMask(Nest nest) {
  if (nest.steps.size() < 2 || !nest.steps[0].product) return nest;
  const Step& mask = nest.steps[1];
  if (!TriangleOf(mask.expr, nest.steps[0].buffer, kRowOfNest, kColumnOfNest)) return nest;
  const std::vector<ExprPtr>& args = mask.expr->args;
  const bool keeps = args[1]->op == ExprOp::kLoad && IsPlainLoad(*args[1]) &&
                     args[1]->load.buffer == nest.steps[0].buffer;
  if (!keeps || args[2]->op != ExprOp::kConstant || args[2]->real != 0) return nest;
  nest.steps[0].buffer = mask.buffer;
  nest.steps[0].place = mask.place;
  nest.steps.erase(nest.steps.begin() + 1);
  nest.outer.erase(nest.outer.begin() + 1);
  return nest;
}

ConvSpec ConvolutionOf(const Nest& nest) {
  const ConvolutionHint& form = *nest.steps[0].convolution;
  ConvSpec spec;
  spec.images = form.batch;
  spec.in_channels = form.in_channels;
  spec.out_channels = form.out_channels;
  spec.groups = form.groups;
  spec.transposed = form.transposed;
  for (std::size_t i = 0; i < form.kernel.size(); ++i) {
    ConvAxis axis{form.in_size[i], form.kernel[i],   form.stride[i],
                  form.padding[i], form.dilation[i], 0};
    axis.output_padding = form.out_size[i] - ConvOutputSize(axis, form.transposed);
    if (!form.transposed) axis.output_padding = 0;
    spec.axes.push_back(axis);
  }
  return spec;
}

// What the generators of all families are given.
struct Surroundings {
  const std::string& name;
  const Tuning& tuning;
  Epilogue epilogue;
  std::vector<ExtraParameter> extra;
};

template <class Spec>
Spec Within(const Surroundings& surroundings, Spec spec) {
  spec.name = surroundings.name;
  spec.tuning = surroundings.tuning;
  spec.epilogue = surroundings.epilogue;
  spec.extra = surroundings.extra;
  return spec;
}

// The code of an anchor and the operands of its calls.
struct Generated {
  KernelText kernel;
  std::string operands;
  std::string packs = "";  // the operands of Pack, if the kernel keeps one
};

// Returns the address of a load's first element.
std::string Start(const Program& program, const Load& load) {
  return Shifted(BufferOf(program, load.buffer).name, load.address.offset);
}

std::string Output(const Program& program, const Nest& nest) {
  return Shifted(BufferOf(program, Last(nest).buffer).name, Last(nest).place.offset);
}

Generated ProductOf(const Program& program, const Nest& planned, const KernelTarget& target,
                    const Surroundings& surroundings) {
  MatmulSpec spec = Within(surroundings, SpecOf(planned));
  spec.keeps_b = planned.keeps_right;
  const ProductHint& product = *planned.steps[0].product;
  const std::string right = Start(program, product.right->load);
  return {GenerateMatmul(spec, target),
          fmt::format("{}, {}, {}", Start(program, product.left->load), right,
                      Output(program, planned)),
          right + ", @scratch@"};
}

Generated AttentionIn(const Program& program, const Nest& nest, const KernelTarget& target,
                      const Surroundings& surroundings, Epilogue score) {
  const AttentionHint& form = *nest.steps[0].attention;
  AttentionSpec spec = Within(surroundings, AttentionOf(form, nest.shape, Last(nest).place));
  spec.score = std::move(score);
  std::string operands;
  for (const ExprPtr& part : {form.query, form.key, form.value})
    operands += Start(program, part->load) + ", ";
  return {GenerateAttention(spec, target), operands + Output(program, nest)};
}

Generated ConvolutionIn(const Program& program, const Nest& nest, const KernelTarget& target,
                        const Surroundings& surroundings) {
  const ConvolutionHint& form = *nest.steps[0].convolution;
  ConvSpec spec = Within(surroundings, ConvolutionOf(nest));
  spec.keeps_weight = nest.keeps_right;
  const std::string& weight = BufferOf(program, form.weight).name;
  return {GenerateConv(spec, target),
          fmt::format("{}, {}, {}", BufferOf(program, form.input).name,
                      spec.keeps_weight ? "@packed@" : weight,
                      BufferOf(program, Last(nest).buffer).name),
          weight + ", @packed@"};
}

}  // namespace

void ReserveNames(ExpressionWriter& values, const OutputSite& site) {
  for (const std::string_view name : {site.value, site.row, site.column, site.batch, site.lanes})
    values.Reserve(name);
}

AnchorText EmitAnchor(const Program& program, const Nest& planned, const AnchorOrder& order,
                      Needs& needs) {
  if (planned.steps[0].routine) return EmitRoutine(program, planned, order, needs);
  const Program renamed = Renamed(program);
  const Nest nest = WithoutMask(planned);
  EpilogueWriter epilogue(renamed, nest, needs);
  Surroundings surroundings{order.name, order.tuning, {}, {}};
  if (nest.steps.size() > 1)
    surroundings.epilogue = [&](const OutputSite& site) { return epilogue.Write(site); };
  std::string arguments;
  for (const int buffer : ExtraBuffers(nest)) {
    const Buffer& read = BufferOf(renamed, buffer);
    surroundings.extra.push_back(
        {fmt::format("[[maybe_unused]] const {}*", DTypeCppName(read.dtype)), read.name});
    arguments += ", " + BufferOf(program, buffer).name;
  }
  const Step& step = nest.steps[0];
  const auto score = [&](const OutputSite& site) {
    return ScoreText(renamed, *step.attention, site, needs);
  };
  const Generated anchor = step.product ? ProductOf(program, planned, order.target, surroundings)
                           : step.attention
                               ? AttentionIn(program, nest, order.target, surroundings, score)
                               : ConvolutionIn(program, nest, order.target, surroundings);
  needs.vectors = true;
  needs.packing = true;
  needs.pieces.insert(anchor.kernel.pieces.begin(), anchor.kernel.pieces.end());
  needs.facts.Add(anchor.kernel.facts);
  AnchorText text;
  if (anchor.kernel.keeps) text.before = fmt::format("{}::Pack({});", order.name, anchor.packs);
  text.function = anchor.kernel.code;
  text.call = fmt::format("{}::Run({}{}, @scratch@);", order.name, anchor.operands, arguments);
  return text;
}

}  // namespace pragma::expert
