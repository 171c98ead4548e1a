#include "expert/conv_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expert/anchor_kernel.h"
#include "expert/conv_plan.h"
#include "expert/conv_text.h"
#include "expert/text_lines.h"

namespace pragma {
namespace {

constexpr const char* kAxisNames[] = {"z", "y", "x"};

// The taps of one output phase, as the text's tables have them.
struct PhaseTaps {
  std::vector<std::int64_t> index;   // in the whole kernel
  std::vector<std::int64_t> offset;  // from a step to what the tap reads
};

class Writer final {
 public:
  Writer(const ConvSpec& spec, const KernelTarget& target)
      : spec_(spec), plan_(PlanConv(spec, target)) {}
  [[nodiscard]] std::string Text();

 private:
  [[nodiscard]] std::size_t rank() const { return plan_.axes.size(); }
  [[nodiscard]] const char* axis_name(std::size_t i) const { return kAxisNames[3 - rank() + i]; }
  // Axes inside a run begin here.
  [[nodiscard]] std::size_t first_flat() const {
    return rank() - static_cast<std::size_t>(plan_.flat);
  }
  [[nodiscard]] bool phased() const { return phases_.size() > 1; }
  [[nodiscard]] std::int64_t x_phases() const { return plan_.axes.back().out_stride; }
  // Runs all have the length that the plan names.
  [[nodiscard]] bool even_runs() const {
    return first_flat() > 0 || plan_.axes[0].steps % plan_.band == 0;
  }
  [[nodiscard]] bool banded() const { return plan_.band < plan_.axes[0].steps; }
  [[nodiscard]] std::string extra() const { return ExtraParameters(spec_.extra); }
  [[nodiscard]] std::string arguments() const { return ExtraArguments(spec_.extra); }
  [[nodiscard]] std::string out_parameters() const {
    return std::string(spec_.bias ? ", const float* bias" : "") + ", float* out" + extra();
  }
  [[nodiscard]] std::string out_arguments() const {
    return std::string(spec_.bias ? ", bias" : "") + ", out" + arguments();
  }

  void CollectPhases();
  void Head();
  void Tables();
  void Finish(bool whole);
  void PackWeights();
  void PrepareInput();
  void PrepareRow();
  void Tile();
  void Tiles();
  void Rows();
  void RunOf();
  void WriteOut();
  void Band();
  void Driver();

  const ConvSpec& spec_;
  ConvPlan plan_;
  std::vector<PhaseTaps> phases_;
  TextLines out_;
};

void Writer::CollectPhases() {
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

void Writer::Head() {
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
  out_.Line("PRAGMA_TUNE({}_TILE_ROWS, {}, {});", name, plan_.tile.rows,
            fmt::join(TuneValues(plan_.tile.rows, {4, 6, 8, 12, 14}), ", "));
  out_.Line("PRAGMA_TUNE({}_TILE_VECTORS, {}, {});", name, plan_.tile.vectors,
            fmt::join(TuneValues(plan_.tile.vectors, {1, 2, 3, 4}), ", "));
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
  if (even_runs()) out_.Line("{}  // neighbouring sums", Constant("kRun", plan_.run));
}

void Writer::Tables() {
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

void Writer::Finish(bool whole) {
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

void Writer::PackWeights() {
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

// One row of the copy: `to`, from `from`.
void Writer::PrepareRow() {
  const AxisPlan& x = plan_.axes.back();
  const std::int64_t length = plan_.extent(rank() - 1);
  const std::string shift = rank() == 1 && banded() ? " + x0" : "";  // never: one axis is one band
  for (std::size_t slot = 0; slot < x.slots.size(); ++slot) {
    // y * in_stride + origin is the input; [begin, end) are the y that have one.
    const std::int64_t origin = x.slots[slot] - x.margin;
    const std::int64_t begin = std::clamp<std::int64_t>(
        (std::max<std::int64_t>(-origin, 0) + x.in_stride - 1) / x.in_stride, 0, length);
    const std::int64_t end = std::clamp<std::int64_t>(
        origin >= x.size ? 0 : (x.size - origin + x.in_stride - 1) / x.in_stride, begin, length);
    if (begin > 0) out_.Line("std::fill_n(to, {}, 0.0f);", begin);
    if (end > begin && x.in_stride == 1) {
      out_.Line("std::copy_n(from + {}, {}, to + {});", origin + begin, end - begin, begin);
    } else if (end > begin) {
      out_.Line("for (std::int64_t i = {}; i < {}; ++i) to[i] = from[i * {} + {}];", begin, end,
                x.in_stride, origin);
    }
    if (end < length) out_.Line("std::fill_n(to + {}, {}, 0.0f);", end, length - end);
    out_.Line("to += {};", length);
  }
}

void Writer::PrepareInput() {
  out_.Line("// What a band reads of one group's channels, zeros where the input ends{}.",
            plan_.axes.back().in_stride > 1 ? ", inputs a stride apart side by side" : "");
  out_.Open("static void PrepareInput(const float* x{}, float* input)",
            banded() ? ", std::int64_t band" : "");
  out_.Open("for (std::int64_t c = 0; c < kIn; ++c)");
  out_.Line("const float* plane = x + c * {};", [&] {
    std::int64_t size = 1;
    for (const AxisPlan& axis : plan_.axes) size *= axis.size;
    return size;
  }());
  out_.Line("float* to = input + c * kChannelPitch;");
  std::string from = "plane";
  std::string outside;
  std::int64_t step = 1;
  std::vector<std::int64_t> steps(rank());
  for (std::size_t i = rank(); i-- > 0;) {
    steps[i] = step;
    step *= plan_.axes[i].size;
  }
  int opened = 0;
  for (std::size_t i = 0; i + 1 < rank(); ++i) {
    const AxisPlan& axis = plan_.axes[i];
    const std::string name = axis_name(i);
    if (axis.slots.size() > 1) {
      out_.Open("for (const std::int64_t phase_{} : {{{}}})", name, [&] {
        std::vector<std::string> casts;
        for (const std::int64_t slot : axis.slots)
          casts.push_back(fmt::format("std::int64_t{{{}}}", slot));
        return fmt::format("{}", fmt::join(casts, ", "));
      }());
      ++opened;
    }
    const std::string place = i == 0 && banded() ? "(band + i)" : "i";
    out_.Open("for (std::int64_t {0}_step = 0; {0}_step < {1}; ++{0}_step)", name, plan_.extent(i));
    ++opened;
    std::string where =
        i == 0 && banded() ? fmt::format("(band + {}_step)", name) : fmt::format("{}_step", name);
    if (axis.in_stride > 1) where += fmt::format(" * {}", axis.in_stride);
    if (axis.slots.size() > 1) {
      where += fmt::format(" + phase_{} - {}", name, axis.margin);
    } else {
      where += fmt::format(" - {}", axis.margin - axis.slots[0]);
    }
    out_.Line("const std::int64_t {} = {};", name, where);
    from += fmt::format(" + {} * {}", name, steps[i]);
    outside +=
        fmt::format("{0}{1} < 0 || {1} >= {2}", outside.empty() ? "" : " || ", name, axis.size);
  }
  if (!outside.empty()) {
    const std::int64_t row =
        plan_.extent(rank() - 1) * static_cast<std::int64_t>(plan_.axes.back().slots.size());
    out_.Open("if ({})", outside);
    out_.Line("std::fill_n(to, {}, 0.0f);", row);
    out_.Line("to += {};", row);
    out_.Line("continue;");
    out_.Close();
  }
  out_.Line("const float* from = {};", from);
  PrepareRow();
  for (int i = 0; i < opened; ++i) out_.Close();
  out_.Close();
  out_.Close();
}

void Writer::Tile() {
  const bool masked = !plan_.copy;
  out_.Block(FillIn(
      conv_text::kTile,
      {{"phase_parameters", phased() ? ", const std::int32_t* offset, std::int64_t taps" : ""},
       {"offset", phased() ? "offset" : "kOffset"},
       {"taps", phased() ? "taps" : "kTaps"},
       {"results", plan_.buffered
                       ? ", float* results, std::int64_t pitch"
                       : out_parameters() + ", std::int64_t image, std::int64_t channel, "
                                            "std::int64_t pixel"},
       {"load", masked ? "kPart && j + 1 == kWide ? LoadPart(line + j * kLanes, left - j * kLanes) "
                         ": Load(line + j * kLanes)"
                       : "Load(line + j * kLanes)"}}));
  if (plan_.buffered) {
    out_.Block(conv_text::kToBuffer);
  } else {
    out_.Block(FillIn(conv_text::kToOutput, {{"arguments", out_arguments()}}));
  }
}

void Writer::Tiles() {
  const std::string results = plan_.buffered ? ", float* results, std::int64_t pitch"
                                             : out_parameters() +
                                                   ", std::int64_t image, std::int64_t channel, "
                                                   "std::int64_t pixel";
  const std::string pass =
      plan_.buffered ? ", results, pitch" : out_arguments() + ", image, channel, pixel";
  out_.Block(FillIn(
      conv_text::kTiles,
      {{"phase_parameters", phased() ? ", const std::int32_t* offset, std::int64_t taps" : ""},
       {"phase", phased() ? ", offset, taps" : ""},
       {"results", results},
       {"pass", pass}}));
}

// One run of sums: all output channels of a group, tile by tile.
void Writer::RunOf() {
  const std::string run = even_runs() ? "kRun" : "run";
  if (plan_.buffered) {
    out_.Open("for (std::int64_t step = 0; step < {}; step += kTileVectors * kLanes)", run);
    if (x_phases() > 1) {
      out_.Open("for (std::int64_t phase_x = 0; phase_x < {}; ++phase_x)", x_phases());
      out_.Line("const std::int64_t phase = phases + phase_x;");
    } else if (phased()) {
      out_.Open("");
      out_.Line("const std::int64_t phase = phases;");
    }
    out_.Line("TileOf(block, in + step, {}{}, {} - step, results{} + step, kRunPitch);",
              phased() ? "panel + kIn * kFirst[phase] * kTileRows" : "panel",
              phased() ? ", kOffset + kFirst[phase], kFirst[phase + 1] - kFirst[phase]" : "", run,
              x_phases() > 1 ? " + phase_x * kTileRows * kRunPitch" : "");
    if (phased()) out_.Close();
    out_.Close();
    return;
  }
  out_.Open("for (std::int64_t step = 0; step < {}; step += kTileVectors * kLanes)", run);
  out_.Open("for (std::int64_t block = 0; block < kBlocks; ++block)");
  out_.Line(
      "TileOf(block, in + step, panels + (group * kBlocks + block) * kPanel, {} - step{}, image,",
      run, out_arguments());
  out_.Line("       group * kOut + block * kTileRows, pixel + step);");
  out_.Close();
  out_.Close();
}

// Rows of the buffer to their places in the output.
void Writer::WriteOut() {
  const AxisPlan& x = plan_.axes.back();
  out_.Open("for (std::int64_t i = 0; i < std::min(kTileRows, kOut - block * kTileRows); ++i)");
  std::string source = "results + i * kRunPitch";
  std::string pixel;
  std::int64_t below = 1;
  std::vector<std::int64_t> steps(rank());
  for (std::size_t i = rank(); i-- > 0;) {
    steps[i] = below;
    below *= plan_.axes[i].output;
  }
  int opened = 0;
  for (std::size_t i = 0; i + 1 < rank(); ++i) {
    const AxisPlan& axis = plan_.axes[i];
    const std::string name = axis_name(i);
    const bool inside = i >= first_flat();
    if (inside) {
      out_.Open("for (std::int64_t {0} = 0; {0} < {1}; ++{0})", name,
                i == 0 ? (banded() ? "rows" : fmt::format("{}", axis.steps))
                       : fmt::format("{}", axis.steps));
      ++opened;
      source += fmt::format(" + {} * {}", name, plan_.pitch[i]);
      const std::string place = i == 0 && banded() ? fmt::format("(band + {})", name) : name;
      if (axis.plain_output()) {
        pixel += fmt::format("{} * {} + ", place, steps[i]);
      } else {
        out_.Line("const std::int64_t out_{0} = {1} * {2} + phase_{0} + {3};", name, place,
                  axis.out_stride, axis.out_origin);
        out_.Line("if (out_{0} < 0 || out_{0} >= {1}) continue;", name, axis.output);
        pixel += fmt::format("out_{} * {} + ", name, steps[i]);
      }
    } else {
      pixel += fmt::format("{}{} * {} + ", axis.plain_output() ? "" : "out_", name, steps[i]);
    }
  }
  if (pixel.empty()) pixel = "0 + ";
  pixel.resize(pixel.size() - 3);
  if (x_phases() > 1) {
    out_.Line("Interleave({}, line);", source);
    source = x.out_origin == 0 ? "line" : fmt::format("line + {}", -x.out_origin);
  }
  out_.Line("WriteRow({}{}, image, group * kOut + block * kTileRows + i, {});", source,
            out_arguments(), pixel);
  for (int i = 0; i < opened; ++i) out_.Close();
  out_.Close();
}

// The loops over what is no part of a run, outermost first.
void Writer::Rows() {
  int opened = 0;
  std::string in = "input";
  std::string pixel;
  std::int64_t below = 1;
  std::vector<std::int64_t> steps(rank());
  for (std::size_t i = rank(); i-- > 0;) {
    steps[i] = below;
    below *= plan_.axes[i].output;
  }
  if (phased()) {
    for (std::size_t i = 0; i + 1 < rank(); ++i) {
      if (plan_.axes[i].plain_output()) continue;
      out_.Open("for (std::int64_t phase_{0} = 0; phase_{0} < {1}; ++phase_{0})", axis_name(i),
                plan_.axes[i].out_stride);
      ++opened;
    }
    std::string phases = "0";
    for (std::size_t i = 0; i + 1 < rank(); ++i) {
      if (plan_.axes[i].plain_output()) continue;
      phases = fmt::format(
          "{}phase_{}",
          phases == "0" ? "" : fmt::format("({}) * {} + ", phases, plan_.axes[i].out_stride),
          axis_name(i));
    }
    if (x_phases() > 1) phases = phases == "0" ? "0" : fmt::format("({}) * {}", phases, x_phases());
    out_.Line("const std::int64_t phases = {};", phases);
  }
  for (std::size_t i = 0; i < first_flat(); ++i) {
    const AxisPlan& axis = plan_.axes[i];
    const std::string name = axis_name(i);
    if (i == 0 && banded()) {
      out_.Open("for (std::int64_t {0} = band; {0} < band + rows; ++{0})", name);
    } else {
      out_.Open("for (std::int64_t {0} = 0; {0} < {1}; ++{0})", name, axis.steps);
    }
    ++opened;
    in += i == 0 && banded() && plan_.copy
              ? fmt::format(" + ({} - band) * {}", name, plan_.pitch[i])
              : fmt::format(" + {} * {}", name, plan_.pitch[i]);
    if (!axis.plain_output()) {
      out_.Line("const std::int64_t out_{0} = {0} * {1} + phase_{0} + {2};", name, axis.out_stride,
                axis.out_origin);
      out_.Line("if (out_{0} < 0 || out_{0} >= {1}) continue;", name, axis.output);
    }
    pixel += fmt::format("{} * {} + ", name, steps[i]);
  }
  if (first_flat() == 0 && banded()) {
    if (!plan_.copy) in += fmt::format(" + band * {}", plan_.pitch[0]);
    pixel += fmt::format("band * {} + ", steps[0]);
  }
  if (!even_runs())
    out_.Line("const std::int64_t run = (rows - 1) * {} + {};", plan_.pitch[0],
              plan_.run - (plan_.band - 1) * plan_.pitch[0]);
  out_.Line("const float* in = {};", in);
  if (plan_.buffered) {
    RunOf();
    WriteOut();
  } else {
    out_.Line("const std::int64_t pixel = {};",
              pixel.empty() ? "0" : pixel.substr(0, pixel.size() - 3));
    RunOf();
  }
  for (int i = 0; i < opened; ++i) out_.Close();
}

void Writer::Band() {
  out_.Line("// {} of one image and one group.",
            banded() ? "A band of the outputs" : "All outputs");
  out_.Open(
      "static void Band(const float* input, const float* panels{}, std::int64_t image, "
      "std::int64_t group{}{})",
      out_parameters(), banded() ? ", std::int64_t band" : "",
      plan_.buffered ? ", float* results" : "");
  if (banded())
    out_.Line(
        "[[maybe_unused]] const std::int64_t rows = std::min<std::int64_t>(kBand, {} - band);",
        plan_.axes[0].steps);
  if (plan_.buffered) {
    if (x_phases() > 1)
      out_.Line("float* line = results + {} * kTileRows * kRunPitch;", x_phases());
    out_.Open("for (std::int64_t block = 0; block < kBlocks; ++block)");
    out_.Line("const float* panel = panels + (group * kBlocks + block) * kPanel;");
  }
  Rows();
  if (plan_.buffered) out_.Close();
  out_.Close();
}

void Writer::Driver() {
  std::int64_t input_size = 1;
  for (const AxisPlan& axis : plan_.axes) input_size *= axis.size;
  if (plan_.copy)
    out_.Line(
        "static constexpr std::int64_t kInput = (kIn * kChannelPitch + 2 * kLanes) / kLanes * "
        "kLanes;");
  const std::string own = plan_.copy ? (plan_.buffered ? "(kInput + kResults)" : "kInput")
                                     : (plan_.buffered ? "kResults" : "0");
  out_.Line(
      "static constexpr std::size_t kScratchBytes = sizeof(float) * (kGroups * kBlocks * kPanel + "
      "kThreads * {});",
      own);
  out_.Open("static void Run(const float* x, const float* weight{}, char* scratch)",
            out_parameters());
  out_.Line("float* panels = reinterpret_cast<float*>(scratch);");
  const bool parallel = plan_.threads > 1;
  if (parallel) out_.Line("#pragma omp parallel num_threads(kThreads)");
  out_.Open("");
  if (own != "0")
    out_.Line("float* own = panels + kGroups * kBlocks * kPanel + {} * {};",
              parallel ? "omp_get_thread_num()" : "0", own);
  if (plan_.copy && plan_.buffered) out_.Line("float* results = own + kInput;");
  if (parallel) out_.Line("#pragma omp for collapse(2) schedule(static)");
  out_.Line("for (std::int64_t group = 0; group < kGroups; ++group)");
  out_.Line("  for (std::int64_t block = 0; block < kBlocks; ++block)");
  out_.Line("    PackWeights(weight, group, block, panels + (group * kBlocks + block) * kPanel);");
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

std::string Writer::Text() {
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
        plan_.run);
    out_.Line("static constexpr std::int64_t kResults = {} * kTileRows * kRunPitch + {};",
              x_phases(), x_phases() > 1 ? (x.steps + 16 + 15) / 16 * 16 * x_phases() : 0);
    if (x_phases() > 1)
      out_.Block(FillIn(
          x_phases() == 2 ? conv_text::kInterleaveTwo : conv_text::kInterleave,
          {{"steps", fmt::format("{}", x.steps)}, {"stride", fmt::format("{}", x_phases())}}));
    out_.Block(FillIn(conv_text::kWriteRow, {{"parameters", out_parameters()},
                                             {"arguments", out_arguments()},
                                             {"width", fmt::format("{}", x.output)}}));
  }
  out_.Line("");
  Band();
  out_.Line("");
  Driver();
  out_.Line("}  // namespace " + spec_.name);
  return out_.text();
}

}  // namespace

KernelText GenerateConv(const ConvSpec& spec, const KernelTarget& target) {
  KernelText kernel;
  kernel.pieces = {VectorPiece::kCore, VectorPiece::kParts, VectorPiece::kStream};
  kernel.code = Writer(spec, target).Text();
  return kernel;
}

}  // namespace pragma
