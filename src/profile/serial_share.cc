#include "profile/serial_share.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "build/assembly.h"

namespace pragma {
namespace {

using Names = std::set<std::string, std::less<>>;

// The names that g++ and clang++ give to the body of a region.
bool IsRegionBody(std::string_view function) {
  return function.contains("._omp_fn.") || function.contains(".omp_outlined");
}

std::map<std::string, Names> CallsOf(const Assembly& assembly) {
  std::map<std::string, Names> calls;
  for (const Block& block : assembly.blocks) {
    for (std::size_t i = block.first; i < block.end; ++i) {
      const Instruction& instruction = assembly.instructions[i];
      if (IsCallOrTailCall(instruction)) calls[block.function].insert(CalledName(instruction));
    }
  }
  return calls;
}

// Adds the functions that those in `from` call, and so on.
Names Reached(const std::map<std::string, Names>& calls, Names from) {
  std::vector<std::string> open(from.begin(), from.end());
  while (!open.empty()) {
    const auto called = calls.find(open.back());
    open.pop_back();
    if (called == calls.end()) continue;
    for (const std::string& name : called->second) {
      if (from.insert(name).second) open.push_back(name);
    }
  }
  return from;
}

Names RegionBodies(const Assembly& assembly) {
  Names found;
  for (const Block& block : assembly.blocks) {
    if (IsRegionBody(block.function)) found.insert(block.function);
  }
  return found;
}

bool TouchesMemoryByLibrary(const Names& functions) {
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"memset", "memcpy", "memmove", "calloc"},
      [&](std::string_view name) { return functions.contains(name); });
}

}  // namespace

std::optional<double> SerialShare(const Assembly& assembly,
                                  const std::vector<double>& block_samples,
                                  double library_samples) {
  const std::map<std::string, Names> calls = CallsOf(assembly);
  const Names parallel = Reached(calls, RegionBodies(assembly));
  const Names from_entry = Reached(calls, {"pragma_kernel"});
  double all = library_samples;
  double serial = TouchesMemoryByLibrary(parallel) ? 0 : library_samples;
  for (std::size_t i = 0; i < block_samples.size() && i < assembly.blocks.size(); ++i) {
    const std::string& function = assembly.blocks[i].function;
    all += block_samples[i];
    if (from_entry.contains(function) && !parallel.contains(function)) serial += block_samples[i];
  }
  if (parallel.empty() || all <= 0) return std::nullopt;
  return serial / all;
}

}  // namespace pragma
