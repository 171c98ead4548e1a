#include "expert/cpp/conv_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/conv_plan.h"
#include "expert/cpp/conv_text.h"
#include "expert/cpp/conv_writer.h"

namespace pragma::expert {
namespace {

std::string Summary(const ConvSpec& spec, const ConvPlan& plan) {
  std::string text = fmt::format("{} images, {} channels of ", spec.images, spec.in_channels);
  const auto sizes = [&](auto size) {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < spec.axes.size(); ++i) all.push_back(size(i));
    return fmt::format("{}", fmt::join(all, " x "));
  };
  text += sizes([&](std::size_t i) { return spec.axes[i].size; });
  text += fmt::format(" to {} of ", spec.out_channels);
  text += sizes([&](std::size_t i) { return plan.axes[i].output; });
  text += ", kernel " + sizes([&](std::size_t i) { return spec.axes[i].kernel; });
  if (spec.groups > 1) text += fmt::format(", {} groups", spec.groups);
  return text;
}

std::string Constant(std::string_view name, std::int64_t value) {
  return fmt::format("[[maybe_unused]] static constexpr std::int64_t {} = {};", name, value);
}

}  // namespace

void ConvWriter::CollectPhases() {
  phases_.assign(1, {{0}, {0}});
  for (std::size_t i = 0; i < rank(); ++i) {
    const AxisPlan& axis = plan_.axes[i];
    std::vector<PhaseTaps> next;
    for (const PhaseTaps& outer : phases_) {
      for (const std::vector<AxisTap>& taps : axis.taps) {
        PhaseTaps& both = next.emplace_back();
        for (std::size_t o = 0; o < outer.index.size(); ++o) {
          for (const AxisTap& tap : taps) {
            both.index.push_back(outer.index[o] * axis.kernel + tap.index);
            both.offset.push_back(outer.offset[o] +
                                  (tap.slot * plan_.extent(i) + tap.shift) * plan_.pitch[i]);
          }
        }
      }
    }
    phases_ = std::move(next);
  }
}

void ConvWriter::Head() {
  const std::string name = InCapitals(spec_.name);
  out_.Line("// {}: {}.", spec_.transposed ? "Transposed convolution" : "Convolution",
            Summary(spec_, plan_));
  out_.Line(
      "// Vectors lie along pixels, so that inputs and outputs are read and written in order;");
  out_.Line(
      "// weights are broadcast.{}",
      plan_.copy ? " A copy of what a band of pixels reads, zeros around it, is made first." : "");
  out_.Line("namespace {} {{", spec_.name);
  out_.Line("// Sums in registers: output channels times vectors of pixels.");
  for (const TunableNumber& number :
       {NumberOf(name + "_TILE_ROWS", plan_.tile.rows, {4, 6, 8, 12, 14}),
        NumberOf(name + "_TILE_VECTORS", plan_.tile.vectors, {1, 2, 3, 4})})
    out_.Line(spec_.tuning.Declare(number, facts_.tunables));
  out_.Line("static constexpr int kThreads = {};", plan_.threads);
  out_.Line(Constant("kImages", spec_.images));
  out_.Line(Constant("kGroups", spec_.groups));
  out_.Line("{}  // channels of a group", Constant("kIn", plan_.group_in));
  out_.Line(Constant("kOut", plan_.group_out));
  out_.Line("{}  // of an output channel", Constant("kPixels", plan_.pixels()));
  out_.Line("{}  // places of the kernel", Constant("kTaps", plan_.taps));
  out_.Line("static constexpr std::int64_t kTileRows = std::min<std::int64_t>({}_TILE_ROWS, kOut);",
            name);
  out_.Line("static constexpr std::int64_t kTileVectors = {}_TILE_VECTORS;", name);
  out_.Line("static constexpr std::int64_t kBlocks = (kOut + kTileRows - 1) / kTileRows;");
  out_.Line("// Packed weights of kTileRows channels, and room for the last vector written.");
  out_.Line(
      "static constexpr std::int64_t kPanel = (kTileRows * kIn * kTaps + 2 * kLanes) / kLanes * "
      "kLanes;");
  if (banded()) out_.Line("{}  // {} at a time", Constant("kBand", plan_.band), axis_name(0));
  out_.Line("{}  // from channel to channel", Constant("kChannelPitch", plan_.channel_pitch));
  if (gathers()) out_.Line("{}  // written together", Constant("kRowsAtOnce", plan_.rows_at_once));
  if (even_runs()) out_.Line("{}  // neighbouring sums", Constant("kRun", plan_.run));
}

void ConvWriter::Tables() {
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> first{0};
  for (const PhaseTaps& phase : phases_) {
    offsets.insert(offsets.end(), phase.offset.begin(), phase.offset.end());
    indices.insert(indices.end(), phase.index.begin(), phase.index.end());
    first.push_back(static_cast<std::int64_t>(offsets.size()));
  }
  out_.Line("// What each place of the kernel reads, as a distance from the sum's own place.");
  out_.Line("static constexpr std::int32_t kOffset[kTaps] = {{{}}};", fmt::join(offsets, ", "));
  if (!spec_.transposed) return;
  out_.Line("// The same places in the weight's own order.");
  out_.Line("static constexpr std::int32_t kPlace[kTaps] = {{{}}};", fmt::join(indices, ", "));
  if (!phased()) return;
  out_.Line("// Outputs of phase p (position modulo stride, by axis) use places kFirst[p] to");
  out_.Line("// kFirst[p + 1] only.");
  out_.Line(Constant("kPhases", static_cast<std::int64_t>(phases_.size())));
  out_.Line("static constexpr std::int32_t kFirst[kPhases + 1] = {{{}}};", fmt::join(first, ", "));
}

void ConvWriter::Finish(bool whole) {
  out_.Line(whole ? "// A vector of results on its way to memory."
                  : "// The same where fewer than kLanes pixels are left.");
  out_.Open(
      "[[maybe_unused]] static inline void Finish{}(Vec value{}, std::int64_t batch, "
      "std::int64_t row, std::int64_t column{})",
      whole ? "" : "Part", out_parameters(), whole ? "" : ", std::int64_t lanes");
  out_.Line("const std::int64_t index = (batch * {} + row) * kPixels + column;",
            spec_.out_channels);
  if (spec_.bias) out_.Line("value += bias[row];");
  if (spec_.epilogue) {
    OutputSite site;
    site.whole = whole;
    if (!whole) site.lanes = "lanes";
    out_.Block(spec_.epilogue(site));
  }
  if (whole) {
    out_.Line("{}(out + index, value);", plan_.stream ? "Stream" : "Store");
  } else {
    out_.Line("StorePart(out + index, value, lanes);");
  }
  out_.Close();
}

void ConvWriter::PackWeights() {
  out_.Line("// Weights of one block of channels, in the order in which Tile reads them.");
  out_.Open(
      "static void PackWeights(const float* weight, std::int64_t group, std::int64_t block, "
      "float* to)");
  out_.Line("const std::int64_t count = std::min(kTileRows, kOut - block * kTileRows);");
  if (!spec_.transposed) {
    out_.Line(
        "PackPanel<kTileRows>(weight + (group * kOut + block * kTileRows) * kIn * kTaps, "
        "kIn * kTaps, 1,");
    out_.Line("                     count, kIn * kTaps, to);");
  } else {
    if (phased()) {
      out_.Open("for (std::int64_t phase = 0; phase < kPhases; ++phase)");
    }
    out_.Open("for (std::int64_t c = 0; c < kIn; ++c)");
    out_.Line(
        "const float* from = weight + ((group * kIn + c) * kOut + block * kTileRows) * kTaps;");
    out_.Open("for (std::int64_t t = {}; t < {}; ++t)", phased() ? "kFirst[phase]" : "0",
              phased() ? "kFirst[phase + 1]" : "kTaps");
    out_.Line("for (std::int64_t i = 0; i < kTileRows; ++i)");
    out_.Line("  *to++ = i < count ? from[i * kTaps + kPlace[t]] : 0.0f;");
    out_.Close();
    out_.Close();
    if (phased()) out_.Close();
  }
  out_.Close();
}

void ConvWriter::PackAll() {
  out_.Line("for (std::int64_t group = 0; group < kGroups; ++group)");
  out_.Line("  for (std::int64_t block = 0; block < kBlocks; ++block)");
  out_.Line("    PackWeights(weight, group, block, panels + (group * kBlocks + block) * kPanel);");
}

void ConvWriter::PackAhead() {
  out_.Line(
      "static constexpr std::size_t kPackedBytes = (sizeof(float) * kPanels + 63) / 64 * 64;");
  out_.Open("static void Pack(const float* weight, char* packed)");
  out_.Line("float* panels = reinterpret_cast<float*>(packed);");
  out_.Line("#pragma omp parallel for collapse(2) schedule(static)");
  PackAll();
  out_.Close();
}

void ConvWriter::Driver() {
  std::int64_t input_size = 1;
  for (const AxisPlan& axis : plan_.axes) input_size *= axis.size;
  if (plan_.copy)
    out_.Line(
        "static constexpr std::int64_t kInput = (kIn * kChannelPitch + 2 * kLanes) / kLanes * "
        "kLanes;");
  const std::string own = plan_.copy ? (plan_.buffered ? "(kInput + kResults)" : "kInput")
                                     : (plan_.buffered ? "kResults" : "0");
  const bool parallel = plan_.threads > 1;
  const bool keeps = spec_.keeps_weight;
  out_.Line("static constexpr std::size_t kPanels = kGroups * kBlocks * kPanel;");
  out_.Line("static constexpr std::size_t kScratchBytes = sizeof(float) * ({}kThreads * {});",
            keeps ? "" : "kPanels + ", own);
  if (keeps) PackAhead();
  out_.Open("static void Run(const float* x, {}{}, char* scratch)",
            keeps ? "const char* packed" : "const float* weight", out_parameters());
  if (keeps) {
    out_.Line("const float* panels = reinterpret_cast<const float*>(packed);");
  } else {
    out_.Line("float* panels = reinterpret_cast<float*>(scratch);");
  }
  if (parallel) out_.Line("#pragma omp parallel num_threads(kThreads)");
  out_.Open("");
  if (own == "0") {
    if (keeps) out_.Line("(void)scratch;");
  } else {
    out_.Line("float* own = reinterpret_cast<float*>(scratch) + {}{} * {};",
              keeps ? "" : "kPanels + ", parallel ? "omp_get_thread_num()" : "0", own);
  }
  if (plan_.copy && plan_.buffered) out_.Line("float* results = own + kInput;");
  if (!keeps) {
    if (parallel) out_.Line("#pragma omp for collapse(2) schedule(static)");
    PackAll();
  }
  if (parallel) out_.Line("#pragma omp for collapse({}) schedule(dynamic)", banded() ? 3 : 2);
  out_.Open("for (std::int64_t image = 0; image < kImages; ++image)");
  out_.Open("for (std::int64_t group = 0; group < kGroups; ++group)");
  if (banded())
    out_.Open("for (std::int64_t band = 0; band < {}; band += kBand)", plan_.axes[0].steps);
  out_.Line("const float* channels = x + (image * kGroups + group) * kIn * {};", input_size);
  if (plan_.copy) out_.Line("PrepareInput(channels{}, own);", banded() ? ", band" : "");
  out_.Line("Band({}, panels{}, image, group{}{});", plan_.copy ? "own" : "channels",
            out_arguments(), banded() ? ", band" : "",
            plan_.buffered ? (plan_.copy ? ", results" : ", own") : "");
  if (banded()) out_.Close();
  out_.Close();
  out_.Close();
  if (plan_.stream) out_.Line("StreamEnd();");
  out_.Close();
  out_.Close();
}

KernelText ConvWriter::Kernel() {
  CollectPhases();
  out_.Line("");
  Head();
  Tables();
  out_.Line("");
  Finish(true);
  Finish(false);
  out_.Line("");
  PackWeights();
  out_.Line("");
  if (plan_.copy) PrepareInput();
  out_.Line("");
  Tile();
  Tiles();
  if (plan_.buffered) {
    const AxisPlan& x = plan_.axes.back();
    out_.Line("// Sums of one channel of a tile lie this far from the next one's.");
    out_.Line(
        "static constexpr std::int64_t kRunPitch = ({} + kLanes - 1) / kLanes * kLanes + kLanes;",
        gathers() ? plan_.rows_at_once * x.output : plan_.run);
    out_.Line("static constexpr std::int64_t kResults = {} * kTileRows * kRunPitch + {};",
              x_phases(), (line_length() + 31) / 16 * 16);
    if (x_phases() > 1)
      out_.Block(FillIn(
          x_phases() == 2 ? conv_text::kInterleaveTwo : conv_text::kInterleave,
          {{"steps", fmt::format("{}", row_steps())}, {"stride", fmt::format("{}", x_phases())}}));
    if (compacts())
      out_.Block(
          FillIn(conv_text::kCompact, {{"width", fmt::format("{}", x.output)},
                                       {"pitch", fmt::format("{}", plan_.pitch[first_flat()])}}));
    const std::string head = FillIn(plan_.stream ? conv_text::kAlignedHead : conv_text::kPlainHead,
                                    {{"arguments", out_arguments()}});
    out_.Block(
        FillIn(conv_text::kWriteRow,
               {{"parameters", out_parameters()}, {"arguments", out_arguments()}, {"head", head}}));
  }
  out_.Line("");
  Band();
  out_.Line("");
  Driver();
  out_.Line("}  // namespace " + spec_.name);
  KernelText kernel;
  kernel.code = out_.text();
  kernel.pieces = {VectorPiece::kCore, VectorPiece::kParts, VectorPiece::kStream};
  kernel.keeps = spec_.keeps_weight;
  kernel.facts = std::move(facts_);
  kernel.facts.shares_work = plan_.threads > 1;
  kernel.facts.streams = plan_.stream;
  return kernel;
}

KernelText GenerateConv(const ConvSpec& spec, const KernelTarget& target) {
  return ConvWriter(spec, target).Kernel();
}

}  // namespace pragma::expert
