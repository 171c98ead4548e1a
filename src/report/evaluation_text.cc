#include "report/evaluation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "core/timing.h"
#include "report/figures.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kDiagnostics = 8;  // number shown; the rest is counted
constexpr std::size_t kReasonBytes = 2000;

std::string Headline(const Terminal& terminal, const Task& task, const Candidate& candidate,
                     const Evaluation& evaluation) {
  std::string line =
      Styled(terminal, StatusStyle(evaluation.status), StatusName(evaluation.status));
  line += fmt::format("  {} ({})  kernel {}", task.name, task.category, candidate.id());
  if (evaluation.prepacked) line += "  prepacked";
  if (!evaluation.partly_checked.empty())
    line += ", partly checked: no time for " + Join(evaluation.partly_checked, ", ");
  return line + "\n";
}

std::string Mark(const Terminal& terminal, const Check& check) {
  const bool plain = !terminal.unicode;
  if (check.verdict == CheckVerdict::kPass)
    return Styled(terminal, Style::kGood, plain ? "ok " : "✓ ");
  if (check.verdict == CheckVerdict::kFail)
    return Styled(terminal, Style::kBad, plain ? "FAILED " : "✗ ");
  return Styled(terminal, Style::kDim, plain ? "- " : "· ");
}

constexpr std::size_t kChecksWidth = 90;  // on a wider terminal, or without a terminal

std::size_t WidthOf(const Terminal& terminal) {
  return terminal.width == 0 ? kChecksWidth : std::min(terminal.width, kChecksWidth);
}

constexpr std::size_t kChecksHang =
    4;  // columns by which the further lines of a detail are indented

// Returns a check with its detail, in lines of about the width.
std::string OtherCheck(const std::string& name, const std::string& detail, std::size_t width) {
  if (detail.empty()) return "  " + name + "\n";
  std::string text;
  for (const std::string& line : Wrapped(name + ": " + detail, width))
    text += std::string(text.empty() ? 2 : kChecksHang, ' ') + line + "\n";
  return text;
}

// Lists passed checks on shared lines, and every other check on its own line with its detail.
std::string ChecksText(const Terminal& terminal, const std::vector<Check>& checks) {
  std::string passed;
  std::string others;
  const std::size_t width = WidthOf(terminal);
  std::size_t used = 0;
  for (const Check& check : checks) {
    const std::string name = Mark(terminal, check) + SafeLine(check.name);
    if (check.verdict == CheckVerdict::kPass) {
      const std::size_t columns = DisplayWidth(SafeLine(check.name)) + 4;
      const bool fits = used + columns <= width;
      passed += (passed.empty() ? "" : fits ? "  " : "\n  ") + name;
      used = fits ? used + columns : columns;
    } else {
      others += OtherCheck(name, SafeLine(check.detail), width + kChecksHang);
    }
  }
  return (passed.empty() ? "" : "  " + passed + "\n") + others;
}

std::string DiagnosticsText(const Terminal& terminal, const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (std::size_t i = 0; i < diagnostics.size() && i < kDiagnostics; ++i) {
    const Diagnostic& d = diagnostics[i];
    text += fmt::format(
        "  {}:{}: {}: {}\n", SafeLine(d.file), d.line,
        Styled(terminal, d.severity == "error" ? Style::kBad : Style::kWarn, SafeLine(d.severity)),
        SafeLine(d.message));
    if (!d.source_line.empty()) {
      text += "    " + Styled(terminal, Style::kDim, SafeLine(d.source_line)) + "\n";
    }
  }
  if (diagnostics.size() > kDiagnostics) {
    text += fmt::format("  and {} more\n", diagnostics.size() - kDiagnostics);
  }
  return text;
}

std::string ErrorText(const ErrorFigures& error) {
  return fmt::format("max abs {:.2g}, max rel {:.2g}, rel. L2 {:.2g} (Torch's own: {:.2g})",
                     error.max_abs, error.max_rel, error.rel_l2, error.honest_rel_l2);
}

std::string PhasesText(const Evaluation& evaluation) {
  std::vector<std::string> parts;
  for (const char* phase : {"build", "load", "verify", "tune", "time"}) {
    const auto found = evaluation.phases_ms.find(phase);
    if (found == evaluation.phases_ms.end()) continue;
    parts.push_back(fmt::format("{} {}", phase, FormatSeconds(found->second / 1e3)));
  }
  return Join(parts, ", ");
}

std::string EnvironmentText(const Environment& environment) {
  std::vector<std::string> parts;
  const std::string& precision = environment.precision;
  for (const std::string& part :
       {environment.device, precision, environment.cpu, environment.compiler}) {
    if (!part.empty()) parts.push_back(part);
  }
  parts.push_back(
      fmt::format("{} thread{}", environment.threads, environment.threads == 1 ? "" : "s"));
  if (!environment.torch.empty()) parts.push_back("torch " + environment.torch);
  if (!environment.cache.empty()) parts.push_back(environment.cache + " cache");
  if (!environment.allocator.empty()) parts.push_back("allocator " + environment.allocator);
  return Join(parts, ", ");
}

std::string CallFacts(const CallFigures& call) {
  std::string text = "freed memory is kept";
  if (call.defaults) {
    text += fmt::format(
        "; with malloc's defaults ModelNew takes {} and {:.0f} page faults, Model {:.0f}",
        FormatMillis(call.defaults->timing.ms), call.defaults->page_faults,
        call.defaults->baseline_page_faults);
  }
  return call.trust.empty() ? text : text + "; trust " + SafeLine(call.trust);
}

std::string LoadText(const Load& load) {
  std::string text = fmt::format("{:.2f} processors, in {} of {} bursts", load.others,
                                 load.disturbed, load.bursts);
  if (load.steal >= 0.01) text += fmt::format(", {:.2f} taken by the hypervisor", load.steal);
  if (load.pressure) text += fmt::format(", pressure {:.0f} %", *load.pressure * 100);
  if (load.mhz_high > 0) text += fmt::format(", {:.0f} to {:.0f} MHz", load.mhz_low, load.mhz_high);
  if (load.rounds_left_out > 0)
    text += fmt::format(", {} of {} process pairs left out", load.rounds_left_out, load.rounds);
  if (load.waited_seconds > 0)
    text += fmt::format(", waited {}", FormatSeconds(load.waited_seconds));
  return text;
}

Facts FactsOf(const Task& task, const Evaluation& evaluation) {
  Facts facts;
  if (evaluation.call) facts.emplace_back("call", CallFacts(*evaluation.call));
  if (evaluation.error) facts.emplace_back("error", ErrorText(*evaluation.error));
  if (evaluation.official_correct) {
    facts.emplace_back("official rule", *evaluation.official_correct ? "correct" : "wrong");
  }
  if (!evaluation.nan.empty()) facts.emplace_back("NaN", SafeLine(Join(evaluation.nan, "; ")));
  if (evaluation.load) facts.emplace_back("other load", LoadText(*evaluation.load));
  if (evaluation.timing) {
    const Timing& timing = *evaluation.timing;
    facts.emplace_back("measured",
                       fmt::format("{} calls, {}", timing.samples, SafeLine(timing.method)));
  }
  if (!evaluation.phases_ms.empty()) facts.emplace_back("took", PhasesText(evaluation));
  facts.emplace_back("environment", EnvironmentText(evaluation.environment));
  if (task.mode_matters) facts.emplace_back("mode", std::string(task.mode()));
  if (!evaluation.environment.trust.empty()) {
    const std::string by = Join(evaluation.environment.protections, ", ");
    facts.emplace_back("trust", evaluation.environment.trust + (by.empty() ? "" : " (" + by + ")"));
  }
  if (!evaluation.seed.empty()) facts.emplace_back("seed", evaluation.seed);
  return facts;
}

void AddTime(Table& table, const std::string& name, const std::optional<Timing>& timing,
             const std::optional<Interval>& speedup) {
  if (!timing && !speedup) return;
  table.Add({{name},
             {timing ? FormatMillis(timing->ms) : "-"},
             {FormatSpeedup(speedup), SpeedupStyle(speedup)}});
}

// The call comes first, because it is what a user gains.
void AddCall(Table& table, const CallFigures& call) {
  const Interval& speedup = call.kept.speedup;
  table.Add({{"ModelNew called from Python", Style::kBold},
             {FormatMillis(call.kept.timing.ms), Style::kBold},
             {""}});
  table.Add({{fmt::format("  over Model, {}", SafeLine(call.over))},
             {FormatMillis(call.kept.baseline.ms)},
             {FormatSpeedup(speedup), SpeedupStyle(speedup)}});
  if (!call.defaults) return;
  const Interval& defaults = call.defaults->speedup;
  table.Add({{"  over Model, malloc's defaults"},
             {FormatMillis(call.defaults->baseline.ms)},
             {FormatSpeedup(defaults), SpeedupStyle(defaults)}});
}

std::string ShapesText(const Terminal& terminal, const std::vector<ShapeResult>& shapes) {
  if (shapes.empty()) return "";
  Table table({{.title = "shape"},
               {.title = "verdict"},
               {.title = "time [95 %]", .align = Align::kRight},
               {.title = "faster than eager by [95 %]", .align = Align::kRight}});
  for (const ShapeResult& shape : shapes) {
    table.Add({{SafeLine(shape.label) + (shape.held_out ? " (held out)" : "")},
               {std::string(StatusName(shape.status))},
               {shape.timing ? FormatMillis(shape.timing->ms) : "-"},
               {FormatSpeedup(shape.speedup_eager), SpeedupStyle(shape.speedup_eager)}});
  }
  return table.Render(terminal);
}

// Returns "compute bound, 14 % reached".
std::string RoofText(const Evaluation& evaluation) {
  const Roofline& roofline = *evaluation.roofline;
  return fmt::format("{} bound, {:.0f} % reached", roofline.compute_bound ? "compute" : "memory",
                     100 * roofline.ms / evaluation.timing->ms.median);
}

constexpr std::size_t kVariants = 10;  // number shown; the rest is counted

std::string VariantName(const TunedVariant& variant) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : variant.tunables)
    parts.push_back(fmt::format("{}={}", name, value));
  if (!variant.flags.empty()) parts.push_back(Join(variant.flags, " "));
  return SafeLine(Join(parts, " "));
}

// Lists the chosen variant, then the others, fastest first. Variants without a time come last.
std::string VariantsText(const Terminal& terminal, const Tuning& tuning) {
  std::vector<std::size_t> order(tuning.variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&tuning](std::size_t i) {
    const auto& ratio = tuning.variants[i].ratio;
    const double speed = i == 0 ? 1 : ratio ? ratio->median : 0;
    return std::pair(i == tuning.chosen, speed);
  });
  Table table({{.title = "variant"},
               {.title = "outcome", .shrinks = true},
               {.title = "faster than the default by [95 %]", .align = Align::kRight}});
  for (std::size_t rank = 0; rank < order.size() && rank < kVariants; ++rank) {
    const TunedVariant& variant = tuning.variants[order[rank]];
    const std::string outcome = order[rank] == tuning.chosen ? "chosen"
                                : variant.status != Status::kPassed
                                    ? std::string(StatusName(variant.status))
                                    : Shorten(variant.reason, 40);
    table.Add({{VariantName(variant) + (order[rank] == 0 ? " (default)" : "")},
               {SafeLine(outcome)},
               {FormatSpeedup(variant.ratio), SpeedupStyle(variant.ratio)}});
  }
  std::string text = table.Render(terminal);
  if (order.size() > kVariants) text += fmt::format("  and {} more\n", order.size() - kVariants);
  return text;
}

}  // namespace

std::string TimingText(const Terminal& terminal, const Evaluation& evaluation) {
  if (!evaluation.timing) return "";
  Table table({{.title = "per call"},
               {.title = "time [95 %]", .align = Align::kRight},
               {.title = "faster by [95 %]", .align = Align::kRight}});
  if (evaluation.call) AddCall(table, *evaluation.call);
  const std::string kernel = evaluation.call ? "kernel alone" : "kernel";
  table.Add({{evaluation.prepacked ? kernel + " (prepacked)" : kernel, Style::kBold},
             {FormatMillis(evaluation.timing->ms), Style::kBold},
             {""}});
  AddTime(table, "torch eager", evaluation.eager, evaluation.speedup_eager);
  AddTime(table, CompileText(evaluation.environment.compile_mode), evaluation.compile,
          evaluation.speedup_compile);
  AddTime(table, "best so far", std::nullopt, evaluation.speedup_best);
  if (evaluation.prepare_ms) {
    table.Add({{"prepare"}, {FormatSeconds(*evaluation.prepare_ms / 1e3)}, {""}});
  }
  if (evaluation.roofline)
    table.Add(
        {{"roofline"}, {FormatSeconds(evaluation.roofline->ms / 1e3)}, {RoofText(evaluation)}});
  return table.Render(terminal) + NoiseText(terminal, evaluation);
}

std::string NoiseText(const Terminal& terminal, const Evaluation& evaluation) {
  if (evaluation.noisy.empty()) return "";
  return OtherCheck(Styled(terminal, Style::kWarn, "noisy"), SafeLine(evaluation.noisy),
                    WidthOf(terminal)) +
         "  On a quiet machine the figures may differ; --quiet-wait 1m waits for one.\n";
}

std::string EvaluationText(const Terminal& terminal, const Task& task, const Candidate& candidate,
                           const Evaluation& evaluation) {
  std::string text = Headline(terminal, task, candidate, evaluation);
  if (!evaluation.reason.empty()) {
    text += "  " + SafeText(Shorten(Trim(evaluation.reason), kReasonBytes)) + "\n";
  }
  text += ChecksText(terminal, evaluation.checks);
  if (evaluation.status == Status::kCompileError) {
    text += DiagnosticsText(terminal, evaluation.diagnostics);
  }
  const std::string times = TimingText(terminal, evaluation);
  if (!times.empty()) text += "\n" + times;
  const std::string shapes = ShapesText(terminal, evaluation.shapes);
  if (!shapes.empty()) text += "\n" + shapes;
  if (evaluation.tuning && !evaluation.tuning->variants.empty())
    text += "\n" + VariantsText(terminal, *evaluation.tuning);
  return text + "\n" + RenderFacts(terminal, FactsOf(task, evaluation));
}

}  // namespace pragma
