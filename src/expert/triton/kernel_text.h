// KernelText: one kernel of a module, with how it is launched.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/ir/program.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_fold.h"

namespace pragma::expert::triton {

// What Triton's tuner may choose among.
struct Config {
  std::vector<std::pair<std::string, int>> constants;  // "ROWS": 4
  int warps = 4;
  int stages = 0;  // 0: Triton's own
};

// Of one constant over all of them.
[[nodiscard]] int LargestOf(const std::vector<Config>& configs, std::string_view constant);

// One program for each `block` of `count`: ceil(count / block). No block: `count` programs.
struct GridFactor {
  std::int64_t count = 1;
  std::string block;  // a constant of the configurations
};

// How many there are with one configuration.
[[nodiscard]] std::int64_t Programs(const std::vector<GridFactor>& grid, const Config& config);

struct KernelText {
  std::string name;
  std::string comment;
  std::string body;
  std::set<int> buffers;
  std::vector<Config> configs;
  std::vector<GridFactor> grid;  // their product
  Helpers helpers;
};

// The kernel as a function of the module, and its launch. A launch that has nothing to decide is
// the cheapest for the host, which is what a small kernel is timed by: compiled with the module,
// launched by its own launcher with pointers and a grid of plain numbers. (Seen with Triton 3.6 on
// a GPU: 9.1 us, as an ordinary launch 12.3, with `triton.cdiv` and two keywords 15, through the
// tuner 21.)
[[nodiscard]] std::string Definition(const Program& program, const KernelText& kernel);
[[nodiscard]] std::string Launch(const Program& program, const KernelText& kernel);
// Of what a kernel without a tuner is compiled to, in the module.
[[nodiscard]] std::string BuiltName(const std::string& kernel);

// The smallest power of two that is not less.
[[nodiscard]] std::int64_t PowerOfTwo(std::int64_t count);

}  // namespace pragma::expert::triton
