// Writes the loops over the outputs of a band: tiles of sums, and where they are stored.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/conv_plan.h"
#include "expert/cpp/conv_text.h"
#include "expert/cpp/conv_writer.h"

namespace pragma::expert {

void ConvWriter::Tile() {
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
                         ": LoadHeld(line + j * kLanes)"
                       : "LoadHeld(line + j * kLanes)"}}));
  if (plan_.buffered) {
    out_.Block(conv_text::kToBuffer);
  } else {
    out_.Block(FillIn(conv_text::kToOutput, {{"arguments", out_arguments()}}));
  }
}

void ConvWriter::Tiles() {
  const std::string results = plan_.buffered ? ", float* results, std::int64_t pitch"
                                             : out_parameters() +
                                                   ", std::int64_t image, std::int64_t channel, "
                                                   "std::int64_t pixel";
  const std::string pass =
      plan_.buffered ? ", results, pitch" : out_arguments() + ", image, channel, pixel";
  for (const std::string_view text :
       {even_runs() ? conv_text::kEvenTiles : conv_text::kTiles, conv_text::kTileOf})
    out_.Block(FillIn(text, {{"phase_parameters",
                              phased() ? ", const std::int32_t* offset, std::int64_t taps" : ""},
                             {"phase", phased() ? ", offset, taps" : ""},
                             {"results", results},
                             {"pass", pass}}));
}

// Writes one run of sums: all output channels of a group, tile by tile.
void ConvWriter::RunOf() {
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
    out_.Line("TileOf(block, in + step, {}{}, {} - step, results{}{} + step, kRunPitch);",
              phased() ? "panel + kIn * kFirst[phase] * kTileRows" : "panel",
              phased() ? ", kOffset + kFirst[phase], kFirst[phase + 1] - kFirst[phase]" : "", run,
              x_phases() > 1 ? " + phase_x * kTileRows * kRunPitch" : "",
              gathers() ? fmt::format(" + ({0} - first_{0}) * {1}", axis_name(first_flat() - 1),
                                      plan_.axes.back().output)
                        : "");
    if (phased()) out_.Close();
    out_.Close();
    return;
  }
  out_.Open("for (std::int64_t step = 0; step < {}; step += kTileVectors * kLanes)", run);
  if (!plan_.blocks_outside) out_.Open("for (std::int64_t block = 0; block < kBlocks; ++block)");
  out_.Line("TileOf(block, in + step, {}, {} - step{}, image,",
            plan_.blocks_outside ? "panel" : "panels + (group * kBlocks + block) * kPanel", run,
            out_arguments());
  out_.Line("       group * kOut + block * kTileRows, pixel + step);");
  if (!plan_.blocks_outside) out_.Close();
  out_.Close();
}

// Returns whether the rows of a run are neighbours in the output.
bool ConvWriter::joins_rows() const {
  return plan_.buffered && plan_.flat == 2 && plan_.axes.back().plain_output() &&
         plan_.axes[first_flat()].plain_output();
}

// Returns whether the rows of a run must first be moved together.
bool ConvWriter::compacts() const {
  return joins_rows() && plan_.pitch[first_flat()] != plan_.axes.back().output;
}

std::int64_t ConvWriter::line_length() const {
  if (x_phases() > 1) return (row_steps() + 15) / 16 * 16 * x_phases();
  if (!compacts()) return 0;
  return (first_flat() == 0 ? plan_.band : plan_.axes[first_flat()].steps) *
         plan_.axes.back().output;
}

// Writes the lines that copy a piece of a row, which begins at step `band`, to its place in the
// output.
void ConvWriter::WritePiece() {
  const AxisPlan& x = plan_.axes.back();
  if (x_phases() == 1) {
    out_.Line(
        "WriteRow(results + i * kRunPitch{}, image, group * kOut + block * kTileRows + i, "
        "band, rows);",
        out_arguments());
    return;
  }
  out_.Line("Interleave(results + i * kRunPitch, line);");
  out_.Line("const std::int64_t place = band * {} + {};", x.out_stride, x.out_origin);
  out_.Line("const std::int64_t skipped = std::max<std::int64_t>(-place, 0);");
  out_.Line("const std::int64_t end = std::min<std::int64_t>({}, place + rows * {});", x.output,
            x.out_stride);
  out_.Line(
      "WriteRow(line + skipped{}, image, group * kOut + block * kTileRows + i, "
      "place + skipped, std::max<std::int64_t>(end - place - skipped, 0));",
      out_arguments());
}

// Writes the loop that copies rows from the buffer to their places in the output.
void ConvWriter::WriteOut() {
  out_.Open("for (std::int64_t i = 0; i < std::min(kTileRows, kOut - block * kTileRows); ++i)");
  if (in_pieces()) {
    WritePiece();
    out_.Close();
    return;
  }
  std::string source = "results + i * kRunPitch";
  std::string pixel;
  std::string length = fmt::format("{}", plan_.axes.back().output);
  int opened = 0;
  for (std::size_t i = 0; i + 1 < rank(); ++i) {
    const AxisPlan& axis = plan_.axes[i];
    const std::string name = axis_name(i);
    const std::int64_t step = OutputStep(i);
    if (gathers() && i + 1 == first_flat()) {
      pixel += fmt::format("first_{} * {} + ", name, step);
      length = fmt::format("count * {}", length);
      continue;
    }
    if (i < first_flat()) {
      pixel += fmt::format("{}{} * {} + ", axis.plain_output() ? "" : "out_", name, step);
      continue;
    }
    const std::string rows = i == 0 && banded() ? "rows" : fmt::format("{}", axis.steps);
    if (joins_rows()) {
      if (compacts()) {
        out_.Line("Compact({}, {}, line);", source, rows);
        source = "line";
      }
      length = fmt::format("{} * {}", rows, plan_.axes.back().output);
      if (i == 0 && banded()) pixel += fmt::format("band * {} + ", step);
      continue;
    }
    out_.Open("for (std::int64_t {0} = 0; {0} < {1}; ++{0})", name, rows);
    ++opened;
    source += fmt::format(" + {} * {}", name, plan_.pitch[i]);
    const std::string place = i == 0 && banded() ? fmt::format("(band + {})", name) : name;
    if (axis.plain_output()) {
      pixel += fmt::format("{} * {} + ", place, step);
    } else {
      OutputPlace(i, place);
      pixel += fmt::format("out_{} * {} + ", name, step);
    }
  }
  if (pixel.empty()) pixel = "0 + ";
  pixel.resize(pixel.size() - 3);
  if (x_phases() > 1) {
    out_.Line("Interleave({}, line);", source);
    const std::int64_t skipped = -plan_.axes.back().out_origin;
    source = skipped == 0 ? "line" : fmt::format("line + {}", skipped);
  }
  out_.Line("WriteRow({}{}, image, group * kOut + block * kTileRows + i, {}, {});", source,
            out_arguments(), pixel, length);
  for (int i = 0; i < opened; ++i) out_.Close();
  out_.Close();
}

// Writes the position of step `place` of a phase along axis i. Some positions are outside the
// output and are skipped.
void ConvWriter::OutputPlace(std::size_t i, const std::string& place) {
  const AxisPlan& axis = plan_.axes[i];
  out_.Line("const std::int64_t out_{0} = {1} * {2} + phase_{0} + {3};", axis_name(i), place,
            axis.out_stride, axis.out_origin);
  out_.Line("if (out_{0} < 0 || out_{0} >= {1}) continue;", axis_name(i), axis.output);
}

std::int64_t ConvWriter::OutputStep(std::size_t i) const {
  std::int64_t step = 1;
  for (std::size_t inner = i + 1; inner < rank(); ++inner) step *= plan_.axes[inner].output;
  return step;
}

// Opens the loops over phases of the outer axes. Returns the number of loops.
int ConvWriter::OpenPhases() {
  if (!phased()) return 0;
  int opened = 0;
  std::string phases = "0";
  for (std::size_t i = 0; i + 1 < rank(); ++i) {
    if (plan_.axes[i].plain_output()) continue;
    out_.Open("for (std::int64_t phase_{0} = 0; phase_{0} < {1}; ++phase_{0})", axis_name(i),
              plan_.axes[i].out_stride);
    ++opened;
    phases = fmt::format(
        "{}phase_{}",
        phases == "0" ? "" : fmt::format("({}) * {} + ", phases, plan_.axes[i].out_stride),
        axis_name(i));
  }
  if (x_phases() > 1) phases = phases == "0" ? "0" : fmt::format("({}) * {}", phases, x_phases());
  out_.Line("const std::int64_t phases = {};", phases);
  return opened;
}

// Opens the loop over an axis that is not part of a run; rows that are written together have a loop
// around it. Returns the number of loops.
int ConvWriter::OpenRows(std::size_t i) {
  const std::string name = axis_name(i);
  const bool of_band = i == 0 && banded();
  const bool together = gathers() && i + 1 == first_flat();
  std::string begin = of_band ? "band" : "0";
  std::string end = of_band ? "band + rows" : fmt::format("{}", plan_.axes[i].steps);
  if (together) {
    out_.Open("for (std::int64_t first_{0} = {1}; first_{0} < {2}; first_{0} += kRowsAtOnce)", name,
              begin, end);
    out_.Line("const std::int64_t count = std::min<std::int64_t>(kRowsAtOnce, {} - first_{});", end,
              name);
    begin = fmt::format("first_{}", name);
    end = begin + " + count";
  }
  out_.Open("for (std::int64_t {0} = {1}; {0} < {2}; ++{0})", name, begin, end);
  return together ? 2 : 1;
}

// Writes the loops over the axes that are not part of a run, outermost first.
void ConvWriter::Rows() {
  int opened = OpenPhases();
  std::string in = "input";
  std::string pixel;
  for (std::size_t i = 0; i < first_flat(); ++i) {
    const std::string name = axis_name(i);
    opened += OpenRows(i);
    in += i == 0 && banded() && plan_.copy
              ? fmt::format(" + ({} - band) * {}", name, plan_.pitch[i])
              : fmt::format(" + {} * {}", name, plan_.pitch[i]);
    if (!plan_.axes[i].plain_output()) OutputPlace(i, name);
    pixel += fmt::format("{} * {} + ", name, OutputStep(i));
  }
  if (first_flat() == 0 && banded()) {
    if (!plan_.copy) in += fmt::format(" + band * {}", plan_.pitch[0]);
    pixel += fmt::format("band * {} + ", OutputStep(0));
  }
  if (!even_runs())
    out_.Line("const std::int64_t run = (rows - 1) * {} + {};", plan_.pitch[0],
              plan_.run - (plan_.band - 1) * plan_.pitch[0]);
  out_.Line("const float* in = {};", in);
  if (!plan_.buffered)
    out_.Line("const std::int64_t pixel = {};",
              pixel.empty() ? "0" : pixel.substr(0, pixel.size() - 3));
  RunOf();
  if (plan_.buffered && gathers()) {
    out_.Close();
    --opened;
  }
  if (plan_.buffered) WriteOut();
  for (int i = 0; i < opened; ++i) out_.Close();
}

void ConvWriter::Band() {
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
  if (line_length() > 0)
    out_.Line("float* line = results + {} * kTileRows * kRunPitch;", x_phases());
  if (plan_.blocks_outside) {
    out_.Open("for (std::int64_t block = 0; block < kBlocks; ++block)");
    out_.Line("const float* panel = panels + (group * kBlocks + block) * kPanel;");
  }
  Rows();
  if (plan_.blocks_outside) out_.Close();
  out_.Close();
}

}  // namespace pragma::expert
