#include "expert/triton/kernel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "expert/ir/program.h"
#include "expert/triton/operators.h"
#include "expert/triton/py_lines.h"

namespace pragma::expert::triton {
namespace {

constexpr int kUsualWarps = 4;  // Triton's default

std::string ConfigText(const Config& config) {
  std::vector<std::string> constants;
  for (const auto& [name, value] : config.constants)
    constants.push_back(fmt::format("\"{}\": {}", name, value));
  std::string text =
      fmt::format("triton.Config({{{}}}, num_warps={}", Join(constants, ", "), config.warps);
  if (config.stages > 0) text += fmt::format(", num_stages={}", config.stages);
  return text + ")";
}

std::vector<std::string> BufferNames(const Program& program, const KernelText& kernel) {
  std::vector<int> buffers = kernel.arguments;
  if (!kernel.shared) buffers.assign(kernel.buffers.begin(), kernel.buffers.end());
  std::vector<std::string> names;
  for (const int buffer : buffers)
    names.push_back(program.buffers[static_cast<std::size_t>(buffer)].name);
  return names;
}

// Returns the code that compiles a kernel when the module is loaded, from the types alone. Its own
// launcher takes half the host time of a launch that inspects the arguments of each call.
std::string Built(const Program& program, const KernelText& kernel) {
  std::vector<std::string> arguments;
  for (const int buffer : kernel.buffers)
    arguments.push_back(TorchType(program.buffers[static_cast<std::size_t>(buffer)].dtype));
  const Config& only = kernel.configs.front();
  arguments.emplace_back("grid=(1,)");
  if (only.warps != kUsualWarps) arguments.push_back(fmt::format("num_warps={}", only.warps));
  if (only.stages > 0) arguments.push_back(fmt::format("num_stages={}", only.stages));
  return fmt::format("{} = {}.warmup({})\n", BuiltName(kernel.name), kernel.name,
                     Join(arguments, ", "));
}

std::string TunedGrid(const KernelText& kernel) {
  std::vector<std::string> factors;
  for (const GridFactor& factor : kernel.grid)
    factors.push_back(factor.block.empty()
                          ? std::to_string(factor.count)
                          : fmt::format("-(-{} // meta[\"{}\"])", factor.count, factor.block));
  std::string programs = Join(factors, " * ");
  return kernel.persistent ? fmt::format("min(meta[\"PROGRAMS\"], {})", programs) : programs;
}

}  // namespace

void AddUses(const TileValues& values, KernelText& kernel) {
  kernel.buffers.insert(values.buffers().begin(), values.buffers().end());
  kernel.uses_library = kernel.uses_library || values.uses_library();
  kernel.helpers.insert(values.helpers().begin(), values.helpers().end());
}

bool IsTuned(const KernelText& kernel) { return kernel.configs.size() > 1; }

std::int64_t PowerOfTwo(std::int64_t count) {
  std::int64_t power = 1;
  while (power < count) power *= 2;
  return power;
}

int LargestOf(const std::vector<Config>& configs, std::string_view constant) {
  int largest = 1;
  for (const Config& config : configs)
    for (const auto& [name, value] : config.constants)
      if (name == constant) largest = std::max(largest, value);
  return largest;
}

std::int64_t Programs(const std::vector<GridFactor>& grid, const Config& config) {
  std::int64_t programs = 1;
  for (const GridFactor& factor : grid) {
    const std::int64_t block = factor.block.empty() ? 1 : LargestOf({config}, factor.block);
    programs *= (factor.count + block - 1) / block;
  }
  return programs;
}

std::string BuiltName(const std::string& kernel) { return kernel + "_built"; }

std::string Definition(const Program& program, const KernelText& kernel) {
  PyLines out;
  if (IsTuned(kernel)) {
    out.Open("@triton.autotune(");
    out.Open("configs=[");
    for (const Config& config : kernel.configs) out.Line(ConfigText(config) + ",");
    out.Close();
    out.Line("],");
    out.Line("key=[],");
    out.Close();
    out.Line(")");
  }
  out.Line("@triton.jit");
  std::vector<std::string> parameters = BufferNames(program, kernel);
  if (IsTuned(kernel))
    for (const auto& [name, value] : kernel.configs.front().constants)
      parameters.push_back(name + ": tl.constexpr");
  out.Line(fmt::format("def {}({}):", kernel.name, Join(parameters, ", ")));
  if (!kernel.comment.empty()) out.Line("    # " + kernel.comment);
  if (IsTuned(kernel)) return out.text() + kernel.body;
  for (const auto& [name, value] : kernel.configs.front().constants)
    out.Line(fmt::format("    {}: tl.constexpr = {}", name, value));
  return out.text() + kernel.body + "\n\n" + Built(program, kernel);
}

std::string Launch(const Program& program, const KernelText& kernel) {
  std::vector<std::string> arguments = BufferNames(program, kernel);
  if (IsTuned(kernel))
    return fmt::format("{}[lambda meta: ({},)]({})", kernel.name, TunedGrid(kernel),
                       Join(arguments, ", "));
  const Config& only = kernel.configs.front();
  std::int64_t programs = Programs(kernel.grid, only);
  if (kernel.persistent) programs = std::min<std::int64_t>(programs, LargestOf({only}, "PROGRAMS"));
  return fmt::format("{}[({}, 1, 1)]({})", BuiltName(kernel.name), programs, Join(arguments, ", "));
}

}  // namespace pragma::expert::triton
