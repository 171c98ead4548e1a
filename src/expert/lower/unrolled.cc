#include "expert/lower/unrolled.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"

namespace pragma::expert {
namespace {

using Kind = ScalarValue::Kind;

constexpr std::size_t kFewestTurns = 8;
constexpr std::size_t kLongestBody = 1000;  // nodes
constexpr int kMostTries = 1000;            // of stretches that repeat, but are no loop

// The arguments of an operator that may advance from iteration to iteration: [first, last].
struct IndexArguments {
  std::size_t first;
  std::size_t last;
};

std::optional<IndexArguments> IndicesOf(std::string_view op) {
  if (op == "getitem") return IndexArguments{1, 1};
  if (op == "aten.select.int") return IndexArguments{2, 2};
  if (op == "aten.slice.Tensor") return IndexArguments{2, 3};
  if (op == "aten.select_scatter.default") return IndexArguments{3, 3};
  return std::nullopt;
}

bool MayAdvance(const GraphNode& node, std::size_t argument) {
  const std::optional<IndexArguments> indices = IndicesOf(node.op);
  return indices && argument >= indices->first && argument <= indices->last &&
         node.args[argument].kind == Kind::kInt;
}

// Appends what two nodes must share to be the same node of two iterations: everything but names.
void Describe(const ScalarValue& value, std::string& text) {
  text += fmt::format("{}:{}:{}:", static_cast<int>(value.kind), value.integer, value.real);
  if (value.kind == Kind::kString) text += value.text;
  for (const ScalarValue& item : value.items) Describe(item, text);
  text += ";";
}

std::string Described(const GraphNode& node) {
  std::string text = node.op + "(";
  for (std::size_t i = 0; i < node.args.size(); ++i)
    MayAdvance(node, i) ? text += "i;" : (Describe(node.args[i], text), text);
  for (const NamedValue& keyword : node.kwargs) {
    text += keyword.name + "=";
    Describe(keyword.value, text);
  }
  for (const TensorSpec& result : node.results)
    text += fmt::format(")->{}[{}]", static_cast<int>(result.dtype), fmt::join(result.shape, ","));
  return text;
}

// Numbers nodes so that those with the same description have the same number.
std::vector<int> Numbered(const std::vector<GraphNode>& graph) {
  std::map<std::string, int> known;
  std::vector<int> numbers;
  for (const GraphNode& node : graph) {
    const auto next = static_cast<int>(known.size());
    numbers.push_back(known.emplace(Described(node), next).first->second);
  }
  return numbers;
}

// Changes the names that a node refers to, in the order of VisitReferences.
void Rename(ScalarValue& value, const std::function<std::string()>& next) {
  if (value.kind == Kind::kNode) value.text = next();
  for (ScalarValue& item : value.items) Rename(item, next);
}

// Stretch: `turns` times `period` nodes from `first` on, of which each iteration has the same
// operators. It is a loop if its references fit.
class Stretch final {
 public:
  Stretch(const std::vector<GraphNode>& graph, const std::map<std::string, std::size_t>& places,
          std::size_t first, std::size_t period, std::size_t turns)
      : graph_(graph), places_(places), first_(first), period_(period), turns_(turns) {}

  std::optional<UnrolledLoop> Loop() {
    loop_.first = first_;
    loop_.count = static_cast<std::int64_t>(turns_);
    for (std::size_t node = 0; node < period_; ++node)
      if (!AddNode(node)) return std::nullopt;
    if (!IsRecurrent()) return std::nullopt;
    return std::move(loop_);
  }

 private:
  using Names = std::vector<std::string>;  // what one reference is in each iteration

  [[nodiscard]] const GraphNode& At(std::size_t node, std::size_t turn) const {
    return graph_[first_ + turn * period_ + node];
  }

  bool AddNode(std::size_t node) {
    if (!Advance(node)) return false;
    std::vector<Names> references(turns_);  // by iteration
    for (std::size_t turn = 0; turn < turns_; ++turn)
      VisitReferences(At(node, turn),
                      [&](const std::string& name) { references[turn].push_back(name); });
    Names renamed;
    for (std::size_t r = 0; r < references[0].size(); ++r) {
      Names names;
      for (const Names& turn : references) names.push_back(turn[r]);
      std::optional<std::string> name = NameOf(names);
      if (!name) return false;
      renamed.push_back(std::move(*name));
    }
    GraphNode body = At(node, 0);
    auto next = renamed.begin();
    for (ScalarValue& arg : body.args) Rename(arg, [&] { return *next++; });
    for (NamedValue& keyword : body.kwargs) Rename(keyword.value, [&] { return *next++; });
    loop_.body.push_back(std::move(body));
    return true;
  }

  // Returns whether an iteration needs the one before for anything that its own states depend on. A
  // value that is only handed on to the next iteration is there because the stretch begins in the
  // middle of one.
  [[nodiscard]] bool IsRecurrent() const {
    std::map<std::string, std::set<std::string>> needs;  // node or state -> states
    for (const LoopState& state : loop_.states) needs[state.name] = {state.name};
    for (const GraphNode& node : loop_.body)
      VisitReferences(node, [&](const std::string& name) {
        const std::set<std::string> of = needs[name];
        needs[node.name].insert(of.begin(), of.end());
      });
    std::set<std::string> recurrent;
    for (const LoopState& state : loop_.states) recurrent.insert(state.name);
    for (std::size_t before = SIZE_MAX; before != recurrent.size();) {
      before = recurrent.size();
      for (const LoopState& state : loop_.states)
        if (std::ranges::none_of(needs[loop_.body[state.node].name],
                                 [&](const std::string& name) { return recurrent.contains(name); }))
          recurrent.erase(state.name);
    }
    return !recurrent.empty();
  }

  // Returns false where an index neither stays nor advances by the same number each time. A
  // negative index counts from the end, so the indices may not pass from there to the front.
  bool Advance(std::size_t node) {
    for (std::size_t a = 0; a < At(node, 0).args.size(); ++a) {
      if (!MayAdvance(At(node, 0), a)) continue;
      const std::int64_t start = At(node, 0).args[a].integer;
      const std::int64_t step = At(node, 1).args[a].integer - start;
      for (std::size_t turn = 0; turn < turns_; ++turn) {
        const std::int64_t index = At(node, turn).args[a].integer;
        if (index - start != step * static_cast<std::int64_t>(turn)) return false;
        if ((index < 0) != (start < 0)) return false;
      }
      if (step != 0) loop_.advancing.insert(node);
    }
    return true;
  }

  // Returns the place of a node within iteration `turn`, if it belongs to that.
  [[nodiscard]] std::optional<std::size_t> Inside(const std::string& name, std::size_t turn) const {
    const std::size_t place = places_.at(name);
    const std::size_t begin = first_ + turn * period_;
    if (place < begin || place >= begin + period_) return std::nullopt;
    return place - begin;
  }
  [[nodiscard]] bool IsBefore(const std::string& name) const { return places_.at(name) < first_; }

  // Returns the node of the body that all names are, each `back` iterations before the one that
  // reads it.
  [[nodiscard]] std::optional<std::size_t> CommonNode(const Names& names, std::size_t back) const {
    const std::optional<std::size_t> node = Inside(names[back], 0);
    for (std::size_t turn = back; node && turn < turns_; ++turn)
      if (Inside(names[turn], turn - back) != node) return std::nullopt;
    return node;
  }

  std::optional<std::string> NameOf(const Names& names) {
    if (CommonNode(names, 0)) return names[0];
    const bool first_before = IsBefore(names[0]);
    if (const std::optional<std::size_t> node = CommonNode(names, 1); node && first_before)
      return StateFrom(*node, names[0]);
    if (!std::ranges::all_of(names, [&](const std::string& name) { return IsBefore(name); }))
      return std::nullopt;
    if (std::ranges::all_of(names, [&](const std::string& name) { return name == names[0]; })) {
      loop_.invariant.insert(names[0]);
      return names[0];
    }
    // Different weights in each iteration are layers, not time steps.
    if (graph_[places_.at(names[0])].op == "placeholder") return std::nullopt;
    loop_.inputs.push_back({fmt::format("input.{}", loop_.inputs.size()), names});
    return loop_.inputs.back().name;
  }

  std::optional<std::string> StateFrom(std::size_t node, const std::string& initial) {
    for (const LoopState& state : loop_.states)
      if (state.node == node && state.initial == initial) return state.name;
    const std::vector<TensorSpec>& results = At(node, 0).results;
    const std::vector<TensorSpec>& before = graph_[places_.at(initial)].results;
    if (results.size() != 1 || before.size() != 1 || results[0].shape != before[0].shape ||
        results[0].dtype != before[0].dtype)
      return std::nullopt;
    loop_.states.push_back({fmt::format("state.{}", loop_.states.size()), initial, node});
    return loop_.states.back().name;
  }

  const std::vector<GraphNode>& graph_;
  const std::map<std::string, std::size_t>& places_;
  std::size_t first_;
  std::size_t period_;
  std::size_t turns_;
  UnrolledLoop loop_;
};

// Finds the states that are results of the whole loop: `out[:, t] = y`. torch.export writes this as
// a selected part, a copy over it, and the whole with that part.
void FindWritten(UnrolledLoop& loop) {
  for (LoopState& state : loop.states) {
    const GraphNode& next = loop.body[state.node];
    if (next.op != "aten.select_scatter.default" || next.args[0].text != state.name ||
        !loop.advancing.contains(state.node))
      continue;
    std::set<std::size_t> parts;
    bool only_written = true;
    for (std::size_t node = 0; node < loop.body.size(); ++node) {
      if (node == state.node || !ReferencesOf(loop.body[node]).contains(state.name)) continue;
      parts.insert(node);
      only_written =
          only_written && loop.body[node].op == "aten.select.int" &&
          std::ranges::all_of(loop.body, [&](const GraphNode& user) {
            return !ReferencesOf(user).contains(loop.body[node].name) ||
                   (user.op == "aten.copy.default" && user.args[1].text != loop.body[node].name);
          });
    }
    if (!only_written) continue;
    state.written = true;
    loop.overwritten.merge(parts);
  }
}

// Returns how many times the `period` nodes from `first` on follow each other.
std::size_t TurnsFrom(const std::vector<int>& numbers, std::size_t first, std::size_t period) {
  std::size_t same = 0;
  while (first + same + period < numbers.size() &&
         numbers[first + same] == numbers[first + same + period])
    ++same;
  return 1 + same / period;
}

}  // namespace

std::set<std::string> ReferencesOf(const GraphNode& node) {
  std::set<std::string> names;
  VisitReferences(node, [&](const std::string& name) { names.insert(name); });
  return names;
}

bool UnrolledLoop::IsWritten(std::size_t node) const {
  return std::ranges::any_of(
      states, [node](const LoopState& state) { return state.written && state.node == node; });
}

std::vector<UnrolledLoop> FindLoops(const std::vector<GraphNode>& graph) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < graph.size(); ++i) places[graph[i].name] = i;
  const std::vector<int> numbers = Numbered(graph);
  std::vector<UnrolledLoop> loops;
  int tries = 0;
  for (std::size_t first = 0; first < graph.size(); ++first) {
    const std::size_t longest = std::min(kLongestBody, (graph.size() - first) / kFewestTurns);
    for (std::size_t period = 1; period <= longest && tries < kMostTries; ++period) {
      const std::size_t turns = TurnsFrom(numbers, first, period);
      if (turns < kFewestTurns) continue;
      ++tries;
      std::optional<UnrolledLoop> loop = Stretch(graph, places, first, period, turns).Loop();
      // The first iteration may read something else, such as an initial state of another form.
      if (!loop && turns > kFewestTurns)
        loop = Stretch(graph, places, first + period, period, turns - 1).Loop();
      if (!loop) continue;
      FindWritten(*loop);
      first = loop->end() - 1;
      loops.push_back(std::move(*loop));
      break;
    }
  }
  return loops;
}

GraphNode NodeOfTurn(const UnrolledLoop& loop, const std::vector<GraphNode>& graph,
                     std::size_t node, std::int64_t turn) {
  GraphNode at = loop.body[node];
  const GraphNode& own =
      graph[loop.first + static_cast<std::size_t>(turn) * loop.body.size() + node];
  for (std::size_t a = 0; a < at.args.size(); ++a)
    if (MayAdvance(at, a)) at.args[a].integer = own.args[a].integer;
  return at;
}

}  // namespace pragma::expert
