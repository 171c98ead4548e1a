#include "expert/lower/lower_loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/loop_inputs.h"
#include "expert/lower/lower_node.h"
#include "expert/lower/program_builder.h"
#include "expert/lower/unrolled.h"

namespace pragma::expert {
namespace {

// Returns whether a value reads no other element of a buffer than the one it is stored to.
bool ReadsInPlace(const Value& value, int buffer) {
  const AffineForm place = ContiguousForm(value.dims);
  bool in_place = true;
  VisitLoads(value.expr, [&](const Load& load, ExprType) {
    if (load.buffer != buffer) return;
    in_place = in_place && load.bounds.empty() && load.indirect.empty() && load.address == place;
  });
  return in_place;
}

class LoopLowering final {
 public:
  LoopLowering(const UnrolledLoop& loop, const std::vector<GraphNode>& graph,
               ProgramBuilder& builder, ValuesByName& values)
      : loop_(loop),
        graph_(graph),
        builder_(builder),
        values_(values),
        inputs_(loop, graph, builder, values) {
    for (std::size_t node = 0; node < loop.body.size(); ++node)
      number_[loop.body[node].name] = node;
    FindUses();
  }

  Result<void> Run() {
    TRY(inputs_.Lower());
    step_ = inputs_.step();
    for (const LoopState& state : loop_.states) TRY(AddState(state));
    builder_.BeginRepeat(loop_.count);
    for (std::size_t node = 0; node < loop_.body.size(); ++node) TRY(LowerBody(node));
    UpdateRest();
    builder_.EndRepeat(step_);
    NameResults();
    return {};
  }

 private:
  struct State {
    const LoopState* state;
    int buffer;
    bool updated = false;
  };

  // The results of a node in all iterations.
  struct Collected {
    int buffer;
    AffineForm place;   // of the first one
    std::int64_t slot;  // elements from one to the next
  };

  Result<void> LowerBody(std::size_t node) {
    const GraphNode& made = loop_.body[node];
    if (loop_.overwritten.contains(node)) {
      if (used_.contains(node)) return NoLoop();
      const TensorSpec& result = made.results.front();
      const Value none = ProgramBuilder::Number(0, result.dtype);
      values_[made.name] = {builder_.Expanded(none, result.shape)};
      return {};
    }
    if (loop_.IsWritten(node)) return WriteSlot(node);
    if (inputs_.IsReady(node)) return Collect(node);
    TRY(LowerNode(made, builder_, values_));
    TRY(Collect(node));
    UpdateStatesAt(node);
    return {};
  }

  // Finds out of which iterations each node's result is used after the loop.
  void FindUses() {
    std::map<std::string, std::pair<std::size_t, std::int64_t>> inside;
    for (std::size_t place = loop_.first; place < loop_.end(); ++place)
      inside[graph_[place].name] = {
          (place - loop_.first) % loop_.body.size(),
          static_cast<std::int64_t>((place - loop_.first) / loop_.body.size())};
    for (std::size_t place = loop_.end(); place < graph_.size(); ++place)
      VisitReferences(graph_[place], [&](const std::string& name) {
        if (const auto found = inside.find(name); found != inside.end())
          used_[found->second.first].insert(found->second.second);
      });
  }

  Result<void> AddState(const LoopState& state) {
    const TensorSpec& result = loop_.body[state.node].results.front();
    const std::vector<Value>& initial = values_[state.initial];
    if (initial.size() != 1 || !initial[0].expr) return NoLoop();
    builder_.Begin(loop_.body[state.node].name, "state");
    const int buffer = builder_.NewBuffer(result.dtype, result.shape);
    const Value settled = builder_.Settled(initial[0]);
    builder_.StoreInto(settled, buffer, ContiguousForm(settled.dims));
    values_[state.name] = {builder_.Whole(buffer)};
    states_.push_back({&state, buffer});
    return {};
  }

  // Stores the result of a node that is used after the loop, with a slot for each iteration. Of a
  // state, the last value is in its own buffer anyway.
  Result<void> Collect(std::size_t node) {
    if (!used_.contains(node) || (IsState(node) && UsesLastOnly(node))) return {};
    const std::vector<Value>& results = values_[loop_.body[node].name];
    if (results.size() != 1 || !results[0].expr) return NoLoop();
    const Value value = builder_.Settled(results[0]);
    const std::size_t axis = UsesLastOnly(node) ? 0 : AxisOf(node, value.shape.size());
    const auto at = static_cast<std::ptrdiff_t>(axis);
    Shape shape = value.shape;
    shape.insert(shape.begin() + at, UsesLastOnly(node) ? 1 : loop_.count);
    AffineForm place = ContiguousForm(shape);
    const std::int64_t slot = place.factor[axis];
    place.factor.erase(place.factor.begin() + at);
    const int buffer = builder_.NewBuffer(value.dtype, shape);
    builder_.StoreInto(value, buffer, place);
    if (!UsesLastOnly(node)) step_[buffer] = slot;
    collected_[node] = {buffer, place, slot};
    return {};
  }
  bool UsesLastOnly(std::size_t node) { return *used_[node].begin() == loop_.count - 1; }
  bool IsState(std::size_t node) {
    return std::ranges::any_of(states_, [&](const State& s) { return s.state->node == node; });
  }

  // Returns the dimension along which what follows the loop joins a node's results: there they are
  // written in the order in which they are wanted.
  std::size_t AxisOf(std::size_t node, std::size_t rank) {
    const std::string& first = graph_[loop_.first + node].name;
    for (std::size_t place = loop_.end(); place < graph_.size(); ++place) {
      const GraphNode& user = graph_[place];
      if (!ReferencesOf(user).contains(first)) continue;
      const bool joins = user.op == "aten.cat.default";
      if (!joins && user.op != "aten.stack.default" && user.op != "aten.unsqueeze.default")
        return 0;
      const auto dims = static_cast<std::int64_t>(joins ? rank : rank + 1);
      const std::int64_t axis = user.args.size() > 1 ? user.args[1].integer : 0;
      return static_cast<std::size_t>(axis < 0 ? axis + dims : axis);
    }
    return 0;
  }

  // Writes one index of a result of the whole loop.
  Result<void> WriteSlot(std::size_t node) {
    if (used_.contains(node) && !UsesLastOnly(node)) return NoLoop();
    const GraphNode& scatter = loop_.body[node];
    const auto state =
        std::ranges::find_if(states_, [&](const State& s) { return s.state->node == node; });
    const std::vector<Value>& part = values_[scatter.args[1].text];
    if (part.size() != 1 || !part[0].expr) return NoLoop();
    const Shape& shape = scatter.results.front().shape;
    const auto rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t given = scatter.args[2].integer;
    const auto dimension = static_cast<std::size_t>(given < 0 ? given + rank : given);
    std::int64_t index = scatter.args[3].integer;
    const std::int64_t next = NodeOfTurn(loop_, graph_, node, 1).args[3].integer;
    AffineForm place = ContiguousForm(shape);
    const std::int64_t slot = place.factor[dimension];
    step_[state->buffer] = (next - index) * slot;
    if (index < 0) index += shape[dimension];
    place.factor.erase(place.factor.begin() + static_cast<std::ptrdiff_t>(dimension));
    place.offset = index * slot;
    builder_.Begin(scatter.name, "write");
    const Value value = builder_.Settled(part[0]);
    builder_.StoreInto(value, state->buffer, place);
    state->updated = true;
    return {};
  }

  // Returns whether anything that is not yet stored needs a state's value of before.
  bool IsNeeded(const State& state, std::size_t done) {
    for (std::size_t node = done + 1; node < loop_.body.size(); ++node) {
      for (const std::string& name : ReferencesOf(loop_.body[node])) {
        if (name == state.state->name) return true;
        const auto known = number_.find(name);
        if (known != number_.end() && known->second < done && Holds(name, state.buffer))
          return true;
      }
    }
    return std::ranges::any_of(states_, [&](const State& other) {
      return !other.updated && other.buffer != state.buffer && other.state->node < done &&
             Holds(loop_.body[other.state->node].name, state.buffer);
    });
  }
  bool Holds(const std::string& name, int buffer) {
    return std::ranges::any_of(
        values_[name], [&](const Value& value) { return value.expr && Loads(value.expr, buffer); });
  }

  // Overwrites a state at once where nothing else needs its value of before. What reads the node
  // from then on reads the state.
  void UpdateStatesAt(std::size_t node) {
    for (State& state : states_) {
      if (state.state->node != node || IsNeeded(state, node)) continue;
      Update(state);
      values_[loop_.body[node].name] = {builder_.Whole(state.buffer)};
    }
  }

  // Overwrites the other states at the end of the iteration, each after those that read it.
  void UpdateRest() {
    for (std::size_t round = 0; round < states_.size(); ++round) {
      const auto free = std::ranges::find_if(
          states_, [&](const State& state) { return !state.updated && !IsRead(state); });
      if (free != states_.end()) {
        Update(*free);
        continue;
      }
      for (const State& state : states_) {  // they need each other
        if (state.updated) continue;
        Value& value = values_[loop_.body[state.state->node].name].front();
        value = Copied(value);
      }
    }
    for (State& state : states_)
      if (!state.updated) Update(state);
  }
  bool IsRead(const State& state) {
    return std::ranges::any_of(states_, [&](const State& other) {
      return !other.updated && other.buffer != state.buffer &&
             Holds(loop_.body[other.state->node].name, state.buffer);
    });
  }

  void Update(State& state) {
    builder_.Begin(loop_.body[state.state->node].name, "state");
    Value value = builder_.Settled(values_[loop_.body[state.state->node].name].front());
    if (!ReadsInPlace(value, state.buffer)) value = Copied(value);
    builder_.StoreInto(value, state.buffer, ContiguousForm(value.dims));
    state.updated = true;
  }
  Value Copied(const Value& value) {
    const Value settled = builder_.Settled(value);
    const int buffer = builder_.NewBuffer(settled.dtype, settled.shape);
    builder_.StoreInto(settled, buffer, ContiguousForm(settled.dims));
    return builder_.Whole(buffer);
  }

  // Gives the nodes after the loop what they read from it.
  void NameResults() {
    for (const auto& [node, turns] : used_) {
      const GraphNode& made = loop_.body[node];
      if (!collected_.contains(node)) {  // a state
        const auto state =
            std::ranges::find_if(states_, [&](const State& s) { return s.state->node == node; });
        builder_.Begin(made.name, "state");
        const Value last = builder_.Whole(state->buffer);
        values_[NameAt(node, loop_.count - 1)] = {state->state->written ? last : Copied(last)};
        continue;
      }
      const Collected& all = collected_.at(node);
      const TensorSpec& result = made.results.front();
      for (const std::int64_t turn : turns) {
        AffineForm place = all.place;
        place.offset = UsesLastOnly(node) ? 0 : turn * all.slot;
        values_[NameAt(node, turn)] = {{LoadOf(all.buffer, place, ComputeType(result.dtype)),
                                        result.shape, result.shape, result.dtype}};
      }
    }
  }
  const std::string& NameAt(std::size_t node, std::int64_t turn) {
    return graph_[loop_.first + static_cast<std::size_t>(turn) * loop_.body.size() + node].name;
  }

  const UnrolledLoop& loop_;
  const std::vector<GraphNode>& graph_;
  ProgramBuilder& builder_;
  ValuesByName& values_;
  std::map<std::string, std::size_t> number_;           // nodes of the body
  std::map<std::size_t, std::set<std::int64_t>> used_;  // node -> iterations used after the loop
  LoopInputs inputs_;
  std::map<int, std::int64_t> step_;
  std::vector<State> states_;
  std::map<std::size_t, Collected> collected_;  // by node
};

}  // namespace

Result<void> LowerLoop(const UnrolledLoop& loop, const std::vector<GraphNode>& graph,
                       ProgramBuilder& builder, ValuesByName& values) {
  return LoopLowering(loop, graph, builder, values).Run();
}

}  // namespace pragma::expert
