#include "expert/lower/shared_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {
namespace {

// Returns the buffers of at least `elements` elements that an expression reads.
std::set<int> LargeInputs(const ExprPtr& expr, std::int64_t elements, const Program& program) {
  std::set<int> large;
  VisitLoads(expr, [&](const Load& load, ExprType) {
    const Buffer& buffer = program.buffers[static_cast<std::size_t>(load.buffer)];
    if (Elements(buffer.shape) >= elements) large.insert(load.buffer);
  });
  return large;
}

// Returns whether an element is computed of elements of several large tensors. To read these again
// is more work than to read the result. This is so for the sums between the blocks of a residual
// network.
bool ReadsSeveral(const Value& value, const Program& program) {
  return LargeInputs(value.expr, Elements(value.shape), program).size() > 1;
}

// Returns whether steps write a buffer that the generator of a product or a convolution can write:
// its own results, or what is computed of those alone.
bool BehindAnchor(int buffer, const Program& program) {
  for (const Step& step : program.steps) {
    if (step.buffer != buffer) continue;
    if (step.product || step.convolution) return true;
    if (step.kind != Step::Kind::kMap) return false;
    const std::set<int> read = LargeInputs(step.expr, Elements(step.shape), program);
    return read.size() == 1 && BehindAnchor(*read.begin(), program);
  }
  return false;
}

// Returns whether an element is computed, at some cost, of one element of a product or a
// convolution. Behind those it costs no pass over memory. Otherwise each of several readers would
// compute it.
bool FinishesAnchor(const Value& value, const Program& program) {
  const std::set<int> read = LargeInputs(value.expr, Elements(value.shape), program);
  return Cost(value.expr) > kCheap && read.size() == 1 && BehindAnchor(*read.begin(), program);
}

}  // namespace

bool StoresShared(const Value& value, const Program& program, const LowerPolicy& policy) {
  return FinishesAnchor(value, program) || (policy.stores_shared && ReadsSeveral(value, program));
}

}  // namespace pragma::expert
