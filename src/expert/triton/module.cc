#include "expert/triton/module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/candidate.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/program.h"
#include "expert/ir/spelling.h"
#include "expert/plan/attention.h"
#include "expert/plan/choices.h"
#include "expert/plan/nest.h"
#include "expert/plan/plan_nests.h"
#include "expert/plan/store_through.h"
#include "expert/triton/attention_configs.h"
#include "expert/triton/attention_kernel.h"
#include "expert/triton/contraction_kernel.h"
#include "expert/triton/depthwise_convolution.h"
#include "expert/triton/even_operands.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/nest_kernel.h"
#include "expert/triton/nest_layout.h"
#include "expert/triton/operators.h"
#include "expert/triton/packed_convolution.h"
#include "expert/triton/packed_product.h"
#include "expert/triton/shared_kernels.h"
#include "expert/triton/split_folds.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert {
namespace triton {
namespace {

constexpr std::size_t kManyKernels = 8;  // from this number on, each kernel is tuned among fewer
                                         // configurations

// Returns whether a name is a Python keyword, a Python function that a candidate may call, or a
// name that our modules define.
bool IsTaken(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames{
      "False",       "None",      "True",      "and",        "as",           "assert",
      "async",       "await",     "break",     "class",      "continue",     "def",
      "del",         "elif",      "else",      "except",     "finally",      "for",
      "from",        "global",    "if",        "import",     "in",           "is",
      "lambda",      "nonlocal",  "not",       "or",         "pass",         "raise",
      "return",      "try",       "while",     "with",       "yield",        "abs",
      "bool",        "divmod",    "enumerate", "float",      "int",          "len",
      "list",        "max",       "min",       "range",      "round",        "str",
      "sum",         "tuple",     "zip",       "any",        "all",          "isinstance",
      "triton",      "tl",        "torch",     "libdevice",  "run",          "meta",
      "device",      "row",       "column",    "tap",        "at",           "inside",
      "start",       "m",         "n",         "k",          "batch",        "tile",
      "total",       "first",     "begin",     "end",        "row_inside",   "column_inside",
      "part",        "tf32",      "high",      "low",        "left_high",    "left_low",
      "right_high",  "right_low", "left",      "right",      "program",      "left_block",
      "right_block", "key",       "value",     "key_blocks", "value_blocks", "largest",
      "larger",      "weight",    "result",    "scale",      "whole",        "seen",
      "finite",      "score",     "product",   "c"};
  return kNames.contains(name);
}

// The values of the choice "tune" (plan/choices.cc).
enum Tune : int { kWhatIsNotMeasured, kNothing, kAll };

// Limits the configurations: to the measured one, on a card as that which was measured, and where
// there are many kernels, since compiling each of them takes time.
void LimitTuning(std::vector<KernelText>& kernels, int tune, const KernelTarget& target) {
  const bool known = target.block_shared_bytes >= kMeasuredSharedBytes;
  const auto written = static_cast<std::size_t>(
      std::ranges::count_if(kernels, [](const KernelText& kernel) { return !kernel.shared; }));
  const std::size_t most = tune == kNothing || written >= 2 * kManyKernels ? 1
                           : written >= kManyKernels                       ? 2
                                                                           : SIZE_MAX;
  for (KernelText& kernel : kernels) {
    const bool chosen = known && kernel.measured && tune == kWhatIsNotMeasured;
    kernel.configs.resize(std::min(kernel.configs.size(), chosen ? 1 : most));
  }
}

class ModuleWriter final {
 public:
  ModuleWriter(const Task& task, Program program, const KernelVariant& variant,
               const KernelTarget& target)
      : task_(task), program_(std::move(program)), variant_(variant), target_(target) {}

  WrittenKernel Write() {
    outputs_ = OutputBuffers(task_, program_);
    NameBuffers();
    WriteKernels();
    std::string text =
        VariantLine(variant_, Language::kTriton) +
        fmt::format("# {}: written by pragma's built-in expert.\n", OneLine(task_.name)) +
        "import torch\nimport triton\nimport triton.language as tl\n";
    std::string functions;
    Helpers helpers;
    for (const KernelText& kernel : kernels_) {
      helpers.insert(kernel.helpers.begin(), kernel.helpers.end());
      if (!kernel.shared) functions += "\n\n" + Definition(program_, kernel);
    }
    if (std::ranges::any_of(kernels_, &KernelText::uses_library))
      text += "from triton.language.extra import libdevice\n";
    for (const std::string& helper : helpers) text += "\n\n" + HelperText(helper);
    return {text + functions + "\n\n" + RunText(), OpenInTriton(variant_, Facts())};
  }

 private:
  [[nodiscard]] TritonFacts Facts() const {
    TritonFacts facts;
    facts.tunes = tunable_;
    for (const KernelText& kernel : kernels_) {
      facts.has_products = facts.has_products || kernel.multiplies;
      facts.attends = facts.attends || kernel.attends;
      facts.describes = facts.describes || kernel.persistent;
      facts.splits = facts.splits || std::ranges::any_of(kernel.buffers, [&](int buffer) {
                       return parts_.contains(buffer);
                     });
      facts.tunes_long_rows = facts.tunes_long_rows ||
                              (IsTuned(kernel) && LargestOf(kernel.configs, "COLUMNS") > kShortRow);
    }
    return facts;
  }

  std::string Free(const std::string& name) {
    return taken_.New(IsTaken(name) ? name + "_" : name);
  }
  void NameBuffersFrom(std::size_t first) {
    for (std::size_t i = first; i < program_.buffers.size(); ++i)
      program_.buffers[i].name = Free(program_.buffers[i].name);
  }
  void NameBuffers() {
    NameBuffersFrom(0);
    for (Step& step : program_.steps)
      if (IsTaken(step.name)) step.name += "_";
  }

  void WriteKernels() {
    const bool products = variant_.Get("products") == 0;
    const std::size_t named = program_.buffers.size();
    if (variant_.Get("split") == 0) SplitFolds(program_, products);
    for (std::size_t i = named; i < program_.buffers.size(); ++i)
      parts_.insert(static_cast<int>(i));
    NameBuffersFrom(named);
    const std::int64_t whole_row = variant_.Get("rows") == 0 ? kWholeRow : kShortRow;
    for (const Nest& nest : PlanNests(program_, TilePolicy(products))) {
      if (nest.steps[0].attention) {
        kernels_.push_back(
            AttentionKernel(program_, nest, KernelName(nest, ""), target_.block_shared_bytes));
      } else if (nest.anchored) {
        WriteProduct(nest);
      } else {
        kernels_.push_back(NestKernel(program_, nest, KernelName(nest, ""), whole_row));
      }
      kernels_.back().comment = OneLine(InWords(nest));
    }
    ShareKernels(program_, kernels_);
    tunable_ = std::ranges::any_of(kernels_, IsTuned);
    LimitTuning(kernels_, variant_.Get("tune"), target_);
  }
  std::string KernelName(const Nest& nest, const std::string& what) {
    std::string name = Free(nest.steps.front().name + what + "_kernel");
    (void)taken_.New(BuiltName(name));
    return name;
  }
  void WriteProduct(const Nest& nest) {
    const std::size_t named = program_.buffers.size();
    std::optional<PackedProduct> packed;
    if (variant_.Get("precision") == 0) packed = Packed(program_, nest);
    NameBuffersFrom(named);
    if (packed) {
      kernels_.push_back(PackKernel(program_, nest, packed->left, KernelName(nest, "_pack_left")));
      kernels_.push_back(
          PackKernel(program_, nest, packed->right, KernelName(nest, "_pack_right")));
    }
    kernels_.push_back(ContractionKernel(program_, nest, KernelName(nest, ""),
                                         {Precision(), Describes(), target_.block_shared_bytes},
                                         packed));
  }
  [[nodiscard]] std::string Precision() const {
    return variant_.Get("precision") == 1 ? "ieee" : "tf32x3";
  }
  [[nodiscard]] bool Describes() const { return variant_.Get("descriptors") == 0; }

  [[nodiscard]] std::vector<int> ScratchOf(const KernelText& kernel) const {
    std::vector<int> scratch;
    for (const int buffer : kernel.buffers)
      if (BufferOf(buffer).kind == Buffer::Kind::kScratch) scratch.push_back(buffer);
    return scratch;
  }
  [[nodiscard]] const Buffer& BufferOf(int buffer) const {
    return program_.buffers[static_cast<std::size_t>(buffer)];
  }

  // Returns the launches in order. Scratch memory is allocated before its first use and given back
  // after its last one, so that Torch can give it to a later buffer.
  [[nodiscard]] std::string Launches(const std::string& device) const {
    std::map<int, std::size_t> last;  // buffer -> the last kernel that uses it
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      for (const int buffer : ScratchOf(kernels_[k])) last[buffer] = k;
    std::string text;
    std::set<int> allocated;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const std::vector<int> scratch = ScratchOf(kernels_[k]);
      for (const int i : scratch) {
        if (!allocated.insert(i).second) continue;
        const Buffer& buffer = BufferOf(i);
        text += fmt::format("    {} = torch.empty({}, dtype={}, device={}.device)\n", buffer.name,
                            Elements(buffer.shape), TorchType(buffer.dtype), device);
      }
      text += "    " + Launch(program_, kernels_[k]) + "\n";
      if (k + 1 == kernels_.size()) break;
      for (const int i : scratch)
        if (last.at(i) == k) text += fmt::format("    {} = None\n", BufferOf(i).name);
    }
    return text;
  }

  [[nodiscard]] std::string RunText() const {
    std::vector<std::string> parameters;
    for (std::size_t i = 0; i < task_.arguments.size(); ++i)
      parameters.push_back(program_.buffers[i].name);
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      parameters.push_back(outputs_[i] < 0
                               ? fmt::format("unused_{}", i)
                               : program_.buffers[static_cast<std::size_t>(outputs_[i])].name);
    std::string text = fmt::format("def run({}):\n", Join(parameters, ", "));
    return text + Launches(parameters.back());
  }

  const Task& task_;
  Program program_;
  const KernelVariant& variant_;
  const KernelTarget& target_;
  std::vector<int> outputs_;
  Names taken_;
  std::vector<KernelText> kernels_;
  std::set<int> parts_;   // buffers of partial results
  bool tunable_ = false;  // a kernel has several configurations
};

}  // namespace
}  // namespace triton

WrittenKernel EmitTriton(const Task& task, Program program, const KernelVariant& variant,
                         const KernelTarget& target) {
  RemoveUnused(program);
  StoreThrough(program, false);
  if (variant.Get("attention") == 0)
    FuseAttention(program, triton::TileAttention(target.block_shared_bytes));
  if (variant.Get("products") == 0) {
    triton::PackConvolutions(program, variant.Get("precision") == 0);
    triton::PackDepthwise(program);
    triton::EvenOperands(program);
  }
  return triton::ModuleWriter(task, std::move(program), variant, target).Write();
}

}  // namespace pragma::expert
