// Provider "counts": what exactly one call executes, from the build with a counter in each block.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "build/assembly.h"
#include "build/instruction_mix.h"
#include "build/work_metrics.h"
#include "core/profile.h"
#include "core/task.h"
#include "profile/builds.h"
#include "profile/providers.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

std::vector<std::uint64_t> ReadCounts(const HostReport& report, std::size_t blocks) {
  std::vector<std::uint64_t> counts(blocks, 0);
  for (const std::vector<std::string>& line : report.lines) {
    if (line.size() < 3 || line[0] != "block") continue;
    const std::size_t block = std::strtoull(line[1].c_str(), nullptr, 10);
    if (block < blocks) counts[block] = std::strtoull(line[2].c_str(), nullptr, 10);
  }
  return counts;
}

void AddLines(Workpiece& piece) {
  const Assembly& assembly = piece.builds->assembly;
  for (std::size_t i = 0; i < assembly.blocks.size(); ++i) {
    const auto count = static_cast<double>(piece.block_counts[i]);
    for (std::size_t k = assembly.blocks[i].first; count > 0 && k < assembly.blocks[i].end; ++k)
      piece.lines[assembly.instructions[k].source_line].instructions += count;
  }
}

void AddTaskMetrics(const Task& task, MetricSet& metrics) {
  metrics.Add("compulsory_bytes", static_cast<double>(task.compulsory_bytes), "B", "static");
  if (task.flops <= 0) return;
  metrics.Add("task_flops", task.flops, "1", "static");
  if (task.compulsory_bytes > 0) {
    metrics.Add("arithmetic_intensity", task.flops / static_cast<double>(task.compulsory_bytes),
                "FLOP/B", "static");
  }
}

}  // namespace

Result<ProviderNote> AddCounts(Workpiece& piece) {
  ProviderNote note{.name = "counts", .verdict = "ran", .detail = {}};
  AddTaskMetrics(piece.subject.task(), piece.metrics);
  const HostReport report =
      TRY(RunHost(piece, {.mode = "counts", .object = kCountedObject, .options = {}}));
  if (!report.failure.empty()) {
    note.verdict = "failed";
    note.detail = report.failure;
    return note;
  }
  piece.block_counts = ReadCounts(report, piece.builds->assembly.blocks.size());
  AddLines(piece);
  const Work work = TotalMix(piece.builds->assembly, piece.block_counts);
  for (Metric& metric : WorkMetrics(work)) piece.metrics.Add(std::move(metric));
  return note;
}

}  // namespace pragma
