// Recurrent networks. The contribution of the inputs is one product for all time steps. A repeat of
// steps then adds the contribution of the state before each time step.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/arithmetic.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;
using Args = std::vector<ExprPtr>;

enum class Cell : std::uint8_t { kTanh, kRelu, kGru, kLstm };

std::int64_t GatesOf(Cell cell) { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }

// The weights of one direction of one layer.
struct Weights {
  Value input;      // [gates * hidden, features]
  Value recurrent;  // [gates * hidden, hidden]
  std::vector<Value> bias;
};

struct Sequence {
  Value values;          // [times, batch, features], or batch first
  std::size_t time = 0;  // the time dimension of `values`
  [[nodiscard]] std::int64_t times() const { return values.shape[time]; }
  [[nodiscard]] std::int64_t batch() const { return values.shape[1 - time]; }
};

struct State {
  Value hidden;  // [batch, hidden]
  Value memory;  // cell state of an LSTM
};

// The results of one direction: the buffer of all hidden states, and the last states.
struct Outcome {
  Value all;  // [times, batch, hidden]
  State last;
};

ExprPtr By(const ExprPtr& a, const ExprPtr& b) { return Make(ExprOp::kMultiply, {a, b}); }
ExprPtr Of(ExprOp op, const ExprPtr& a) { return Make(op, {a}); }

Value Sum(ProgramBuilder& builder, const Value& a, const Value& b) {
  return builder.Pointwise({a, b}, ComputeType(a.dtype), a.dtype,
                           [](const Args& args) { return Make(ExprOp::kAdd, args); });
}

// Returns [rows, columns] of a buffer, from `offset` on.
Value Matrix(int buffer, const Value& like, std::int64_t offset) {
  AffineForm form = ContiguousForm(like.shape);
  form.offset = offset;
  return {LoadOf(buffer, form, ComputeType(like.dtype)), like.shape, like.shape, like.dtype};
}

// Returns the columns of one gate.
Value Gate(ProgramBuilder& builder, const Value& gates, std::int64_t gate, std::int64_t hidden) {
  IndexMap map = IdentityMap(2);
  map.index[1].offset = gate * hidden;
  return builder.Mapped(gates, map, {gates.shape[0], hidden});
}

// Returns the contribution of the inputs to the gates at one time step.
Value AtTime(ProgramBuilder& builder, const Sequence& gates, std::int64_t time) {
  IndexMap map{2, {}};
  for (std::size_t i = 0; i < 3; ++i) map.index.push_back(ZeroForm(2));
  map.index[gates.time].offset = time;
  map.index[1 - gates.time].factor[0] = 1;
  map.index[2].factor[1] = 1;
  return builder.Mapped(gates.values, map, {gates.batch(), gates.values.shape[2]});
}

// Computes the contribution of the inputs to the gates for all time steps, and stores it in memory.
Sequence InputGates(ProgramBuilder& builder, const Sequence& x, const Weights& weights, Cell cell) {
  const Shape& shape = x.values.shape;
  const Value rows = builder.Settled(builder.Reshaped(x.values, {shape[0] * shape[1], shape[2]}));
  Value gates = TimesTransposed(builder, rows, weights.input);
  if (!weights.bias.empty()) gates = Sum(builder, gates, weights.bias[0]);
  // In a GRU the reset gate is applied between the two biases of the new state, so the second bias
  // is not added here.
  if (!weights.bias.empty() && cell != Cell::kGru) gates = Sum(builder, gates, weights.bias[1]);
  const Value stored = builder.Stored(gates);
  return {builder.Settled(builder.Reshaped(stored, {shape[0], shape[1], gates.shape[1]})), x.time};
}

// Computes one time step of a cell. The cell state is updated in place.
Value NextHidden(ProgramBuilder& builder, Cell cell, const std::vector<Value>& inputs,
                 const std::vector<Value>& states, const State& before, int memory) {
  const DType dtype = before.hidden.dtype;
  const auto both = [&](std::size_t gate) { return Sum(builder, inputs[gate], states[gate]); };
  const auto map = [&](const std::vector<Value>& values, const ProgramBuilder::Combine& combine) {
    return builder.Pointwise(values, ComputeType(dtype), dtype, combine);
  };
  if (cell == Cell::kLstm) {
    const Value kept = map({both(0), both(1), both(2), before.memory}, [](const Args& a) {
      return Plus(By(Of(ExprOp::kSigmoid, a[1]), a[3]),
                  By(Of(ExprOp::kSigmoid, a[0]), Of(ExprOp::kTanh, a[2])));
    });
    builder.StoreInto(kept, memory, ContiguousForm(kept.dims));
    return map({both(3), Matrix(memory, kept, 0)}, [](const Args& a) {
      return By(Of(ExprOp::kSigmoid, a[0]), Of(ExprOp::kTanh, a[1]));
    });
  }
  if (cell == Cell::kGru) {
    return map({both(0), both(1), inputs[2], states[2], before.hidden}, [](const Args& a) {
      const ExprPtr update = Of(ExprOp::kSigmoid, a[1]);
      const ExprPtr fresh = Of(ExprOp::kTanh, Plus(a[2], By(Of(ExprOp::kSigmoid, a[0]), a[3])));
      return Plus(fresh, By(update, Make(ExprOp::kSubtract, {a[4], fresh})));
    });
  }
  return map({both(0)}, [cell](const Args& a) {
    if (cell == Cell::kTanh) return Of(ExprOp::kTanh, a[0]);
    return Make(ExprOp::kMax, {a[0], Constant(0, a[0]->type)});
  });
}

Outcome Direction(ProgramBuilder& builder, Cell cell, const Sequence& x, const Weights& weights,
                  const State& start, bool reverse) {
  const Sequence gates = InputGates(builder, x, weights, cell);
  const Value& like = start.hidden;
  const DType dtype = like.dtype;
  const std::int64_t slot = Elements(like.shape);  // number of elements of the states of one time
                                                   // step
  const std::int64_t times = x.times();
  const std::int64_t first = reverse ? times : 0;  // index of the slot before the first time step
  const std::int64_t forward = reverse ? -1 : 1;
  const int hidden = builder.NewBuffer(dtype, {times + 1, like.shape[0], like.shape[1]});
  AffineForm place = ContiguousForm(like.shape);
  place.offset = first * slot;
  builder.StoreInto(builder.Settled(like), hidden, place);
  int memory = -1;
  if (cell == Cell::kLstm) {
    memory = builder.NewBuffer(dtype, like.shape);
    builder.StoreInto(builder.Settled(start.memory), memory, ContiguousForm(like.shape));
  }
  builder.BeginRepeat(times);
  const State before{Matrix(hidden, like, first * slot),
                     memory < 0 ? Value{} : Matrix(memory, like, 0)};
  Value recurrent = TimesTransposed(builder, before.hidden, weights.recurrent);
  if (cell == Cell::kGru && !weights.bias.empty())
    recurrent = Sum(builder, recurrent, weights.bias[1]);
  const Value input = AtTime(builder, gates, reverse ? times - 1 : 0);
  std::vector<Value> inputs;
  std::vector<Value> states;
  for (std::int64_t gate = 0; gate < GatesOf(cell); ++gate) {
    inputs.push_back(Gate(builder, input, gate, like.shape[1]));
    states.push_back(Gate(builder, recurrent, gate, like.shape[1]));
  }
  const Value next = NextHidden(builder, cell, inputs, states, before, memory);
  place.offset = (first + forward) * slot;
  builder.StoreInto(next, hidden, place);
  const int gates_buffer = gates.values.expr->load.buffer;
  const std::int64_t gates_step = gates.values.expr->load.address.factor[gates.time];
  builder.EndRepeat({{hidden, forward * slot}, {gates_buffer, forward * gates_step}});
  const Shape all{times, like.shape[0], like.shape[1]};
  AffineForm form = ContiguousForm(all);
  form.offset = reverse ? 0 : slot;
  return {{LoadOf(hidden, form, ComputeType(dtype)), all, all, dtype},
          {Matrix(hidden, like, reverse ? 0 : times * slot),
           memory < 0 ? Value{} : Matrix(memory, like, 0)}};
}

// Stores values side by side along a dimension of a new buffer.
Value Joined(ProgramBuilder& builder, const std::vector<Value>& parts, const Shape& shape,
             std::size_t dimension) {
  const int buffer = builder.NewBuffer(parts[0].dtype, shape);
  const AffineForm whole = ContiguousForm(shape);
  std::int64_t start = 0;
  for (const Value& part : parts) {
    AffineForm place = whole;
    place.offset = start * whole.factor[dimension];
    builder.StoreInto(part, buffer, place);
    start += part.shape[dimension];
  }
  return builder.Whole(buffer);
}

// Returns one of the states that are stacked for all layers and directions.
Value StateOf(ProgramBuilder& builder, const Value& stacked, std::int64_t index) {
  IndexMap map{2, {ZeroForm(2), ZeroForm(2), ZeroForm(2)}};
  map.index[0].offset = index;
  map.index[1].factor[0] = 1;
  map.index[2].factor[1] = 1;
  return builder.Mapped(stacked, map, {stacked.shape[1], stacked.shape[2]});
}

Value Stacked(ProgramBuilder& builder, const std::vector<Value>& states) {
  std::vector<Value> rows;
  const Shape& one = states[0].shape;
  for (const Value& state : states) rows.push_back(builder.Reshaped(state, {1, one[0], one[1]}));
  return Joined(builder, rows, {static_cast<std::int64_t>(rows.size()), one[0], one[1]}, 0);
}

Lower LowerRecurrent(Cell cell) {
  return [cell](ProgramBuilder& builder, const NodeView& node) -> Values {
    const bool biased = node.Flag(3, "has_biases", true);
    const std::int64_t layers = node.Int(4, "num_layers", 1);
    const std::int64_t directions = node.Flag(7, "bidirectional", false) ? 2 : 1;
    const std::size_t each = biased ? 4 : 2;
    const std::vector<Value> parameters = node.Tensors(2);
    if (node.overload() != "input") return Unsupported(node, "of packed sequences");
    if (parameters.size() != each * static_cast<std::size_t>(layers * directions))
      return Unsupported(node, "with projected states");
    if (node.Real(5, "dropout", 0) != 0 && node.Flag(6, "train", false) && layers > 1)
      return Unsupported(node, "with dropout");
    const std::vector<Value> given =
        cell == Cell::kLstm ? node.Tensors(1) : std::vector{node.Tensor(1)};
    const bool batch_first = node.Flag(8, "batch_first", false);
    Sequence x{builder.Settled(node.Tensor(0)), batch_first ? std::size_t{1} : std::size_t{0}};
    if (Elements(x.values.shape) == 0) return Unsupported(node, "of an empty tensor");
    std::vector<Value> hidden;
    std::vector<Value> memory;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      std::vector<Value> sides;
      for (std::int64_t side = 0; side < directions; ++side) {
        const std::int64_t index = layer * directions + side;
        const auto begin = parameters.begin() + index * static_cast<std::ptrdiff_t>(each);
        const Weights weights{
            begin[0], begin[1], {begin + 2, begin + static_cast<std::ptrdiff_t>(each)}};
        State start{StateOf(builder, builder.Settled(given[0]), index), {}};
        if (cell == Cell::kLstm) start.memory = StateOf(builder, builder.Settled(given[1]), index);
        const Outcome outcome = Direction(builder, cell, x, weights, start, side == 1);
        sides.push_back(outcome.all);
        hidden.push_back(outcome.last.hidden);
        memory.push_back(outcome.last.memory);
      }
      const Shape& one = sides[0].shape;
      x = {directions == 1 ? sides[0] : Joined(builder, sides, {one[0], one[1], 2 * one[2]}, 2), 0};
    }
    const Value output =
        batch_first ? builder.Mapped(x.values, PermuteMap({1, 0, 2}), node.shape()) : x.values;
    std::vector<Value> results{output, Stacked(builder, hidden)};
    if (cell == Cell::kLstm) results.push_back(Stacked(builder, memory));
    return results;
  };
}

}  // namespace

const LowerTable& RecurrentOperators() {
  static const LowerTable kTable{{"lstm", LowerRecurrent(Cell::kLstm)},
                                 {"gru", LowerRecurrent(Cell::kGru)},
                                 {"rnn_tanh", LowerRecurrent(Cell::kTanh)},
                                 {"rnn_relu", LowerRecurrent(Cell::kRelu)}};
  return kTable;
}

}  // namespace pragma::expert
