#include "report/whole_model_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json_writer.h"
#include "core/timing.h"
#include "report/figures.h"
#include "report/html_page.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

template <typename Row>
std::string PathText(const Row& row) {
  const std::string path = row.path.empty() ? "(the model)" : row.path;
  return row.uses > 1 ? fmt::format("{} and {} more", path, row.uses - 1) : path;
}

std::string WhereText(const ModelRow& row) {
  return PathText(row) + (row.compiled ? ", as torch.compile calls it" : "");
}

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

double SharedByParts(const ModelReport& report) {
  double share = 0;
  for (const ModelRow& row : report.parts)
    if (!row.compiled) share += row.share;
  return share;
}

std::string LeftText(const ModelReport& report) {
  std::string text;
  for (const ModelLeftRow& left : report.left)
    text += fmt::format("Torch keeps {} {} ({}): {}\n", left.kind, SafeLine(PathText(left)),
                        Percent(left.share), SafeLine(left.why));
  return text;
}

std::string Mebibytes(std::int64_t bytes) {
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

// Returns the line of a program that compiles the model round its kernels.
std::string CompileLine(const std::string& mode) {
  if (mode.empty() || mode == "default") return "  model = torch.compile(model)\n";
  return fmt::format("  model = torch.compile(model, mode=\"{}\")\n", mode);
}

std::string FiguresText(const Terminal& terminal, const ModelFigures& figures, std::size_t calls) {
  Table table({{.title = calls > 1 ? fmt::format("{} calls of the model", calls)
                                   : std::string("one call of the model")},
               {.title = "time [95 %]", .align = Align::kRight},
               {.title = "gain with kernels [95 %]", .align = Align::kRight}});
  const auto ours = [&](const std::string& name, const std::optional<Interval>& time, bool best) {
    if (!time) return;
    table.Add({{name, best ? Style::kBold : Style::kPlain}, {FormatMillis(*time)}, {""}});
  };
  ours("with kernels", figures.kernels_ms, !figures.compiled_is_faster);
  ours(CompileText(figures.compiled_kernels.mode) + " around them", figures.compiled_kernels_ms,
       figures.compiled_is_faster);
  if (figures.eager_ms)
    table.Add({{"torch eager"},
               {FormatMillis(*figures.eager_ms)},
               {FormatSpeedup(figures.speedup_eager), SpeedupStyle(figures.speedup_eager)}});
  if (figures.compile_ms)
    table.Add({{CompileText(figures.compile.mode)},
               {FormatMillis(*figures.compile_ms)},
               {FormatSpeedup(figures.speedup_compile), SpeedupStyle(figures.speedup_compile)}});
  std::string text = table.Render(terminal);
  if (!figures.compile_ms && !figures.compile.failure.empty())
    text += fmt::format("torch.compile was not measured: {}\n", SafeLine(figures.compile.failure));
  if (figures.kernels_ms) {
    text += fmt::format(
        "error of the results {:.1e} (Torch's own {:.1e}, allowed {:.1e}), against {}\n",
        figures.error, figures.eager_error, figures.limit, figures.reference);
    text += fmt::format("first call {:.2f} s (eager {:.2f} s), peak memory {} (eager {})\n",
                        figures.first_call_kernels, figures.first_call_eager,
                        Mebibytes(figures.peak_kernels), Mebibytes(figures.peak_eager));
    for (const auto& [kernel, why] : figures.slow_launches)
      text += fmt::format("{} is launched kernel by kernel: {}\n", SafeLine(kernel), SafeLine(why));
  }
  return text;
}

void WriteInterval(JsonWriter& writer, std::string_view name,
                   const std::optional<Interval>& interval) {
  writer.Key(name);
  if (!interval) {
    writer.Null();
    return;
  }
  writer.BeginObject().Field("median", interval->median);
  writer.Field("ci95", std::vector<double>{interval->low, interval->high}).EndObject();
}

void WriteTexts(JsonWriter& writer, std::string_view name,
                const std::map<std::string, std::string>& texts) {
  writer.Key(name).BeginObject();
  for (const auto& [key, text] : texts) writer.Field(key, text);
  writer.EndObject();
}

void WriteRow(JsonWriter& writer, const ModelRow& row) {
  writer.BeginObject().Field("name", row.name).Field("class", row.kind).Field("path", row.path);
  writer.Field("uses", row.uses)
      .Field("compiled", row.compiled)
      .Field("operators", row.operators)
      .Field("share", row.share);
  WriteInterval(writer, "speedup", row.speedup);
  WriteInterval(writer, "whole", row.whole);
  writer.Field("outcome", row.outcome).Field("runs", row.runs).EndObject();
}

void WriteFigures(JsonWriter& writer, const ModelFigures& figures) {
  writer.BeginObject();
  WriteInterval(writer, "kernels_ms", figures.kernels_ms);
  WriteInterval(writer, "compiled_kernels_ms", figures.compiled_kernels_ms);
  writer.Field("compiled_kernels_mode", figures.compiled_kernels.mode);
  writer.Field("compiled_kernels_failure", figures.compiled_kernels.failure);
  writer.Field("compiled_is_faster", figures.compiled_is_faster);
  WriteInterval(writer, "eager_ms", figures.eager_ms);
  WriteInterval(writer, "compile_ms", figures.compile_ms);
  writer.Field("compile_mode", figures.compile.mode);
  WriteTexts(writer, "compile_tried", figures.compile.tried);
  WriteTexts(writer, "compiled_kernels_tried", figures.compiled_kernels.tried);
  writer.Field("compile_failure", figures.compile.failure);
  writer.Key("speedup").BeginObject();
  WriteInterval(writer, "eager", figures.speedup_eager);
  WriteInterval(writer, "compile", figures.speedup_compile);
  writer.EndObject().Field("rounds", figures.rounds);
  WriteTexts(writer, "slow_launches", figures.slow_launches);
  writer.Key("error").BeginObject().Field("rel_l2", figures.error);
  writer.Field("honest_rel_l2", figures.eager_error).Field("limit", figures.limit);
  writer.Field("reference", figures.reference).EndObject();
  writer.Key("first_call_s").BeginObject().Field("kernels", figures.first_call_kernels);
  writer.Field("eager", figures.first_call_eager).EndObject();
  writer.Key("peak_bytes").BeginObject().Field("kernels", figures.peak_kernels);
  writer.Field("eager", figures.peak_eager).EndObject().EndObject();
}

}  // namespace

std::string ModelPartsText(const Terminal& terminal, const ModelReport& report) {
  std::string text =
      fmt::format("{}: {}, {} parameters, {} operators in {} of {:.{}f} ms, {}\n", report.name,
                  report.kind, FormatCount(report.parameters), report.operators,
                  report.calls > 1 ? fmt::format("{} calls", report.calls) : std::string("a call"),
                  1e3 * report.seconds, report.seconds < 0.01 ? 2 : 0,
                  report.gpu.empty() ? fmt::format("{} threads", report.threads) : report.gpu);
  Table table({{.title = "part"},
               {.title = "class"},
               {.title = "where", .shrinks = true},
               {.title = "operators", .align = Align::kRight},
               {.title = "of the time", .align = Align::kRight},
               {.title = "at most", .align = Align::kRight}});
  for (const ModelRow& row : report.parts) {
    const double most = 1 / std::max(1e-3, 1 - row.share);
    table.Add({{row.name},
               {SafeLine(row.kind)},
               {SafeLine(WhereText(row))},
               {fmt::format("{}", row.operators)},
               {Percent(row.share)},
               {most > 100 ? "any" : fmt::format("{:.2f}x", most)}});
  }
  if (!table.empty()) text += table.Render(terminal);
  text += LeftText(report);
  text += fmt::format(
      "the parts take {} of the time; \"at most\" is the gain if a part took no time at all\n",
      Percent(SharedByParts(report)));
  return text;
}

std::string ModelText(const Terminal& terminal, const ModelReport& report) {
  Table table({{.title = "part"},
               {.title = "class"},
               {.title = "where", .shrinks = true},
               {.title = "of the time", .align = Align::kRight},
               {.title = "part vs eager [95 %]", .align = Align::kRight},
               {.title = "whole with it [95 %]", .align = Align::kRight},
               {.title = "outcome", .shrinks = true}});
  for (const ModelRow& row : report.parts) {
    const bool kept = row.outcome == "kept";
    table.Add({{row.name, kept ? Style::kBold : Style::kPlain},
               {SafeLine(row.kind)},
               {SafeLine(WhereText(row))},
               {Percent(row.share)},
               {FormatSpeedup(row.speedup), SpeedupStyle(row.speedup)},
               {FormatSpeedup(row.whole), SpeedupStyle(row.whole)},
               {SafeLine(row.outcome), kept ? Style::kGood : Style::kDim}});
  }
  std::string text = table.empty() ? "" : table.Render(terminal);
  text += LeftText(report);
  if (report.figures) text += "\n" + FiguresText(terminal, *report.figures, report.calls);
  if (report.folder.empty())
    return text + "no kernel makes the whole model faster; nothing was written\n";
  const bool compiled = report.figures && report.figures->compiled_is_faster;
  return text +
         fmt::format(
             "\nwritten to {0}:\n  import pragma_kernels as pk\n  pk.apply(model, \"{0}\")\n{1}",
             report.folder, compiled ? CompileLine(report.figures->compiled_kernels.mode) : "");
}

std::string ModelObject(const ModelReport& report) {
  JsonWriter writer;
  writer.BeginObject().Field("schema", 1);
  writer.Key("model").BeginObject().Field("name", report.name).Field("class", report.kind);
  writer.Field("parameters", report.parameters).Field("operators", report.operators);
  writer.Field("calls", report.calls).Field("seconds", report.seconds).EndObject();
  writer.Key("environment").BeginObject().Field("cpu", report.cpu);
  writer.Field("gpu", report.gpu);
  writer.Field("threads", report.threads).Field("torch", report.torch).EndObject();
  writer.Key("parts").BeginArray();
  for (const ModelRow& row : report.parts) WriteRow(writer, row);
  writer.EndArray().Key("left").BeginArray();
  for (const ModelLeftRow& left : report.left) {
    writer.BeginObject().Field("path", left.path).Field("uses", left.uses);
    writer.Field("class", left.kind);
    writer.Field("share", left.share).Field("why", left.why).EndObject();
  }
  writer.EndArray().Key("whole");
  if (report.figures) {
    WriteFigures(writer, *report.figures);
  } else {
    writer.Null();
  }
  writer.Field("folder", report.folder).EndObject();
  return writer.Take();
}

PageContent ModelPageContent(const ModelReport& report) {
  JsonWriter writer;
  writer.BeginObject().Field("kind", "model").Field("schema", 1).Field("name", report.name);
  writer.Key("result").Raw(ModelObject(report)).EndObject();
  return {.title = "model " + report.name, .json = writer.Take()};
}

}  // namespace pragma
