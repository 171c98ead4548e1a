#include "expert/lower/cut_results.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "core/task.h"

namespace pragma::expert {
namespace {

bool IsOneOf(std::string_view op, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [op](std::string_view name) {
    return op.starts_with("aten.") && op.substr(5).starts_with(name) &&
           op.substr(5 + name.size()).starts_with(".");
  });
}

constexpr std::array<std::string_view, 4> kProducts{"linear", "addmm", "baddbmm", "mm"};
constexpr std::array<std::string_view, 8> kCuts{
    "slice", "split", "split_with_sizes", "select", "permute", "transpose", "unbind", "chunk"};
constexpr std::array<std::string_view, 5> kViews{"view", "reshape", "_unsafe_view", "squeeze",
                                                 "unsqueeze"};

}  // namespace

std::set<std::string> CutProducts(const Task& task) {
  std::set<std::string> cut;  // nodes that some view takes apart, products among them
  std::set<std::string> products;
  for (const GraphNode& node : task.graph | std::views::reverse) {
    if (IsOneOf(node.op, kProducts) && cut.contains(node.name)) products.insert(node.name);
    if (node.args.empty() || node.args[0].kind != ScalarValue::Kind::kNode) continue;
    if (IsOneOf(node.op, kCuts) || (IsOneOf(node.op, kViews) && cut.contains(node.name)))
      cut.insert(node.args[0].text);
  }
  return products;
}

}  // namespace pragma::expert
