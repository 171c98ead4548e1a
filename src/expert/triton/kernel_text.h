// KernelText: one kernel of a module, and how it is launched.
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
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {

// One configuration among which Triton's tuner may choose.
struct Config {
  std::vector<std::pair<std::string, int>> constants;  // name and value, such as "ROWS": 4
  int warps = 4;
  int stages = 0;  // 0: Triton's own default
};

// Returns the largest value of one constant over all configurations.
[[nodiscard]] int LargestOf(const std::vector<Config>& configs, std::string_view constant);

// A factor of the grid: one program for each `block` of `count`, so ceil(count / block) programs.
// If `block` is empty, there are `count` programs.
struct GridFactor {
  std::int64_t count = 1;
  std::string block;  // a constant of the configurations
};

// Returns the number of programs of a grid with one configuration.
[[nodiscard]] std::int64_t Programs(const std::vector<GridFactor>& grid, const Config& config);

struct KernelText {
  std::string name;
  std::string comment;
  std::string body;
  std::set<int> buffers;
  std::vector<Config> configs;
  std::vector<GridFactor> grid;  // the number of programs is the product of these factors
  Helpers helpers;
  // The first configuration is the best by measurements of this kind of kernel, so the others need
  // not be tried.
  bool measured = false;
  bool persistent = false;    // it has PROGRAMS programs at most, each of which takes several tiles
  bool multiplies = false;    // it has a product on tensor cores
  bool attends = false;       // it is an attention in one kernel
  bool uses_library = false;  // it calls libdevice
  // It is a launch of an earlier kernel with these arguments (shared_kernels.h).
  bool shared = false;
  std::vector<int> arguments;
};

// Adds the buffers that values were loaded from and stored to, and the libraries that they need.
void AddUses(const TileValues& values, KernelText& kernel);

// Returns whether Triton's tuner chooses among several configurations.
[[nodiscard]] bool IsTuned(const KernelText& kernel);

// Definition returns the kernel as a function of the module, and Launch returns its launch. A
// launch that has nothing to decide is the cheapest for the host, and the launch dominates the time
// of a small kernel. Such a kernel is compiled when the module is loaded, and its own launcher
// starts it with pointers and a grid of plain numbers. (Measured with Triton 3.6 on a GPU: 9.1 us;
// as an ordinary launch 12.3 us; with `triton.cdiv` and two keywords 15 us; through the tuner 21
// us.)
[[nodiscard]] std::string Definition(const Program& program, const KernelText& kernel);
[[nodiscard]] std::string Launch(const Program& program, const KernelText& kernel);
// Returns the name, in the module, of the compiled form of a kernel that has no tuner.
[[nodiscard]] std::string BuiltName(const std::string& kernel);

// Returns the smallest power of two that is not less than `count`.
[[nodiscard]] std::int64_t PowerOfTwo(std::int64_t count);

}  // namespace pragma::expert::triton
