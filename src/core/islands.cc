#include "core/islands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"

namespace pragma {
namespace {

using Names = std::set<std::string, std::less<>>;

// Operators that move no data in Torch, or only move it. An island of nothing else gains nothing.
constexpr auto kRearranges = std::to_array<std::string_view>(
    {"view",       "reshape",          "permute",      "transpose",       "t",
     "expand",     "squeeze",          "unsqueeze",    "slice",           "select",
     "alias",      "detach",           "clone",        "getitem",         "unbind",
     "split",      "split_with_sizes", "_unsafe_view", "unflatten",       "flatten",
     "contiguous", "lift_fresh_copy",  "chunk",        "view_as_complex", "view_as_real"});

// "aten.sum.dim_IntList" -> "sum"
std::string_view PlainName(std::string_view op) {
  if (op.starts_with("aten.")) op.remove_prefix(5);
  return op.substr(0, op.find('.'));
}

bool Computes(const GraphNode& node) {
  return std::ranges::find(kRearranges, PlainName(node.op)) == kRearranges.end();
}

bool IsOperator(const GraphNode& node) { return node.op != "placeholder" && node.op != "output"; }

void AddRead(const ScalarValue& value, std::vector<std::string>& read) {
  if (value.kind == ScalarValue::Kind::kNode) read.push_back(value.text);
  for (const ScalarValue& item : value.items) AddRead(item, read);
}

// Returns the names of the nodes that a node reads.
std::vector<std::string> Read(const GraphNode& node) {
  std::vector<std::string> read;
  for (const ScalarValue& arg : node.args) AddRead(arg, read);
  if (node.op != "output")  // there the keywords are updates of buffers
    for (const NamedValue& keyword : node.kwargs) AddRead(keyword.value, read);
  return read;
}

// Returns the operators that depend on no argument of the task.
Names Constants(const Task& task) {
  Names constants;
  for (const GraphNode& node : task.graph) {
    const std::vector<std::string> read = Read(node);
    const auto constant = [&](const std::string& name) { return constants.contains(name); };
    if (IsOperator(node) && std::ranges::all_of(read, constant)) constants.insert(node.name);
  }
  return constants;
}

// A set of units, as bits.
class UnitSet {
 public:
  explicit UnitSet(std::size_t size = 0) : words_((size + 63) / 64) {}
  void Add(std::size_t unit) { words_[unit / 64] |= std::uint64_t{1} << (unit % 64); }
  void Add(const UnitSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  // Returns whether something is in all of `a` and `b` but not in this set.
  [[nodiscard]] bool LacksCommon(const UnitSet& a, const UnitSet& b) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if ((a.words_[i] & b.words_[i] & ~words_[i]) != 0) return true;
    return false;
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Unit: an operator together with the operators that only take its result apart, or read its
// complex numbers, which cannot cross a border.
struct Unit {
  std::vector<const GraphNode*> nodes;
  std::vector<std::size_t> reads;  // units
  bool constant = false;           // depends on no argument of the task
  bool writable = false;
};

bool Computes(const Unit& unit) {
  return std::ranges::any_of(unit.nodes, [](const GraphNode* node) { return Computes(*node); });
}

// A growing island.
struct Group {
  std::vector<std::size_t> units;  // in execution order
  UnitSet inside, before, after;   // before and after: all that any of them depends on, or feeds
};

class Partitioner {
 public:
  Partitioner(const Task& task, const CanWrite& can_write) : task_(task), can_write_(can_write) {}

  Partition Run() {
    MakeUnits();
    for (Unit& unit : units_) unit.writable = Writable({NamesOf({&unit})});
    Connect();
    Grow();
    Partition found;
    for (const Group& group : groups_) AddWritable(WithConstants(group.units), found.islands);
    Finish(found);
    return found;
  }

 private:
  void MakeUnits();
  void Connect();
  void Grow();
  void Join(std::size_t unit, std::vector<std::size_t>& group_of);
  [[nodiscard]] Group GroupOf(std::size_t unit) const;
  [[nodiscard]] std::vector<std::size_t> WithConstants(const std::vector<std::size_t>& units) const;
  void AddWritable(const std::vector<std::size_t>& units, std::vector<Island>& islands) const;
  void Finish(Partition& found) const;
  [[nodiscard]] std::vector<std::string> NamesOf(const std::vector<const Unit*>& units) const;
  [[nodiscard]] Island IslandOf(const std::vector<std::size_t>& units) const;
  [[nodiscard]] bool Writable(const Island& island) const {
    const Task cut = CutTask(task_, island);
    return !cut.graph.empty() && can_write_(cut);
  }

  const Task& task_;
  const CanWrite& can_write_;
  std::vector<Unit> units_;
  std::vector<UnitSet> before_, after_;
  std::vector<Group> groups_;
};

void Partitioner::MakeUnits() {
  const Names constants = Constants(task_);
  std::map<std::string, std::size_t, std::less<>> unit_of;
  Names complex;  // operators whose result has a type that kernels do not know
  for (const GraphNode& node : task_.graph) {
    if (!IsOperator(node)) continue;
    if (node.results.empty()) complex.insert(node.name);
    const std::vector<std::string> read = Read(node);
    const auto first = read.empty() ? unit_of.end() : unit_of.find(read.front());
    const bool joins = node.op == "getitem" || (read.size() == 1 && complex.contains(read.front()));
    if (joins && first != unit_of.end()) {
      units_[first->second].nodes.push_back(&node);
      unit_of[node.name] = first->second;
      continue;
    }
    Unit& unit = units_.emplace_back();
    unit.nodes.push_back(&node);
    unit.constant = constants.contains(node.name);
    for (const std::string& name : read)
      if (const auto source = unit_of.find(name); source != unit_of.end())
        unit.reads.push_back(source->second);
    unit_of[node.name] = units_.size() - 1;
  }
}

void Partitioner::Connect() {
  before_.assign(units_.size(), UnitSet(units_.size()));
  after_ = before_;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (const std::size_t source : units_[i].reads) {
      before_[i].Add(source);
      before_[i].Add(before_[source]);
    }
  }
  for (std::size_t i = units_.size(); i-- > 0;) {
    for (const std::size_t source : units_[i].reads) {
      after_[source].Add(i);
      after_[source].Add(after_[i]);
    }
  }
}

Group Partitioner::GroupOf(std::size_t unit) const {
  Group group{{unit}, UnitSet(units_.size()), before_[unit], after_[unit]};
  group.inside.Add(unit);
  return group;
}

// Puts each writable unit into one group with those that it reads, where the result is convex.
void Partitioner::Grow() {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> group_of(units_.size(), kNone);
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (!units_[unit].writable || units_[unit].constant) continue;
    group_of[unit] = groups_.size();
    groups_.push_back(GroupOf(unit));
    Join(unit, group_of);
  }
  std::erase_if(groups_, [](const Group& group) { return group.units.empty(); });
}

void Partitioner::Join(std::size_t unit, std::vector<std::size_t>& group_of) {
  const std::size_t mine = group_of[unit];
  for (const std::size_t source : units_[unit].reads) {
    const std::size_t other = group_of[source];
    if (!units_[source].writable || units_[source].constant || other == mine) continue;
    Group joined = groups_[mine];
    const Group& added = groups_[other];
    joined.inside.Add(added.inside);
    joined.before.Add(added.before);
    joined.after.Add(added.after);
    if (joined.inside.LacksCommon(joined.before, joined.after)) continue;  // not convex
    joined.units.insert(joined.units.end(), added.units.begin(), added.units.end());
    std::ranges::sort(joined.units);
    for (const std::size_t moved : added.units) group_of[moved] = mine;
    groups_[mine] = std::move(joined);
    groups_[other].units.clear();
  }
}

// Adds the constant units that these read, and those that they read in turn.
std::vector<std::size_t> Partitioner::WithConstants(const std::vector<std::size_t>& units) const {
  std::set<std::size_t> all(units.begin(), units.end());
  std::vector<std::size_t> open = units;
  while (!open.empty()) {
    const std::size_t unit = open.back();
    open.pop_back();
    for (const std::size_t source : units_[unit].reads) {
      const bool wanted = units_[source].constant && units_[source].writable;
      if (wanted && all.insert(source).second) open.push_back(source);
    }
  }
  return {all.begin(), all.end()};
}

// The first half of a convex set in execution order is convex, and so is the second.
void Partitioner::AddWritable(const std::vector<std::size_t>& units,
                              std::vector<Island>& islands) const {
  const bool computes = std::ranges::any_of(
      units, [&](std::size_t unit) { return !units_[unit].constant && Computes(units_[unit]); });
  if (!computes) return;
  Island island = IslandOf(units);
  if (Writable(island)) {
    islands.push_back(std::move(island));
    return;
  }
  std::vector<std::size_t> own;
  std::ranges::copy_if(units, std::back_inserter(own),
                       [&](std::size_t unit) { return !units_[unit].constant; });
  if (own.size() < 2) return;
  const auto middle = own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
  AddWritable(WithConstants({own.begin(), middle}), islands);
  AddWritable(WithConstants({middle, own.end()}), islands);
}

void Partitioner::Finish(Partition& found) const {
  Names written;
  for (const Island& island : found.islands)
    written.insert(island.nodes.begin(), island.nodes.end());
  bool all = true;
  for (const Unit& unit : units_) {
    if (written.contains(unit.nodes.front()->name)) continue;
    all = false;
    if (unit.constant) continue;
    for (const GraphNode* node : unit.nodes)
      if (Computes(*node) && std::ranges::find(found.left, node->op) == found.left.end())
        found.left.push_back(node->op);
  }
  found.whole = all && found.islands.size() == 1;
}

std::vector<std::string> Partitioner::NamesOf(const std::vector<const Unit*>& units) const {
  std::vector<std::string> names;
  for (const Unit* unit : units)
    for (const GraphNode* node : unit->nodes) names.push_back(node->name);
  return names;
}

Island Partitioner::IslandOf(const std::vector<std::size_t>& units) const {
  std::vector<const Unit*> chosen;
  for (const std::size_t unit : units) chosen.push_back(&units_[unit]);
  Island island;
  const std::vector<std::string> names = NamesOf(chosen);
  const Names inside(names.begin(), names.end());
  for (const GraphNode& node : task_.graph)
    if (inside.contains(node.name)) island.nodes.push_back(node.name);
  return island;
}

// What crosses an island's border.
struct Border {
  Names read;  // by the island
  // Written by the island and read outside. Whatever reads a constant outside computes it again.
  Names written;
};

Border BorderOf(const Task& task, const Names& inside) {
  const Names constants = Constants(task);
  Border border;
  for (const GraphNode& node : task.graph) {
    const bool in = inside.contains(node.name);
    for (const std::string& name : Read(node)) {
      if (in && !inside.contains(name)) border.read.insert(name);
      if (!in && inside.contains(name) && !constants.contains(name)) border.written.insert(name);
    }
  }
  return border;
}

GraphNode Placeholder(const GraphNode& node) {
  GraphNode placeholder{.name = node.name,
                        .op = "placeholder",
                        .args = {},
                        .kwargs = {},
                        .results = node.results,
                        .strides = node.strides};
  placeholder.results.front().name = node.name;
  return placeholder;
}

TensorSpec Argument(const GraphNode& node) {
  TensorSpec argument = node.results.front();
  if (node.op != "placeholder") argument.role = TensorRole::kInput;
  argument.name = node.name;
  return argument;
}

}  // namespace

Task CutTask(const Task& task, const Island& island) {
  const Names inside(island.nodes.begin(), island.nodes.end());
  const Border border = BorderOf(task, inside);
  Task cut{.name = task.name, .output_kind = border.written.size() == 1 ? "tensor" : "tuple"};
  GraphNode output{
      .name = "output", .op = "output", .args = {}, .kwargs = {}, .results = {}, .strides = {}};
  for (const GraphNode& node : task.graph) {
    const bool in = inside.contains(node.name);
    if (in) cut.graph.push_back(node);
    if (in ? !border.written.contains(node.name) : !border.read.contains(node.name)) continue;
    // A number among forward's arguments is a placeholder without a result.
    if (node.results.size() != 1 && !(node.op == "placeholder" && node.results.empty())) return {};
    if (node.results.empty()) continue;
    if (in) {
      cut.outputs.push_back(node.results.front());
      output.args.push_back({.kind = ScalarValue::Kind::kNode, .text = node.name});
    } else {
      cut.arguments.push_back(Argument(node));
      cut.graph.push_back(Placeholder(node));
    }
  }
  cut.graph.push_back(std::move(output));
  return cut;
}

Partition FindIslands(const Task& task, const CanWrite& can_write) {
  return Partitioner(task, can_write).Run();
}

}  // namespace pragma
