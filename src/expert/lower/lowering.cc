#include "expert/lower/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/cut_results.h"
#include "expert/lower/lower_loop.h"
#include "expert/lower/lower_node.h"
#include "expert/lower/program_builder.h"
#include "expert/lower/shared_values.h"
#include "expert/lower/unrolled.h"

namespace pragma::expert {
namespace {

using Kind = ScalarValue::Kind;

// "aten.sum.dim_IntList" -> "sum"
std::string BaseName(std::string_view op) {
  if (op.starts_with("aten.")) op.remove_prefix(5);
  return std::string(op.substr(0, op.find('.')));
}

// "_native_batch_norm_legit_functional_1" -> "batch_norm_1". The names of ATen's internal variants
// mean nothing to a reader of the kernel.
std::string PlainName(std::string name) {
  for (const std::string_view word :
       {"native_", "_legit", "_no_training", "_functional", "_with_indices"})
    if (const std::size_t at = name.find(word); at != std::string::npos)
      name.erase(at, word.size());
  const std::size_t first = name.find_first_not_of('_');
  return first == std::string::npos ? name : name.substr(first);
}

const Lower* FindOperator(const std::string& name) {
  static const std::array kTables{
      &PointwiseOperators(), &ShapeOperators(),    &CreationOperators(), &FoldOperators(),
      &NormOperators(),      &WindowOperators(),   &ProductOperators(),  &IndexOperators(),
      &RecurrentOperators(), &ScatterOperators(),  &OrderOperators(),    &IntegerOperators(),
      &BorderOperators(),    &ResampleOperators(), &FourierOperators(),  &MatrixOperators()};
  for (const LowerTable* table : kTables)
    if (const auto found = table->find(name); found != table->end()) return &found->second;
  return nullptr;
}

// Adds the buffers of the kernel's arguments and returns them by name.
std::map<std::string, int> AddArguments(const Task& task, Program& program) {
  std::map<std::string, int> places;
  for (const TensorSpec& tensor : task.arguments) {
    places[tensor.name] = static_cast<int>(program.buffers.size());
    program.buffers.push_back({Buffer::Kind::kArgument, tensor.name, tensor.dtype, tensor.shape});
  }
  return places;
}

Result<void> LowerPlaceholder(const GraphNode& node, const std::map<std::string, int>& places,
                              const ProgramBuilder& builder, ValuesByName& values) {
  if (node.results.empty()) return {};  // a number: torch.export has inserted it where it is used
  const auto place = places.find(node.results.front().name);
  if (place == places.end())
    return Fail(ErrorKind::kTask, "unsupported: the graph's input " + node.name +
                                      " is not an argument of the kernel");
  values[node.name] = {builder.Whole(place->second)};
  return {};
}

bool IsEmpty(const TensorSpec& tensor) { return tensor.elements() == 0; }

// Returns whether the last step that writes this buffer may write the output itself.
bool MayBecomeOutput(const Program& program, const Value& value) {
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(value.expr->load.buffer)];
  return buffer.kind == Buffer::Kind::kScratch;
}

void StoreOutput(ProgramBuilder& builder, const Value& given, const TensorSpec& output) {
  Program& program = builder.program();
  if (IsEmpty(output)) return;
  builder.Begin(output.name, "output");
  const std::size_t before = program.steps.size();
  Value value = builder.Stored(given);
  const bool made = program.steps.size() > before;
  Buffer& buffer = program.buffers[static_cast<std::size_t>(value.expr->load.buffer)];
  if (made || MayBecomeOutput(program, value)) {
    buffer.kind = Buffer::Kind::kOutput;
    buffer.name = output.name;
    return;
  }
  program.buffers.push_back({Buffer::Kind::kOutput, output.name, output.dtype, output.shape});
  builder.StoreInto(value, static_cast<int>(program.buffers.size()) - 1,
                    ContiguousForm(value.dims));
}

Result<void> LowerOutput(const GraphNode& node, const Task& task, ProgramBuilder& builder,
                         const ValuesByName& values) {
  const NodeView view(node, values);
  if (node.args.size() != task.outputs.size())
    return Fail(ErrorKind::kTask, "unsupported: nested outputs");
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    if (!view.IsTensor(i) || !view.Tensor(i).expr)
      return Fail(ErrorKind::kTask, "unsupported: an output is not a tensor");
    StoreOutput(builder, view.Tensor(i), task.outputs[i]);
  }
  return {};
}

// Operands that an earlier operator needed in memory are read from there instead of being computed
// again.
void UseStored(const std::vector<ScalarValue>& args, const ProgramBuilder& builder,
               ValuesByName& values) {
  for (const ScalarValue& arg : args) {
    UseStored(arg.items, builder, values);
    const auto known = values.find(arg.text);
    if (arg.kind != Kind::kNode || known == values.end() || known->second.empty()) continue;
    Value& value = known->second[0];
    if (value.expr) value = builder.Known(value);
  }
}

std::vector<Value> SameEverywhere(const GraphNode& node, double number) {
  std::vector<Value> values;
  for (const TensorSpec& result : node.results)
    values.push_back(ProgramBuilder::Filled(number, result.dtype, result.shape));
  return values;
}

// Returns whether the operator reads a tensor without elements.
bool ReadsEmpty(const std::vector<ScalarValue>& args, const ValuesByName& values) {
  return std::ranges::any_of(args, [&](const ScalarValue& arg) {
    if (arg.kind == Kind::kList) return ReadsEmpty(arg.items, values);
    const auto known = arg.kind == Kind::kNode ? values.find(arg.text) : values.end();
    return known != values.end() && !known->second.empty() && Elements(known->second[0].shape) == 0;
  });
}

// Operators that know what to do with a tensor without elements among others.
bool TakesEmpty(std::string_view op) {
  return op == "aten.cat.default" || op == "aten.addmm.default" || op.starts_with("aten.sum.");
}

// Returns the number that all results of an operator are where it reads no elements: sums of
// nothing are 0, means and variances of nothing are NaN.
std::optional<double> OfNothing(std::string_view name) {
  constexpr auto kSums =
      std::to_array<std::string_view>({"mm", "bmm", "matmul", "dot", "mv", "linalg_vector_norm"});
  constexpr auto kMeans = std::to_array<std::string_view>({"mean", "var", "var_mean"});
  if (std::ranges::find(kSums, name) != kSums.end()) return 0;
  if (std::ranges::find(kMeans, name) != kMeans.end()) return NAN;
  return std::nullopt;
}

// Operators that take complex numbers (lower_fourier.cc).
bool TakesComplex(std::string_view name) {
  return name == "view_as_real" || name == "_fft_c2c" || name == "_fft_c2r";
}

// Fails where an operand is not computed, or is complex and the operator does not know that.
Result<void> CheckOperands(const GraphNode& node, const std::vector<ScalarValue>& args,
                           const ValuesByName& values) {
  for (const ScalarValue& arg : args) {
    TRY(CheckOperands(node, arg.items, values));
    if (arg.kind != Kind::kNode) continue;
    const auto value = values.find(arg.text);
    if (value == values.end() || value->second.empty() || !value->second[0].expr)
      return Fail(ErrorKind::kTask,
                  "unsupported: " + node.op + " of " + arg.text + ", which is not computed");
    if (value->second[0].complex && !TakesComplex(BaseName(node.op)))
      return Fail(ErrorKind::kTask, "unsupported: " + node.op + " of complex numbers");
  }
  return {};
}

void CountUses(const std::vector<ScalarValue>& args, std::map<std::string, int>& uses) {
  for (const ScalarValue& arg : args) {
    CountUses(arg.items, uses);
    if (arg.kind == Kind::kNode) ++uses[arg.text];
  }
}

// Returns by how many operators, or outputs, each value is read.
std::map<std::string, int> UsesByName(const Task& task) {
  std::map<std::string, int> uses;
  for (const GraphNode& node : task.graph) CountUses(node.args, uses);
  return uses;
}

// Removes a loop that has to stay unrolled from `loops`, and fails.
Result<Program> LowerGraph(const Task& task, const LowerPolicy& policy,
                           std::vector<UnrolledLoop>& loops) {
  Program program;
  const std::map<std::string, int> places = AddArguments(task, program);
  ProgramBuilder builder(program, policy);
  ValuesByName values;
  const std::set<std::string> cut = CutProducts(task);
  const std::map<std::string, int> uses = UsesByName(task);
  const auto stores = [&](const GraphNode& node) {
    if (cut.contains(node.name)) return true;
    const auto found = uses.find(node.name);
    const bool shared = found != uses.end() && found->second > 1;
    if (!shared || values[node.name].size() != 1) return false;
    return StoresShared(values[node.name][0], program, policy);
  };
  auto loop = loops.begin();
  for (std::size_t n = 0; n < task.graph.size(); ++n) {
    const GraphNode& node = task.graph[n];
    if (loop != loops.end() && n == loop->first) {
      if (const Result<void> rolled = LowerLoop(*loop, task.graph, builder, values); !rolled) {
        loops.erase(loop);
        return std::unexpected(rolled.error());
      }
      n = loop->end() - 1;
      ++loop;
    } else if (node.op == "placeholder") {
      TRY(LowerPlaceholder(node, places, builder, values));
    } else if (node.op == "output") {
      TRY(LowerOutput(node, task, builder, values));
    } else {
      TRY(LowerNode(node, builder, values));
      if (stores(node)) values[node.name] = {builder.Stored(values[node.name][0])};
    }
  }
  return program;
}

}  // namespace

Result<void> LowerNode(const GraphNode& node, ProgramBuilder& builder, ValuesByName& values) {
  const NodeView view(node, values);
  if (node.op == "getitem") {
    const std::vector<Value>& several = values[node.args[0].text];
    const auto item = static_cast<std::size_t>(view.Int(1, "", 0));
    if (item >= several.size())
      return Fail(ErrorKind::kTask,
                  fmt::format("unsupported: result {} of {}", item, node.args[0].text));
    values[node.name] = {several[item]};
    return {};
  }
  const Lower* lower = FindOperator(BaseName(node.op));
  if (lower == nullptr)
    return Fail(ErrorKind::kTask, "unsupported: the expert has no kernel for the operator " +
                                      node.op + " (a language model may: --model)");
  TRY(CheckOperands(node, node.args, values));
  if (!node.results.empty() && std::ranges::all_of(node.results, IsEmpty)) {
    values[node.name] = SameEverywhere(node, 0);  // no element is computed
    return {};
  }
  if (ReadsEmpty(node.args, values) && !TakesEmpty(node.op)) {
    const std::optional<double> number = OfNothing(BaseName(node.op));
    if (!number) return Unsupported(view, "of an empty tensor");
    values[node.name] = SameEverywhere(node, *number);
    return {};
  }
  UseStored(node.args, builder, values);
  builder.Begin(PlainName(node.name), PlainName(BaseName(node.op)));
  values[node.name] = TRY((*lower)(builder, view));
  return {};
}

const ScalarValue* NodeView::Find(std::size_t place, std::string_view name) const {
  if (place < node_.args.size()) return &node_.args[place];
  for (const NamedValue& keyword : node_.kwargs)
    if (keyword.name == name) return &keyword.value;
  return nullptr;
}

bool NodeView::Has(std::size_t place, std::string_view name) const {
  const ScalarValue* value = Find(place, name);
  return value != nullptr && value->kind != Kind::kNone;
}

bool NodeView::IsTensor(std::size_t place) const {
  const ScalarValue* value = Find(place, "");
  return value != nullptr && value->kind == Kind::kNode && values_.contains(value->text);
}

Value NodeView::Tensor(std::size_t place) const { return values_.at(node_.args[place].text)[0]; }

std::vector<Value> NodeView::Tensors(std::size_t place) const {
  std::vector<Value> tensors;
  for (const ScalarValue& item : node_.args[place].items)
    if (item.kind == Kind::kNode) tensors.push_back(values_.at(item.text)[0]);
  return tensors;
}

Value NodeView::Operand(std::size_t place) const {
  if (IsTensor(place)) return Tensor(place);
  const ScalarValue& value = node_.args[place];
  const DType dtype = value.kind == Kind::kFloat  ? DType::kFloat64
                      : value.kind == Kind::kBool ? DType::kBool
                                                  : DType::kInt64;
  return ProgramBuilder::Number(NumberOf(value), dtype);
}

std::int64_t NodeView::Int(std::size_t place, std::string_view name, std::int64_t otherwise) const {
  return Has(place, name) ? static_cast<std::int64_t>(NumberOf(*Find(place, name))) : otherwise;
}

double NodeView::Real(std::size_t place, std::string_view name, double otherwise) const {
  return Has(place, name) ? NumberOf(*Find(place, name)) : otherwise;
}

bool NodeView::Flag(std::size_t place, std::string_view name, bool otherwise) const {
  return Has(place, name) ? NumberOf(*Find(place, name)) != 0 : otherwise;
}

std::vector<std::int64_t> NodeView::Ints(std::size_t place, std::string_view name) const {
  std::vector<std::int64_t> result;
  const ScalarValue* value = Find(place, name);
  if (value == nullptr) return result;
  if (value->kind != Kind::kList && value->kind != Kind::kNone)
    return {static_cast<std::int64_t>(NumberOf(*value))};
  for (const ScalarValue& item : value->items)
    result.push_back(static_cast<std::int64_t>(NumberOf(item)));
  return result;
}

std::vector<std::int64_t> NodeView::Ints(std::size_t place, std::string_view name,
                                         std::size_t count, std::int64_t otherwise) const {
  std::vector<std::int64_t> given = Ints(place, name);
  if (given.size() > 1) return given;
  return std::vector<std::int64_t>(count, given.empty() ? otherwise : given.front());
}

std::string NodeView::Text(std::size_t place, std::string_view name) const {
  return Has(place, name) ? Find(place, name)->text : "";
}

std::size_t NodeView::Dimension(std::size_t place, std::string_view name, std::size_t rank,
                                std::int64_t otherwise) const {
  const std::int64_t dimension = Int(place, name, otherwise);
  const auto size = static_cast<std::int64_t>(rank);
  return static_cast<std::size_t>(dimension < 0 ? dimension + std::max<std::int64_t>(size, 1)
                                                : dimension);
}

DType NodeView::dtype(std::size_t result) const { return node_.results.at(result).dtype; }
const Shape& NodeView::shape(std::size_t result) const { return node_.results.at(result).shape; }

std::string_view NodeView::overload() const {
  const std::string_view op = node_.op;
  return op.substr(op.rfind('.') + 1);
}

std::unexpected<Error> Unsupported(const NodeView& node, std::string_view why) {
  return Fail(ErrorKind::kTask, fmt::format("unsupported: {}: {}", node.node().op, why));
}

double NumberOf(const ScalarValue& value) {
  return value.kind == Kind::kFloat ? value.real : static_cast<double>(value.integer);
}

Result<Program> LowerTask(const Task& task, const LowerPolicy& policy) {
  if (task.graph.empty())
    return Fail(ErrorKind::kTask, "unsupported: no graph of the module: " + task.export_error);
  if (!task.dims.empty())
    return Fail(ErrorKind::kTask, "unsupported: the expert writes kernels for one shape");
  std::vector<UnrolledLoop> loops;
  if (policy.loops) loops = FindLoops(task.graph);
  for (std::size_t left = loops.size();; left = loops.size()) {
    Result<Program> program = LowerGraph(task, policy, loops);
    if (program || loops.size() == left) return program;
  }
}

}  // namespace pragma::expert
