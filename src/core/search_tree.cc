#include "core/search_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "core/evaluation.h"
#include "core/status.h"
#include "core/trial.h"

namespace pragma {

void SearchTree::Insert(Trial trial) {
  assert(trial.node == next_node() && trial.parent >= 0 && trial.parent < trial.node);
  trials_.push_back(std::move(trial));
}

Trial SearchTree::TakeLast() {
  Trial trial = std::move(trials_.back());
  trials_.pop_back();
  return trial;
}

const Trial* SearchTree::best() const {
  const auto newest_first = trials_ | std::views::reverse;
  const auto found = std::ranges::find_if(newest_first, &Trial::best);
  return found == newest_first.end() ? nullptr : &*found;
}

SearchTree SearchTree::UpTo(int last) const {
  SearchTree tree;
  for (const Trial& trial : trials_ | std::views::take(std::max(last, 0))) tree.Insert(trial);
  return tree;
}

std::vector<int> SearchTree::children(int node) const {
  std::vector<int> result;
  for (const Trial& trial : trials_) {
    if (trial.parent == node) result.push_back(trial.node);
  }
  return result;
}

std::vector<int> SearchTree::PathTo(int node) const {
  std::vector<int> path;
  for (int at_node = node; at_node > 0; at_node = at(at_node).parent) path.push_back(at_node);
  std::ranges::reverse(path);
  return path;
}

std::string SearchTree::Signature() const {
  std::string text;
  for (const Trial& trial : trials_) {
    text += fmt::format("{} {} {} {} {} {}\n", trial.node, trial.parent, RoleName(trial.role),
                        trial.candidate ? trial.candidate->id() : "-",
                        StatusName(trial.evaluation.status), trial.best);
  }
  return Sha256Hex(text);
}

}  // namespace pragma
