#include "expert/triton/channels_last.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert::triton {

Shape ChannelsLast(std::int64_t batch, const Shape& spatial, std::int64_t channels) {
  Shape shape{batch};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  shape.push_back(channels);
  return shape;
}

AffineForm FromChannelsFirst(std::int64_t outer, std::int64_t channels, const Shape& spatial) {
  Shape given{outer, channels};
  given.insert(given.end(), spatial.begin(), spatial.end());
  AffineForm form = ContiguousForm(given);
  std::rotate(form.factor.begin() + 1, form.factor.begin() + 2, form.factor.end());
  return form;
}

Step Filled(Program& program, const Step& of, const std::string& what, const Shape& shape,
            const ExprPtr& expr, DType dtype) {
  Step step;
  step.shape = shape;
  step.folded.assign(shape.size(), false);
  step.expr = expr;
  step.buffer = static_cast<int>(program.buffers.size());
  step.place = ContiguousForm(shape);
  step.name = of.name + "_" + what;
  step.what = what;
  program.buffers.push_back({Buffer::Kind::kScratch, step.name, dtype, shape});
  return step;
}

}  // namespace pragma::expert::triton
