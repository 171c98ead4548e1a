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
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/structure.h"
#include "expert/plan/anchor_nests.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

const Buffer& BufferOf(const Program& program, int buffer) {
  return program.buffers[static_cast<std::size_t>(buffer)];
}

// The generator stores the results of the last step.
const Step& Last(const Nest& nest) { return nest.steps.back(); }

class EpilogueWriter final {
 public:
  EpilogueWriter(const Program& program, const Nest& nest, Needs& needs)
      : program_(program), nest_(nest), needs_(needs) {}

  std::string Write(const OutputSite& site) {
    Nest view = nest_;
    view.lane = site.along == OutputSite::Along::kRow ? kRow : kColumn;
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
  spec.rows = nest.shape[kRow];
  spec.columns = nest.shape[kColumn];
  spec.depth = nest.depth;
  spec.a = {a.factor[0], a.factor[1], a.factor[3]};
  spec.b = {b.factor[0], b.factor[3], b.factor[2]};
  spec.c = {c.factor[0], c.factor[1], c.factor[2]};
  // A dimension of size 1 needs no stride of its own.
  if (spec.rows == 1 && spec.c.second != 1) spec.c.first = 1;
  spec.aligned_output = c.offset % 16 == 0;
  spec.a_nonzero = step.product->left_nonzero;
  spec.b_nonzero = step.product->right_nonzero;
  for (std::size_t s = 1; s < nest.steps.size(); ++s) {
    const std::optional<Triangle> triangle =
        TriangleOf(nest.steps[s].expr, nest.steps[s - 1].buffer, kRow, kColumn);
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
  if (!TriangleOf(mask.expr, nest.steps[0].buffer, kRow, kColumn)) return nest;
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

}  // namespace

void ReserveNames(ExpressionWriter& values, const OutputSite& site) {
  for (const std::string_view name : {site.value, site.row, site.column, site.batch, site.lanes})
    values.Reserve(name);
}

AnchorText EmitAnchor(const Program& program, const Nest& planned, const KernelTarget& target,
                      const std::string& name, Needs& needs) {
  const Program renamed = Renamed(program);
  const Nest nest = WithoutMask(planned);
  EpilogueWriter epilogue(renamed, nest, needs);
  Epilogue callback;
  if (nest.steps.size() > 1)
    callback = [&](const OutputSite& site) { return epilogue.Write(site); };
  std::vector<ExtraParameter> extra;
  std::string arguments;
  for (const int buffer : ExtraBuffers(nest)) {
    const Buffer& read = BufferOf(renamed, buffer);
    extra.push_back(
        {fmt::format("[[maybe_unused]] const {}*", DTypeCppName(read.dtype)), read.name});
    arguments += ", " + BufferOf(program, buffer).name;
  }
  const std::string& out = BufferOf(program, Last(nest).buffer).name;
  const Step& step = nest.steps[0];
  AnchorText text;
  KernelText kernel;
  std::string operands;
  if (step.product) {
    MatmulSpec spec = SpecOf(planned);
    spec.name = name;
    spec.epilogue = callback;
    spec.extra = extra;
    spec.keeps_b = planned.keeps_right;
    kernel = GenerateMatmul(spec, target);
    const Load& a = step.product->left->load;
    const Load& b = step.product->right->load;
    operands =
        fmt::format("{}, {}, {}", Shifted(BufferOf(program, a.buffer).name, a.address.offset),
                    Shifted(BufferOf(program, b.buffer).name, b.address.offset),
                    Shifted(out, Last(nest).place.offset));
  } else if (step.attention) {
    AttentionSpec spec = AttentionOf(*step.attention, nest.shape, Last(nest).place);
    spec.name = name;
    spec.epilogue = callback;
    spec.extra = extra;
    spec.score = [&](const OutputSite& site) {
      return ScoreText(renamed, *step.attention, site, needs);
    };
    kernel = GenerateAttention(spec, target);
    for (const ExprPtr& part : {step.attention->query, step.attention->key, step.attention->value})
      operands +=
          Shifted(BufferOf(program, part->load.buffer).name, part->load.address.offset) + ", ";
    operands += Shifted(out, Last(nest).place.offset);
  } else {
    ConvSpec spec = ConvolutionOf(nest);
    spec.name = name;
    spec.epilogue = callback;
    spec.extra = extra;
    kernel = GenerateConv(spec, target);
    operands = fmt::format("{}, {}, {}", BufferOf(program, step.convolution->input).name,
                           BufferOf(program, step.convolution->weight).name, out);
  }
  if (kernel.keeps) {
    const Load& kept = step.product->right->load;
    text.before = fmt::format("{}::Pack({}, @scratch@);", name,
                              Shifted(BufferOf(program, kept.buffer).name, kept.address.offset));
  }
  text.function = kernel.code;
  text.pieces = kernel.pieces;
  text.call = fmt::format("{}::Run({}{}, @scratch@);", name, operands, arguments);
  return text;
}

}  // namespace pragma::expert
