#include "expert/plan/join.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

void ChangeForms(Step& step, const std::function<void(AffineForm&)>& change) {
  step.expr = WithForms(step.expr, [&](const AffineForm& form) {
    AffineForm changed = form;
    change(changed);
    return std::optional(changed);
  });
  change(step.place);
  if (!step.position.factor.empty()) change(step.position);
  if (step.product) {
    for (ExprPtr* operand : {&step.product->left, &step.product->right}) {
      *operand = WithForms(*operand, [&](const AffineForm& form) {
        AffineForm changed = form;
        change(changed);
        return std::optional(changed);
      });
    }
  }
}

namespace {

Shape OuterShape(const Nest& nest) {
  Shape shape;
  for (std::size_t i = 0; i < nest.shape.size(); ++i)
    if (!nest.inner[i]) shape.push_back(nest.shape[i]);
  return shape;
}

bool AnyInner(const Nest& nest) { return std::ranges::find(nest.inner, true) != nest.inner.end(); }

// Turns a step over the outer dimensions into a step over the nest's shape. Its forms do not depend
// on the inner dimensions.
Step Embedded(const Step& step, const Nest& nest) {
  Step embedded = step;
  ChangeForms(embedded, [&](AffineForm& form) {
    AffineForm wide = ZeroForm(nest.shape.size());
    wide.offset = form.offset;
    std::size_t next = 0;
    for (std::size_t i = 0; i < nest.shape.size(); ++i)
      if (!nest.inner[i]) wide.factor[i] = form.factor[next++];
    form = wide;
  });
  embedded.shape = nest.shape;
  embedded.folded.assign(nest.shape.size(), false);
  return embedded;
}

// Returns whether every load from a buffer that the nest itself writes reads exactly the element
// that was written.
bool ReadsInPlace(const Step& step, const Nest& nest) {
  bool fits = true;
  VisitLoads(step.expr, [&](const Load& load, ExprType) {
    for (const Step& writer : nest.steps) {
      if (writer.buffer != load.buffer) continue;
      fits = fits && load.bounds.empty() && load.indirect.empty() && load.address == writer.place;
    }
  });
  return fits;
}

bool WritesSameElements(const Step& step, const Nest& nest) {
  return std::ranges::any_of(nest.steps, [&](const Step& other) {
    return other.buffer == step.buffer && !(other.beside && step.beside);
  });
}

// Returns whether the step overwrites elements that the nest reads in other iterations. A state of
// a repeat is read and overwritten.
bool OverwritesElsewhere(const Step& step, const Nest& nest) {
  bool elsewhere = false;
  for (const Step& reader : nest.steps)
    VisitLoads(reader.expr, [&](const Load& load, ExprType) {
      if (load.buffer != step.buffer) return;
      elsewhere =
          elsewhere || !load.bounds.empty() || !load.indirect.empty() || load.address != step.place;
    });
  return elsewhere;
}

bool ReadsFoldOf(const Step& step, const Nest& nest) {
  bool reads = false;
  VisitLoads(step.expr, [&](const Load& load, ExprType) {
    for (const Step& writer : nest.steps)
      reads = reads || (writer.buffer == load.buffer && writer.kind == Step::Kind::kFold);
  });
  return reads;
}

// A nest without outer iterations is run by all threads together, in one pass. A nest of at most
// this many elements is not worth threads at all.
constexpr std::int64_t kSmall = 1 << 15;

bool MayJoin(const Step& step, const Nest& nest) {
  const bool folds = std::ranges::find(step.folded, true) != step.folded.end();
  if (WritesSameElements(step, nest) || !ReadsInPlace(step, nest)) return false;
  if (OverwritesElsewhere(step, nest)) return false;
  if (folds && AnyInner(nest) && step.folded != nest.inner) return false;
  const bool alone = nest.OuterCount() == 1 && nest.InnerCount() > kSmall;
  if (alone && AnyInner(nest)) return folds && !ReadsFoldOf(step, nest);
  return true;
}

bool JoinAsItIs(const Step& step, Nest& nest) {
  const bool folds = std::ranges::find(step.folded, true) != step.folded.end();
  if (step.shape == nest.shape && MayJoin(step, nest)) {
    // A reduction over everything that earlier steps only map would leave them without threads.
    if (folds && !AnyInner(nest)) {
      std::int64_t outer = 1;
      for (std::size_t i = 0; i < step.shape.size(); ++i)
        if (!step.folded[i]) outer *= step.shape[i];
      if (outer == 1 && Elements(step.shape) > kSmall) return false;
      nest.inner = step.folded;
    }
    nest.steps.push_back(step);
    nest.outer.push_back(false);
    return true;
  }
  if (folds || !AnyInner(nest) || step.shape != OuterShape(nest)) return false;
  const Step embedded = Embedded(step, nest);
  if (WritesSameElements(embedded, nest) || !ReadsInPlace(embedded, nest)) return false;
  if (OverwritesElsewhere(embedded, nest)) return false;
  nest.steps.push_back(embedded);
  nest.outer.push_back(true);
  return true;
}

// Returns the step over another shape with the same elements, or nullopt where its forms are not
// linear in that shape.
std::optional<Step> InShape(const Step& step, const Shape& shape) {
  Step changed = step;
  bool fits = true;
  ChangeForms(changed, [&](AffineForm& form) {
    const std::optional<AffineForm> other = Reshape(form, step.shape, shape);
    fits = fits && other;
    if (other) form = *other;
  });
  if (!fits) return std::nullopt;
  changed.shape = shape;
  changed.folded.assign(shape.size(), false);
  return changed;
}

// Returns, for each dimension of a finer shape, the dimension that it is a part of. Returns nullopt
// where the shape is not finer.
std::optional<std::vector<std::size_t>> PartsOf(const Shape& shape, const Shape& finer) {
  std::vector<std::size_t> whole;
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t size = 1;
    for (; next < finer.size() && size < shape[i]; ++next) {
      size *= finer[next];
      whole.push_back(i);
    }
    if (size != shape[i]) return std::nullopt;
  }
  if (next != finer.size()) return std::nullopt;
  return whole;
}

// Returns the nest with dimensions split, so that a step that distinguishes their parts can join.
std::optional<Nest> Split(const Nest& nest, const Shape& finer) {
  const std::optional<std::vector<std::size_t>> whole = PartsOf(nest.shape, finer);
  if (!whole) return std::nullopt;
  const auto flags = [&](const std::vector<bool>& of) {
    std::vector<bool> parts;
    for (const std::size_t i : *whole) parts.push_back(of[i]);
    return parts;
  };
  Nest split = nest;
  for (Step& step : split.steps) {
    if (step.kind == Step::Kind::kScan) return std::nullopt;
    std::optional<Step> changed = InShape(step, finer);
    if (!changed) return std::nullopt;
    changed->folded = flags(step.folded);
    step = std::move(*changed);
  }
  split.shape = finer;
  split.inner = flags(nest.inner);
  return split;
}

}  // namespace

bool JoinInner(const Step& step, Nest& nest) {
  if (JoinAsItIs(step, nest)) return true;
  const bool related = std::ranges::any_of(nest.steps, [&](const Step& writer) {
    bool reads = false;
    VisitLoads(step.expr,
               [&](const Load& load, ExprType) { reads = reads || load.buffer == writer.buffer; });
    return reads;
  });
  if (step.kind != Step::Kind::kMap || !related || Elements(step.shape) != Elements(nest.shape))
    return false;
  if (const std::optional<Step> changed = InShape(step, nest.shape);
      changed && JoinAsItIs(*changed, nest))
    return true;
  std::optional<Nest> split = Split(nest, step.shape);
  if (!split || !JoinAsItIs(step, *split)) return false;
  nest = std::move(*split);
  return true;
}

bool JoinOuter(const Step& step, Nest& nest) {
  if (step.kind != Step::Kind::kMap || Elements(step.shape) != nest.OuterCount()) return false;
  const Shape outer = OuterShape(nest);
  if (const std::optional<Step> changed = InShape(step, outer); changed)
    return JoinAsItIs(*changed, nest);
  Shape finer = step.shape;
  finer.insert(finer.end(), nest.shape.begin() + static_cast<std::ptrdiff_t>(outer.size()),
               nest.shape.end());
  std::optional<Nest> split = Split(nest, finer);
  if (!split || !JoinAsItIs(step, *split)) return false;
  nest = std::move(*split);
  return true;
}

Nest Started(const Step& step) {
  Nest nest;
  nest.shape = step.shape;
  nest.inner = step.folded;
  nest.steps = {step};
  nest.outer = {false};
  nest.repeat = step.repeat;
  return nest;
}

}  // namespace pragma::expert
