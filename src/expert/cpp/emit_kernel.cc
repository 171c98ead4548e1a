#include "expert/cpp/emit_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/emit_nest.h"
#include "expert/cpp/kernel_body.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/cpp/writer.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/spelling.h"
#include "expert/plan/attention.h"
#include "expert/plan/choices.h"
#include "expert/plan/nest.h"
#include "expert/plan/plan_nests.h"
#include "expert/plan/slices.h"
#include "expert/plan/store_through.h"
#include "expert/plan/tuning.h"

namespace pragma::expert {

void Simplify(Program& program) {
  RemoveUnused(program);
  StoreThrough(program);
  FuseAttention(program);
}

namespace {

std::string FirstLines(const Task& task, const KernelVariant& variant) {
  std::string text =
      "// pragma-flags: -O3 -march=native -fopenmp -fno-math-errno -fno-trapping-math";
  if (variant.Get("unroll") == 1) text += " -funroll-loops";
  text += "\n";
  if (variant.Get("compiler") == 1) text += "// pragma-compiler: clang++\n";
  text += VariantLine(variant);
  return text + fmt::format("// {}: written by pragma's built-in expert.\n", OneLine(task.name));
}

NestChoices ChoicesOf(const KernelVariant& variant, const KernelTarget& target) {
  NestChoices choices;
  choices.threads = variant.Get("threads") == 1;
  choices.schedule = variant.Get("schedule") == 1 ? "dynamic" : "static";
  constexpr std::int64_t kNever = INT64_MAX;
  const std::int64_t past_caches = target.shared_cache_bytes / 2;
  const int stream = variant.Get("stream");
  choices.stream_bytes = stream == 1 ? kNever : stream == 2 ? 0 : past_caches;
  choices.threads_count = target.threads;
  choices.private_cache_bytes = target.private_cache_bytes;
  choices.shared_cache_bytes = target.shared_cache_bytes;
  return choices;
}

// Returns whether loops, the preamble or kernel.h use a name.
bool Reserved(const std::string& name) {
  if (name.starts_with("panels_of_")) return true;  // kernel_body.cc
  static const std::set<std::string, std::less<>> kNames{
      "V",    "c",     "e",     "i",      "j",      "k",     "l",       "m",     "n",
      "o",    "p",     "r",     "s",      "t",      "to",    "u",       "u2",    "v",
      "w",    "y",     "z",     "along",  "begin",  "block", "each",    "end",   "first",
      "from", "image", "lanes", "next",   "own",    "row",   "scratch", "share", "span",
      "task", "tile",  "turn",  "turned", "vectors"};
  return kNames.contains(name);
}

void MakeNamesUnique(Program& program) {
  std::set<std::string> taken;
  for (Buffer& buffer : program.buffers) {
    std::string name = Reserved(buffer.name) ? buffer.name + "_" : buffer.name;
    const std::string stem = name;
    for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
    buffer.name = name;
  }
  for (Step& step : program.steps) {
    if (Reserved(step.name)) step.name += "_";
    // The name of an accumulator. The buffer itself has the name of the node.
    step.name += step.kind == Step::Kind::kFold ? "_fold" : "_now";
  }
}

// The lifetime of a scratch buffer: the first and the last nest that use it.
struct Life {
  std::size_t first = SIZE_MAX;
  std::size_t last = 0;
};

// Extends lifetimes: a buffer shared by nests that run in turn for each slice must live through all
// of them.
void LastThroughSlices(const Slices& slices, std::map<int, Life>& lives) {
  for (auto& [buffer, life] : lives) {
    if (slices.inside.contains(buffer) || life.last < slices.first || life.first > slices.last)
      continue;
    life.first = std::min(life.first, slices.first);
    life.last = std::max(life.last, slices.last);
  }
}

std::map<int, Life> Lives(const Program& program, const std::vector<Nest>& nests,
                          const std::vector<Slices>& sliced) {
  std::map<int, Life> lives;
  for (std::size_t n = 0; n < nests.size(); ++n) {
    const auto touch = [&](int buffer) {
      const Buffer& touched = program.buffers[static_cast<std::size_t>(buffer)];
      if (touched.kind != Buffer::Kind::kScratch || nests[n].forwarded.contains(buffer)) return;
      Life& life = lives[buffer];
      life.first = std::min(life.first, n);
      life.last = std::max(life.last, n);
    };
    for (const Step& step : nests[n].steps) {
      touch(step.buffer);
      VisitLoads(step.expr, [&](const Load& load, ExprType) { touch(load.buffer); });
    }
  }
  for (const Slices& slices : sliced) LastThroughSlices(slices, lives);
  return lives;
}

struct Layout {
  std::map<int, std::size_t> offset;  // offset in the scratch memory, in bytes
  std::size_t bytes = 0;
};

// First fit, the largest first: places each buffer where no buffer with an overlapping lifetime is
// located.
Layout LayOut(const Program& program, const std::map<int, Life>& lives) {
  constexpr std::size_t kAlign = 64;
  Layout layout;
  std::map<int, std::size_t> sizes;
  std::vector<int> order;
  for (const auto& [buffer, life] : lives) {
    const Buffer& spec = program.buffers[static_cast<std::size_t>(buffer)];
    const std::size_t bytes =
        static_cast<std::size_t>(Elements(spec.shape)) * DTypeSize(spec.dtype);
    sizes[buffer] = (bytes + kAlign - 1) / kAlign * kAlign;
    order.push_back(buffer);
  }
  std::ranges::stable_sort(order, std::greater{}, [&](int buffer) { return sizes[buffer]; });
  for (const int buffer : order) {
    const Life& life = lives.at(buffer);
    std::size_t place = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& [other, at] : layout.offset) {
        const Life& theirs = lives.at(other);
        const bool together = life.first <= theirs.last && theirs.first <= life.last;
        if (!together || place >= at + sizes[other] || at >= place + sizes[buffer]) continue;
        place = at + sizes[other];
        moved = true;
      }
    }
    layout.offset[buffer] = place;
    layout.bytes = std::max(layout.bytes, place + sizes[buffer]);
  }
  return layout;
}

// Takes out the buffers of which each thread has its own.
std::map<int, Life> TakeInside(const Slices& slices, std::map<int, Life>& lives) {
  std::map<int, Life> inside;
  for (const int buffer : slices.inside)
    if (auto life = lives.extract(buffer)) inside.insert(std::move(life));
  return inside;
}

// Lays out all buffers. The memory of threads lies behind that of the others.
Layout LayOutAll(const Program& program, std::map<int, Life> lives, std::vector<Slices>& sliced,
                 int threads) {
  std::size_t most = 0;
  for (Slices& slices : sliced) {
    if (!slices.by_thread) continue;
    Layout own = LayOut(program, TakeInside(slices, lives));
    slices.place = std::move(own.offset);
    slices.thread_bytes = own.bytes;
    most = std::max(most, own.bytes * static_cast<std::size_t>(threads));
  }
  Layout layout = LayOut(program, lives);
  for (Slices& slices : sliced) slices.base = layout.bytes;
  layout.bytes += most;
  return layout;
}

std::string Parameters(const Task& task, const Program& program, const std::vector<int>& outputs) {
  std::string text;
  for (std::size_t i = 0; i < task.arguments.size(); ++i)
    text += fmt::format("const {}* __restrict {}, ", DTypeCppName(program.buffers[i].dtype),
                        program.buffers[i].name);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = outputs[i] < 0
                                 ? fmt::format("unused_{}", i)
                                 : program.buffers[static_cast<std::size_t>(outputs[i])].name;
    text += fmt::format("{}* __restrict {}, ", DTypeCppName(task.outputs[i].dtype), name);
  }
  return text + "void* scratch";
}

std::string Preamble(Needs needs, bool anchors) {
  std::string text = "#include \"kernel.h\"\n\n";
  if (needs.cmath) text += "#include <cmath>\n";
  text += "#include <cstddef>\n#include <cstdint>\n#include <utility>\n";
  if (anchors) text += "#include <omp.h>\n\n#include <algorithm>\n#include <type_traits>\n";
  if (needs.routines) text += "#include <array>\n#include <bit>\n";
  if (needs.vectors) needs.pieces.insert({VectorPiece::kCore, VectorPiece::kLoops});
  if (!needs.pieces.empty()) text += VectorPreamble(needs.pieces);
  if (needs.packing) text += PackingText();
  return text;
}

std::string ScratchSize(std::size_t buffers_bytes, const std::string& anchors) {
  constexpr std::string_view kDeclaration =
      "extern \"C\" constinit const std::size_t pragma_scratch_bytes";
  if (!anchors.empty())
    return fmt::format(
        "static constexpr std::size_t Larger(std::size_t a, std::size_t b) {{\n"
        "  return a < b ? b : a;\n}}\n{} = {} + {};\n",
        kDeclaration, buffers_bytes, anchors);
  return buffers_bytes > 0 ? fmt::format("\n{} = {};\n", kDeclaration, buffers_bytes) : "";
}

// A program with all that is decided before its text is written.
struct Planned {
  Program program;
  std::vector<int> outputs;
  std::vector<Nest> nests;
  std::vector<Slices> sliced;
  Layout layout;
};

Planned PlanOf(const Task& task, Program program, const KernelTarget& target) {
  Planned planned;
  Simplify(program);
  planned.outputs = OutputBuffers(task, program);
  MakeNamesUnique(program);
  planned.nests = PlanNests(program);
  planned.sliced = MakeSlices(program, planned.nests, target);
  planned.layout = LayOutAll(program, Lives(program, planned.nests, planned.sliced), planned.sliced,
                             target.threads);
  planned.program = std::move(program);
  return planned;
}

void DeclareScratch(const Planned& planned, bool anchors, Writer& body) {
  if (planned.layout.bytes == 0 && !anchors) body.Line("(void)scratch;");
  for (const auto& [buffer, offset] : planned.layout.offset)
    body.Line(BufferAt(planned.program.buffers[static_cast<std::size_t>(buffer)],
                       "static_cast<char*>(scratch)", offset));
}

struct Emitted {
  std::string source;
  CppFacts facts;
};

Emitted TextOf(const Task& task, const Planned& planned, const KernelTarget& target,
               const KernelVariant& variant, const Tuning& tuning) {
  Writer body;
  body.Line(fmt::format("extern \"C\" void pragma_kernel({}) {{",
                        Parameters(task, planned.program, planned.outputs)));
  const bool anchors = std::ranges::any_of(planned.nests, &Nest::anchored);
  DeclareScratch(planned, anchors, body);
  NestChoices choices = ChoicesOf(variant, target);
  choices.tuning = tuning;
  KernelBody written(planned.program, target, choices, planned.layout.bytes, body);
  written.Write(planned.nests, planned.sliced);
  body.Line("}");
  const Needs needs = written.needs();
  return {FirstLines(task, variant) + Preamble(needs, anchors) + written.functions() +
              ScratchSize(planned.layout.bytes, written.anchor_scratch()) + "\n" + body.text(),
          needs.facts};
}

}  // namespace

WrittenKernel EmitKernel(const Task& task, Program program, const KernelTarget& target,
                         const KernelVariant& variant) {
  const Planned planned = PlanOf(task, std::move(program), target);
  Emitted emitted = TextOf(task, planned, target, variant, {});
  // Which numbers the tuner takes is known once all have been declared. Where it takes fewer, or
  // the variant has other defaults, the text is written again.
  const Tuning tuning = WithinTuner(emitted.facts.tunables, variant);
  if (tuning != Tuning{}) emitted = TextOf(task, planned, target, variant, tuning);
  return {std::move(emitted.source), OpenInCpp(variant, emitted.facts)};
}

}  // namespace pragma::expert
