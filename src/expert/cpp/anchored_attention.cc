#include "expert/cpp/anchored_attention.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/attention_kernel.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/matmul_kernel.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/anchor_nests.h"
#include "expert/plan/attention.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
AttentionSpec AttentionOf(const AttentionHint& form, const Shape& shape, const AffineForm& place) {
  AttentionSpec spec;
  spec.batch = shape[0];
  spec.rows = shape[kRowOfNest];
  spec.columns = shape[kColumnOfNest];
  spec.keys = form.shape[2];
  spec.depth = form.depth;
  const std::vector<std::int64_t>& query = form.query->load.address.factor;
  const std::vector<std::int64_t>& key = form.key->load.address.factor;
  const std::vector<std::int64_t>& value = form.value->load.address.factor;
  spec.query = {query[0], query[1], query[3]};
  spec.key = {key[0], key[2], key[3]};
  spec.value = {value[0], value[2], value[3]};
  spec.out = {place.factor[0], place.factor[1], 1};
  if (const std::optional<CausalMask> mask = CausalMaskOf(form)) spec.diagonal = mask->diagonal;
  spec.empty_zero = form.empty_zero;
  return spec;
}

std::string ScoreText(const Program& program, const AttentionHint& form, const OutputSite& site,
                      Needs& needs) {
  Nest view;
  view.shape = form.shape;
  view.inner.assign(form.shape.size(), false);
  view.lane = kColumnOfNest;
  ExpressionWriter values(
      program, view, {std::string(site.batch), std::string(site.row), std::string(site.column)},
      needs);
  ReserveNames(values, site);
  values.CountLanesBy(site.whole ? "AllLanes{}" : std::string(site.lanes));
  values.Forward(form.product, {std::string(site.value), true, ExprType::kFloat});
  Writer out;
  values.BeginPass(&out, &out);
  values.CountUses(form.score);
  const Text score = values.Write(form.score);
  out.Line(fmt::format("{} = {};", site.value, values.AsVector(score)));
  return out.text();
}

}  // namespace pragma::expert
