#include "expert/lower/loop_inputs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/loop_values.h"
#include "expert/lower/lower_node.h"
#include "expert/lower/program_builder.h"
#include "expert/lower/unrolled.h"

namespace pragma::expert {

std::unexpected<Error> NoLoop() {
  return Fail(ErrorKind::kTask, "unsupported: a loop with a value of unknown place");
}

Result<void> LoopInputs::Lower() {
  selected_once_ = SelectedOnce();
  TRY(LowerInvariant());
  for (const LoopInput& input : loop_.inputs) TRY(AddInput(input));
  for (const std::size_t node : loop_.advancing) {
    if (!loop_.IsWritten(node) && !loop_.overwritten.contains(node)) TRY(AddAdvancing(node));
  }
  for (std::size_t node = 0; node < loop_.body.size(); ++node)
    if (const std::optional<std::size_t> input = SelectedInput(loop_.body[node]))
      TRY(AddProjection(node, *input));
  return {};
}

bool LoopInputs::IsReady(std::size_t node) const {
  const std::string& name = loop_.body[node].name;
  return invariant_.contains(name) || projected_.contains(name) || loop_.advancing.contains(node);
}

// Returns the node that selects a time step of a tensor, where a linear layer without states reads
// that step only, along another dimension than the one that advances.
std::optional<std::size_t> LoopInputs::SelectedInput(const GraphNode& node) const {
  if (node.op != "aten.linear.default") return std::nullopt;
  for (std::size_t a = 1; a < node.args.size(); ++a)
    if (node.args[a].kind == ScalarValue::Kind::kNode && !invariant_.contains(node.args[a].text))
      return std::nullopt;
  for (const std::size_t input : loop_.advancing) {
    const GraphNode& select = loop_.body[input];
    if (select.name != node.args[0].text || select.op != "aten.select.int") continue;
    const auto rank = static_cast<std::int64_t>(select.results.front().shape.size()) + 1;
    const std::int64_t dimension = select.args[1].integer;
    if ((dimension < 0 ? dimension + rank : dimension) != rank - 1) return input;
  }
  return std::nullopt;
}

// Computes a linear layer for all time steps before the loop, as one product.
Result<void> LoopInputs::AddProjection(std::size_t node, std::size_t input) {
  const GraphNode& select = loop_.body[input];
  const Value& steps = values_.at(select.args[0].text).front();
  GraphNode all = loop_.body[node];
  all.name += "_steps";
  all.args[0] = select.args[0];
  std::vector<std::int64_t> shape = steps.shape;
  shape.back() = all.results.front().shape.back();
  all.results.front().shape = shape;
  TRY(LowerNode(all, builder_, values_));
  values_.at(all.name).front() = builder_.Stored(values_.at(all.name).front());
  const auto at = [&](std::int64_t turn) -> Result<Value> {
    GraphNode step = NodeOfTurn(loop_, graph_, input, turn);
    step.name = loop_.body[node].name;
    step.args[0].text = all.name;
    step.results = loop_.body[node].results;
    TRY(LowerNode(step, builder_, values_));
    return values_.at(step.name).front();
  };
  const Value next = TRY(at(1));
  const Value first = TRY(at(0));
  const std::optional<std::int64_t> distance = ElementsBetween(first, next);
  if (!distance || !Claim(first.expr->load.buffer, *distance)) return NoLoop();
  projected_.insert(loop_.body[node].name);
  return {};
}

// Computes before the loop what does not change in it.
Result<void> LoopInputs::LowerInvariant() {
  for (const std::string& name : loop_.invariant)
    if (!selected_once_.contains(name)) Keep(name);
  invariant_ = loop_.invariant;
  for (std::size_t node = 0; node < loop_.body.size(); ++node) {
    if (loop_.advancing.contains(node)) continue;
    const std::set<std::string> names = ReferencesOf(loop_.body[node]);
    if (!std::ranges::includes(invariant_, names)) continue;
    TRY(LowerNode(loop_.body[node], builder_, values_));
    Keep(loop_.body[node].name);
    invariant_.insert(loop_.body[node].name);
  }
  for (std::size_t node = 0; node < loop_.body.size(); ++node)
    if (!invariant_.contains(loop_.body[node].name) && !loop_.advancing.contains(node))
      for (const std::string& name : ReferencesOf(loop_.body[node]))
        if (invariant_.contains(name)) AddStill(name);
  return {};
}

// Returns the values of before the loop of which each iteration selects another part, and no more.
std::set<std::string> LoopInputs::SelectedOnce() const {
  std::map<std::string, int> selected;
  std::set<std::string> otherwise;
  for (std::size_t node = 0; node < loop_.body.size(); ++node) {
    const bool selects = loop_.advancing.contains(node) && loop_.body[node].op == "aten.select.int";
    for (const std::string& name : ReferencesOf(loop_.body[node])) {
      if (selects) ++selected[name];
      if (!selects) otherwise.insert(name);
    }
  }
  std::set<std::string> once;
  for (const auto& [name, count] : selected)
    if (count == 1 && !otherwise.contains(name)) once.insert(name);
  return once;
}

void LoopInputs::Keep(const std::string& name) {
  for (Value& value : values_[name])
    if (value.expr) value = builder_.ForReuse(value);
}
void LoopInputs::AddStill(const std::string& name) {
  for (const Value& value : values_[name])
    if (value.expr)
      VisitLoads(value.expr, [&](const Load& load, ExprType) { still_.insert(load.buffer); });
}

// Notes that a buffer advances. Returns false where some of the body reads it in another way.
bool LoopInputs::Claim(int buffer, std::int64_t distance) { return ClaimAll({{buffer, distance}}); }

// Notes that all of these buffers advance, or none of them where that is not possible.
bool LoopInputs::ClaimAll(const std::map<int, std::int64_t>& distances) {
  for (const auto& [buffer, distance] : distances) {
    const auto known = step_.find(buffer);
    const bool fits = distance == 0 ? known == step_.end()
                                    : !still_.contains(buffer) &&
                                          (known == step_.end() || known->second == distance);
    if (!fits) return false;
  }
  for (const auto& [buffer, distance] : distances) {
    if (distance == 0)
      still_.insert(buffer);
    else
      step_[buffer] = distance;
  }
  return true;
}

Result<void> LoopInputs::AddInput(const LoopInput& input) {
  std::vector<Value> turns;
  for (const std::string& name : input.values) {
    const std::vector<Value>& results = values_[name];
    if (results.size() != 1) return NoLoop();
    turns.push_back(results[0]);
  }
  const std::optional<std::int64_t> distance = ElementsBetween(turns[0], turns[1]);
  for (std::size_t turn = 0; turn < turns.size(); ++turn)
    if (!distance ||
        ElementsBetween(turns[0], turns[turn]) != *distance * static_cast<std::int64_t>(turn))
      return NoLoop();
  if (!Claim(turns[0].expr->load.buffer, *distance)) return NoLoop();
  values_[input.name] = {turns[0]};
  return {};
}

// Lowers a node whose index advances, as the first iteration has it.
Result<void> LoopInputs::AddAdvancing(std::size_t node) {
  const std::set<std::string> names = ReferencesOf(loop_.body[node]);
  if (names.size() != 1 || !std::ranges::includes(invariant_, names)) return NoLoop();
  if (TRY(AddComputed(node))) return {};
  Value& source = values_.at(*names.begin()).front();
  if (values_.at(*names.begin()).size() == 1 && !IsPlainLoad(*source.expr))
    source = builder_.Stored(source);
  std::optional<std::int64_t> distance = TRY(DistanceOf(node));
  const std::string& name = loop_.body[node].name;
  if (!distance || values_[name].size() != 1) return NoLoop();
  if (Claim(values_[name][0].expr->load.buffer, *distance)) return {};
  // The body reads this buffer in another way too: it gets a copy of its own.
  const Value shared = source;
  builder_.Begin(name, "copy");
  const int copy = builder_.NewBuffer(source.dtype, source.shape);
  builder_.StoreInto(source, copy, ContiguousForm(source.dims));
  source = builder_.Whole(copy);
  distance = TRY(DistanceOf(node));
  values_.at(*names.begin()).front() = shared;
  if (!distance || !Claim(copy, *distance)) return NoLoop();
  return {};
}

// Computes in each iteration the part of a value that it selects, instead of all parts before the
// loop. Returns whether that is possible. A selection takes each element once, so nothing is
// computed twice.
Result<bool> LoopInputs::AddComputed(std::size_t node) {
  const std::string name = *ReferencesOf(loop_.body[node]).begin();
  if (values_.at(name).size() != 1 || !selected_once_.contains(name)) return false;
  const Value whole = values_.at(name).front();
  if (!whole.expr || IsPlainLoad(*whole.expr)) return false;
  builder_.Begin(loop_.body[node].name, "factor");
  const std::optional<Value> source =
      WithNarrowPartsStored(builder_, builder_.Settled(whole), stored_);
  if (!source) return false;
  values_.at(name).front() = *source;
  const std::vector<Value> parts = TRY(ValuesAt(node, {0, 1, loop_.count - 1}));
  values_.at(name).front() = whole;
  if (parts.size() != 3) return false;
  const auto one = DistancesBetween(parts[0].expr, parts[1].expr);
  const auto all = DistancesBetween(parts[0].expr, parts[2].expr);
  if (!one || !all) return false;
  for (const auto& [buffer, distance] : *one)
    if (all->at(buffer) != distance * (loop_.count - 1)) return false;
  return ClaimAll(*one);
}

// Lowers a node as several iterations have it, and returns the results. The last that is lowered is
// the first of `turns`, whose result stays in `values`. Returns nothing where there is no result.
Result<std::vector<Value>> LoopInputs::ValuesAt(std::size_t node,
                                                const std::vector<std::int64_t>& turns) {
  std::vector<Value> results(turns.size());
  for (std::size_t i = turns.size(); i-- > 0;) {
    const GraphNode at = NodeOfTurn(loop_, graph_, node, turns[i]);
    TRY(LowerNode(at, builder_, values_));
    if (values_[at.name].empty()) return std::vector<Value>();
    results[i] = values_[at.name].front();
  }
  return results;
}

// Returns by how much the result advances with each iteration, and leaves that of the first one
// in `values`.
Result<std::optional<std::int64_t>> LoopInputs::DistanceOf(std::size_t node) {
  const std::vector<Value> results = TRY(ValuesAt(node, {0, 1, loop_.count - 1}));
  if (results.empty()) return std::nullopt;
  const std::optional<std::int64_t> one = ElementsBetween(results[0], results[1]);
  const std::optional<std::int64_t> all = ElementsBetween(results[0], results[2]);
  if (!one || !all || *one * (loop_.count - 1) != *all) return std::nullopt;
  return one;
}

}  // namespace pragma::expert
