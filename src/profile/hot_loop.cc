// Provider "mca": the hottest innermost loop, as measured and as predicted by llvm-mca.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "build/assembly.h"
#include "core/profile.h"
#include "profile/mca.h"
#include "profile/providers.h"
#include "profile/tool_runner.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

constexpr double kLeastShare = 0.2;

double Weight(const Workpiece& piece, std::size_t block) {
  if (piece.samples > 0) return piece.block_samples[block];
  const Block& code = piece.builds->assembly.blocks[block];
  return static_cast<double>(piece.block_counts[block]) *
         static_cast<double>(code.end - code.first);
}

double Weight(const Workpiece& piece, const Loop& loop) {
  double weight = 0;
  for (const std::size_t block : loop.blocks) weight += Weight(piece, block);
  return weight;
}

std::string Text(const Instruction& instruction) {
  std::string text = instruction.prefix.empty() ? "" : instruction.prefix + " ";
  text += instruction.mnemonic;
  return instruction.operands.empty() ? text : text + " " + Join(instruction.operands, ", ");
}

LoopBody BodyOf(const Workpiece& piece, const Loop& loop) {
  const Assembly& assembly = piece.builds->assembly;
  const Block& block = assembly.blocks[loop.header];
  LoopBody body{.instructions = {},
                .iterations = static_cast<double>(piece.block_counts[loop.header]),
                .source_line = block.source_lines.empty() ? 0 : block.source_lines.front()};
  if (!block.label.empty()) body.instructions.push_back(block.label + ":");
  for (std::size_t i = block.first; i < block.end; ++i)
    body.instructions.push_back(Text(assembly.instructions[i]));
  return body;
}

// Adds the loop's share of the samples, and the cycles of one iteration according to the clock.
void AddMeasured(Workpiece& piece, const Loop& loop) {
  const double share = piece.samples > 0 ? Weight(piece, loop) / piece.samples : 0;
  if (share <= 0) return;
  piece.metrics.Add("hot_loop_share", share, "1", "sampled");
  const double cycles = piece.metrics.Get("cycles").value_or(0);
  const auto iterations = static_cast<double>(piece.block_counts[loop.header]);
  if (cycles > 0 && iterations > 0)
    piece.metrics.Add("loop_cycles", share * cycles / iterations, "1", "estimated");
}

}  // namespace

const Loop* HottestLoop(const std::vector<Loop>& loops, const Workpiece& piece) {
  const Loop* hottest = nullptr;
  for (const Loop& loop : loops) {
    if (!loop.innermost || piece.block_counts[loop.header] == 0) continue;
    if (hottest == nullptr || Weight(piece, loop) > Weight(piece, *hottest)) hottest = &loop;
  }
  return hottest;
}

Result<ProviderNote> AddHotLoop(Workpiece& piece) {
  ProviderNote note{.name = "mca", .verdict = "skipped", .detail = {}};
  const std::vector<Loop> loops = FindLoops(piece.builds->assembly);
  const Loop* loop = HottestLoop(loops, piece);
  if (loop == nullptr) {
    note.detail = "the kernel has no innermost loop that runs";
    return note;
  }
  AddMeasured(piece, *loop);
  if (piece.metrics.Get("hot_loop_share").value_or(1) < kLeastShare) {
    note.detail = "no loop takes a fifth of the time";
    return note;
  }
  if (loop->blocks.size() > 1) {
    note.detail = "the hottest loop has several blocks, of which llvm-mca would see one";
    return note;
  }
  McaOutcome outcome = TRY(RunMca(JailedTools(piece.subject.jail), BodyOf(piece, *loop)));
  for (Metric& metric : outcome.metrics) piece.metrics.Add(std::move(metric));
  const auto predicted = piece.metrics.Get("mca_cycles_per_iteration");
  const auto measured = piece.metrics.Get("loop_cycles");
  if (predicted && measured && *predicted > 0)
    piece.metrics.Add("measured_over_mca", *measured / *predicted, "1", "estimated");
  outcome.note.name = "mca";
  if (!outcome.text.empty())
    outcome.note.detail += (outcome.note.detail.empty() ? "" : "; ") + outcome.text;
  return std::move(outcome.note);
}

}  // namespace pragma
