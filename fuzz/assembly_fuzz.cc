// layers: build
// The candidate shapes the compiler's assembly, including its inline assembly. Whatever the
// assembly contains, three things must hold. Blocks cover each instruction once, edges stay inside,
// and instrumentation only adds lines.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "build/assembly.h"
#include "build/block_counters.h"
#include "build/instruction_mix.h"
#include "build/trace_calls.h"
#include "build/work_metrics.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckBlocks(const pragma::Assembly& assembly) {
  std::size_t next = 0;
  for (const pragma::Block& block : assembly.blocks) {
    Require(block.first == next && block.end > block.first);
    next = block.end;
    for (const std::size_t successor : block.successors) {
      Require(successor < assembly.blocks.size());
      Require(assembly.blocks[successor].function == block.function);
    }
  }
  Require(next == assembly.instructions.size());
  for (const pragma::Instruction& instruction : assembly.instructions) {
    Require(instruction.text_line < assembly.lines.size() && instruction.source_line >= 0);
  }
  for (const pragma::Loop& loop : pragma::FindLoops(assembly)) {
    Require(!loop.blocks.empty() && loop.depth > 0 && loop.header < assembly.blocks.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const pragma::Assembly assembly = pragma::ParseAssembly(text);
  CheckBlocks(assembly);
  // Splitting is idempotent: the statements stay the same when they are split again.
  std::string again;
  for (const std::string& line : assembly.lines) again += line + "\n";
  Require(pragma::ParseAssembly(again).lines == assembly.lines);
  const std::vector<std::uint64_t> counts(assembly.blocks.size(), 3);
  for (const pragma::Metric& metric : pragma::WorkMetrics(pragma::TotalMix(assembly, counts))) {
    Require(metric.value >= 0);
  }
  Require(pragma::InsertBlockCounters(assembly).size() > again.size());
  const pragma::PlacedAssembly placed = pragma::InsertPlaces(assembly);
  Require(placed.places.size() >= assembly.blocks.size());
  const pragma::TraceProgram program = pragma::InsertTraceCalls(assembly);
  for (const pragma::TraceSite& site : program.sites) {
    Require(site.instruction < assembly.instructions.size() && site.bytes > 0 && site.bytes <= 64);
  }
  return 0;
}
