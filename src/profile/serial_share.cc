#include "profile/serial_share.h"

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

Names ParallelFunctions(const Assembly& assembly) {
  const std::map<std::string, Names> calls = CallsOf(assembly);
  Names found;
  std::vector<std::string> open;
  for (const Block& block : assembly.blocks) {
    if (IsRegionBody(block.function) && found.insert(block.function).second)
      open.push_back(block.function);
  }
  while (!open.empty()) {
    const auto called = calls.find(open.back());
    open.pop_back();
    if (called == calls.end()) continue;
    for (const std::string& name : called->second) {
      if (found.insert(name).second) open.push_back(name);
    }
  }
  return found;
}

}  // namespace

std::optional<double> SerialShare(const Assembly& assembly,
                                  const std::vector<double>& block_samples) {
  const Names parallel = ParallelFunctions(assembly);
  double all = 0;
  double serial = 0;
  for (std::size_t i = 0; i < block_samples.size() && i < assembly.blocks.size(); ++i) {
    all += block_samples[i];
    if (!parallel.contains(assembly.blocks[i].function)) serial += block_samples[i];
  }
  if (parallel.empty() || all <= 0) return std::nullopt;
  return serial / all;
}

}  // namespace pragma
