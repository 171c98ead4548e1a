// Finds natural loops by dominators. A part of a function that is never reached (a landing pad, the
// target of an unknown jump) is a tree of its own. Edges from there into code that was seen before
// are ignored, so that they do not hide the loops of that code.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "build/assembly.h"

namespace pragma {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Flow: the control flow of one function, with its blocks numbered in reverse postorder.
struct Flow {
  std::vector<std::size_t> block;                      // maps a number to its block
  std::vector<std::vector<std::size_t>> predecessors;  // numbers
  std::vector<std::size_t> dominator;                  // immediate dominator; kNone: an entry
};

// Appends the blocks reached from `root`, in reverse postorder.
void Visit(const Assembly& assembly, std::size_t root, std::vector<bool>& seen,
           std::vector<std::size_t>& order) {
  struct Frame {
    std::size_t block;
    std::size_t next = 0;
  };
  std::vector<Frame> stack{{root}};
  const std::size_t begin = order.size();
  seen[root] = true;
  while (!stack.empty()) {
    const std::size_t block = stack.back().block;
    const auto& successors = assembly.blocks[block].successors;
    if (stack.back().next == successors.size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::size_t next = successors[stack.back().next++];
    if (seen[next]) continue;
    seen[next] = true;
    stack.push_back({next});
  }
  std::reverse(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end());
}

// Marks: `seen` and `number` have an element for each block of the assembly.
struct Marks {
  std::vector<bool> seen;
  std::vector<std::size_t> number;
};

Flow MakeFlow(const Assembly& assembly, const std::vector<std::size_t>& blocks, Marks& marks) {
  Flow flow;
  std::vector<std::size_t> tree;  // maps a number to the number of its root
  for (const std::size_t root : blocks) {
    if (marks.seen[root]) continue;
    const std::size_t begin = flow.block.size();
    Visit(assembly, root, marks.seen, flow.block);
    tree.resize(flow.block.size(), begin);
  }
  for (std::size_t i = 0; i < flow.block.size(); ++i) marks.number[flow.block[i]] = i;
  flow.predecessors.resize(flow.block.size());
  for (std::size_t i = 0; i < flow.block.size(); ++i) {
    for (const std::size_t next : assembly.blocks[flow.block[i]].successors) {
      const std::size_t target = marks.number[next];
      if (tree[target] == tree[i]) flow.predecessors[target].push_back(i);
    }
  }
  return flow;
}

std::size_t CommonDominator(const Flow& flow, std::size_t a, std::size_t b) {
  while (a != b) {
    while (a > b) a = flow.dominator[a];
    while (b > a) b = flow.dominator[b];
  }
  return a;
}

// Finds dominators by the iteration of Cooper, Harvey and Kennedy.
void FindDominators(Flow& flow) {
  const std::size_t count = flow.block.size();
  flow.dominator.assign(count, kNone);
  std::vector<bool> entry(count);
  for (std::size_t i = 0; i < count; ++i) {
    entry[i] = std::ranges::none_of(flow.predecessors[i], [i](std::size_t p) { return p < i; });
    if (entry[i]) flow.dominator[i] = i;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (entry[i]) continue;
      std::size_t best = kNone;
      for (const std::size_t p : flow.predecessors[i]) {
        if (flow.dominator[p] == kNone) continue;
        best = best == kNone ? p : CommonDominator(flow, p, best);
      }
      changed = changed || best != flow.dominator[i];
      flow.dominator[i] = best;
    }
  }
}

bool Dominates(const Flow& flow, std::size_t above, std::size_t below) {
  while (below > above && flow.dominator[below] != below) below = flow.dominator[below];
  return below == above;
}

// Returns all blocks from which `latches` are reached without passing the header.
std::vector<std::size_t> Body(const Flow& flow, std::size_t header,
                              std::vector<std::size_t> latches) {
  std::vector<bool> inside(flow.block.size());
  inside[header] = true;
  std::vector<std::size_t> body{flow.block[header]};
  while (!latches.empty()) {
    const std::size_t at = latches.back();
    latches.pop_back();
    if (inside[at]) continue;
    inside[at] = true;
    body.push_back(flow.block[at]);
    latches.insert(latches.end(), flow.predecessors[at].begin(), flow.predecessors[at].end());
  }
  std::ranges::sort(body);
  return body;
}

void AddLoops(const Assembly& assembly, const Flow& flow, std::vector<Loop>& loops) {
  for (std::size_t i = 0; i < flow.block.size(); ++i) {
    std::vector<std::size_t> latches;
    for (const std::size_t p : flow.predecessors[i]) {
      if (p >= i && Dominates(flow, i, p)) latches.push_back(p);
    }
    if (latches.empty()) continue;
    Loop loop;
    loop.function = assembly.blocks[flow.block[i]].function;
    loop.header = flow.block[i];
    loop.blocks = Body(flow, i, std::move(latches));
    loops.push_back(std::move(loop));
  }
}

// Sets depth and nesting. A loop's depth is that of its header. A loop that has no deeper block
// contains no other loop.
void FindNesting(std::size_t blocks, std::vector<Loop>& loops) {
  std::vector<int> depth(blocks);
  for (const Loop& loop : loops) {
    for (const std::size_t block : loop.blocks) ++depth[block];
  }
  for (Loop& loop : loops) {
    loop.depth = depth[loop.header];
    loop.innermost = std::ranges::all_of(
        loop.blocks, [&](std::size_t block) { return depth[block] <= loop.depth; });
  }
}

}  // namespace

std::vector<Loop> FindLoops(const Assembly& assembly) {
  std::map<std::string, std::vector<std::size_t>> functions;
  for (std::size_t i = 0; i < assembly.blocks.size(); ++i) {
    functions[assembly.blocks[i].function].push_back(i);
  }
  Marks marks;
  marks.seen.resize(assembly.blocks.size());
  marks.number.resize(assembly.blocks.size());
  std::vector<Loop> loops;
  for (auto& [name, blocks] : functions) {
    std::ranges::stable_partition(
        blocks, [&](std::size_t block) { return assembly.blocks[block].label == name; });
    Flow flow = MakeFlow(assembly, blocks, marks);
    FindDominators(flow);
    AddLoops(assembly, flow, loops);
  }
  FindNesting(assembly.blocks.size(), loops);
  return loops;
}

}  // namespace pragma
