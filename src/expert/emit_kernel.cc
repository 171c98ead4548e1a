#include "expert/emit_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "build/tunables.h"
#include "core/task.h"
#include "expert/affine.h"
#include "expert/anchor_kernel.h"
#include "expert/anchored.h"
#include "expert/attention.h"
#include "expert/emit_expression.h"
#include "expert/emit_nest.h"
#include "expert/expression.h"
#include "expert/nest.h"
#include "expert/program.h"
#include "expert/store_through.h"
#include "expert/vector_preamble.h"
#include "expert/writer.h"

namespace pragma {
namespace {

// A name as part of a comment.
std::string OneLine(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\\') c = ' ';
  return text;
}

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

// Names that loops, the preamble and kernel.h use.
bool Reserved(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames{
      "e",     "c",     "u",     "v",     "V",       "i",       "j",     "k",    "l",    "m",
      "n",     "o",     "p",     "r",     "s",       "t",       "u2",    "w",    "y",    "z",
      "first", "begin", "block", "lanes", "vectors", "scratch", "task",  "next", "each", "row",
      "span",  "from",  "to",    "end",   "along",   "tile",    "turned"};
  return kNames.contains(name);
}

// "SOFTMAX" of a nest whose first step is "softmax_fold"; each once.
std::string TunableName(const Nest& nest, std::set<std::string>& taken) {
  std::string name = nest.steps[0].name;
  const std::size_t end = name.rfind('_');  // of what MakeNamesUnique added
  name = InCapitals(end == std::string::npos ? name : name.substr(0, end));
  name.resize(name.find_last_not_of('_') + 1);
  const std::string stem = name;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

// PRAGMA_TUNE(NAME, default, ...) as a constant. `name`: where NAME begins; `comma`: behind it.
std::string Fixed(const std::string& line, std::size_t name, std::size_t comma) {
  const std::size_t value = line.find_first_not_of(' ', comma + 1);
  return fmt::format("{}static constexpr int {} = {};\n",
                     line.substr(0, line.find_first_not_of(' ')), line.substr(name, comma - name),
                     line.substr(value, line.find(',', value) - value));
}

// A source may leave so many constants to the tuner, with so many combinations; those that are over
// keep their defaults.
std::string WithinTuner(const std::string& text) {
  constexpr std::string_view kTune = "PRAGMA_TUNE(";
  std::string kept;
  std::size_t count = 0;
  std::size_t combinations = 1;
  for (const std::string& line : SplitLines(text)) {
    const std::size_t at = line.find(kTune);
    const std::size_t comma = line.find(',', at == std::string::npos ? 0 : at);
    const bool tunes = at != std::string::npos && comma != std::string::npos;
    // NAME, default and the values, of which the default is one.
    const auto values = static_cast<std::size_t>(std::ranges::count(line, ',')) - 1;
    if (tunes && count < kMostTunables && combinations * values <= kMostCombinations) {
      ++count;
      combinations *= values;
    } else if (tunes) {
      kept += Fixed(line, at + kTune.size(), comma);
      continue;
    }
    kept += line + "\n";
  }
  return kept;
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
    // Of an accumulator; the buffer itself has the name of the node.
    step.name += step.kind == Step::Kind::kFold ? "_fold" : "_now";
  }
}

// When a scratch buffer is first and last touched, by nest.
struct Life {
  std::size_t first = SIZE_MAX;
  std::size_t last = 0;
};

std::map<int, Life> Lives(const Program& program, const std::vector<Nest>& nests) {
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
  return lives;
}

struct Layout {
  std::map<int, std::size_t> offset;  // bytes into scratch
  std::size_t bytes = 0;
};

// First fit: a buffer lies where none lies that lives at the same time.
Layout LayOut(const Program& program, const std::map<int, Life>& lives) {
  constexpr std::size_t kAlign = 64;
  Layout layout;
  std::map<int, std::size_t> sizes;
  for (const auto& [buffer, life] : lives) {
    const Buffer& spec = program.buffers[static_cast<std::size_t>(buffer)];
    const std::size_t bytes =
        static_cast<std::size_t>(Elements(spec.shape)) * DTypeSize(spec.dtype);
    sizes[buffer] = (bytes + kAlign - 1) / kAlign * kAlign;
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

std::string ShapeText(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

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

}  // namespace

void Simplify(Program& program) {
  RemoveUnused(program);
  StoreThrough(program);
  FuseAttention(program);
}

std::string EmitKernel(const Task& task, Program program, const KernelTarget& target,
                       const KernelVariant& variant) {
  Simplify(program);
  const std::vector<int> outputs = OutputBuffers(task, program);
  MakeNamesUnique(program);
  const std::vector<Nest> nests = PlanNests(program);
  const Layout layout = LayOut(program, Lives(program, nests));

  NestChoices choices = ChoicesOf(variant, target);
  std::set<std::string> tunables;
  Needs needs;
  std::string functions;
  int anchored = 0;
  std::string anchor_scratch;  // the largest of what anchors need, behind the buffers
  Writer body;
  body.Line(
      fmt::format("extern \"C\" void pragma_kernel({}) {{", Parameters(task, program, outputs)));
  const bool anchors = std::ranges::any_of(nests, &Nest::anchored);
  if (layout.bytes == 0 && !anchors) body.Line("(void)scratch;");
  for (const auto& [buffer, offset] : layout.offset) {
    const Buffer& spec = program.buffers[static_cast<std::size_t>(buffer)];
    const std::string_view type = DTypeCppName(spec.dtype);
    body.Line(fmt::format(
        "{0}* const {1} = reinterpret_cast<{0}*>(static_cast<char*>(scratch) + {2});  // {3}", type,
        spec.name, offset, ShapeText(spec.shape)));
  }
  for (const Nest& nest : nests) {
    body.Line("");
    body.Line("// " + InWords(nest));
    if (!nest.anchored) {
      choices.name = TunableName(nest, tunables);
      EmitNest(program, nest, choices, needs, body);
      continue;
    }
    std::string name = nest.steps[0].name;  // "linear_1_fold"
    name.resize(name.size() - std::string_view("_fold").size());
    name = fmt::format("{}_product{}", name, ++anchored > 1 ? fmt::format("_{}", anchored) : "");
    const AnchorText anchor = EmitAnchor(program, nest, target, name, needs);
    functions += anchor.function + "\n";
    needs.pieces.insert(anchor.pieces.begin(), anchor.pieces.end());
    needs.vectors = true;
    anchor_scratch = anchor_scratch.empty()
                         ? name + "::kScratchBytes"
                         : fmt::format("Larger({}, {}::kScratchBytes)", anchor_scratch, name);
    body.Line(FillIn(anchor.call,
                     {{"scratch", fmt::format("static_cast<char*>(scratch) + {}", layout.bytes)}}));
  }
  body.Line("}");

  std::string text = FirstLines(task, variant) + "#include \"kernel.h\"\n\n";
  if (needs.cmath) text += "#include <cmath>\n";
  text += "#include <cstddef>\n#include <cstdint>\n#include <utility>\n";
  if (!functions.empty())
    text += "#include <omp.h>\n\n#include <algorithm>\n#include <type_traits>\n";
  if (needs.vectors) {
    needs.pieces.insert({VectorPiece::kCore, VectorPiece::kLoops});
    text += VectorPreamble(needs.pieces);
  } else if (!needs.pieces.empty()) {
    text += VectorPreamble(needs.pieces);
  }
  if (!functions.empty()) {
    text += PackingText();
    text += functions;
    text +=
        "static constexpr std::size_t Larger(std::size_t a, std::size_t b) {\n"
        "  return a < b ? b : a;\n}\n";
    text +=
        fmt::format("extern \"C\" constinit const std::size_t pragma_scratch_bytes = {} + {};\n",
                    layout.bytes, anchor_scratch);
  } else if (layout.bytes > 0) {
    text += fmt::format("\nextern \"C\" constinit const std::size_t pragma_scratch_bytes = {};\n",
                        layout.bytes);
  }
  return WithTunables(WithinTuner(text + "\n" + body.text()), variant);
}

}  // namespace pragma
