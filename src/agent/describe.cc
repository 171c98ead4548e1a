#include "agent/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/evaluation.h"
#include "core/trial.h"

namespace pragma {
namespace {

constexpr std::size_t kMostDiagnostics = 8;
constexpr int kLastRank = 2;
constexpr std::size_t kReasonBytes = 1500;
constexpr std::size_t kChangeBytes = 300;
constexpr std::size_t kSourceLineBytes = 200;
constexpr std::size_t kShownVariants = 6;

// Removes what a terminal would interpret. A colour sequence is removed as a whole; tabs and line
// ends stay.
std::string Clean(std::string_view text) {
  std::string clean;
  const std::string valid = ToValidUtf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    if (byte == 0x1B && i + 1 < valid.size() && valid[i + 1] == '[') {
      i = valid.find_first_not_of("0123456789;?", i + 2);
      if (i == std::string::npos) break;
    } else if (byte >= 0x20 ? byte != 0x7F : (byte == '\n' || byte == '\t')) {
      clean += valid[i];
    }
  }
  return clean;
}

std::string Ratio(const Interval& ratio) {
  return fmt::format("{:.2f}x (95 % interval {:.2f}x to {:.2f}x)", ratio.median, ratio.low,
                     ratio.high);
}

std::string Milliseconds(double ms) { return FormatSeconds(ms * 1e-3); }

std::string Time(const Timing& timing) {
  return fmt::format("{} per call (95 % interval {} to {})", Milliseconds(timing.ms.median),
                     Milliseconds(timing.ms.low), Milliseconds(timing.ms.high));
}

std::string Index(const std::vector<std::int64_t>& at) {
  return fmt::format("[{}]", fmt::join(at, ", "));
}

void AddBaseline(std::string& text, std::string_view name, const std::optional<Timing>& timing,
                 const std::optional<Interval>& speedup) {
  if (timing) text += fmt::format("- {} takes {}", name, Time(*timing));
  if (timing && speedup) text += "; speedup of this version over it: " + Ratio(*speedup);
  if (!timing && speedup) text += fmt::format("- Speedup over {}: {}", name, Ratio(*speedup));
  if (timing || speedup) text += "\n";
}

std::string ErrorLine(const ErrorFigures& error) {
  std::string text = fmt::format(
      "Largest absolute error {:.3g}, largest relative error {:.3g}, relative L2 error {:.3g} "
      "(Torch's own float32 result: {:.3g})",
      error.max_abs, error.max_rel, error.rel_l2, error.honest_rel_l2);
  if (!error.output.empty()) text += fmt::format("; worst in `{}`", error.output);
  if (!error.at.empty()) text += " at index " + Index(error.at);
  return text + ".";
}

std::string Choices(const TunedVariant& variant) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : variant.tunables)
    parts.push_back(fmt::format("{}={}", name, value));
  if (!variant.flags.empty()) parts.push_back("flags " + Join(variant.flags, " "));
  return Join(parts, ", ");
}

// Says which values of its tunables the candidate has, and how the other measured variants
// performed.
std::string TuningLine(const Tuning& tuning) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < tuning.variants.size() && others.size() < kShownVariants; ++i) {
    const TunedVariant& variant = tuning.variants[i];
    if (i != tuning.chosen && variant.ratio)
      others.push_back(fmt::format("{}: {:.2f}x", Choices(variant), variant.ratio->median));
  }
  const TunedVariant& chosen = tuning.variants[tuning.chosen];
  std::string text = "- Its tunables were tuned to " + Choices(chosen);
  text += tuning.chosen == 0 || !chosen.ratio ? ", the default"
                                              : ", over the default's time " + Ratio(*chosen.ratio);
  return text + (others.empty() ? "" : "; others: " + Join(others, "; ")) + "\n";
}

std::string PassedVerdict(const Evaluation& evaluation) {
  std::string text = "Correct.";
  if (evaluation.prepacked) {
    text +=
        " Marked as prepacked (it uses pragma_prepare), so it does not count as a plain result.";
  }
  text += "\n";
  if (evaluation.timing) text += fmt::format("- This version takes {}\n", Time(*evaluation.timing));
  AddBaseline(text, "PyTorch (eager)", evaluation.eager, evaluation.speedup_eager);
  AddBaseline(text, "torch.compile", evaluation.compile, evaluation.speedup_compile);
  if (evaluation.speedup_best) {
    text += "- Against the best version before it: " + Ratio(*evaluation.speedup_best) + "\n";
  }
  if (evaluation.tuning && evaluation.tuning->chosen < evaluation.tuning->variants.size())
    text += TuningLine(*evaluation.tuning);
  if (evaluation.lower_bound_ms && evaluation.timing) {
    text +=
        fmt::format("- Moving the unavoidable bytes alone takes {}: {:.2f} of the present time\n",
                    Milliseconds(*evaluation.lower_bound_ms),
                    *evaluation.lower_bound_ms / evaluation.timing->ms.median);
  }
  if (evaluation.error) text += "- " + ErrorLine(*evaluation.error) + "\n";
  return std::string(Trim(text));
}

int Rank(const Diagnostic& diagnostic) {
  return diagnostic.severity == "error" ? 0 : diagnostic.severity == "warning" ? 1 : 2;
}

// Sorts errors first, then warnings, then notes. Within each kind the compiler's order is kept.
std::vector<const Diagnostic*> Ranked(const std::vector<Diagnostic>& diagnostics) {
  std::vector<const Diagnostic*> ranked;
  for (int rank = 0; rank <= kLastRank; ++rank) {
    for (const Diagnostic& diagnostic : diagnostics) {
      if (Rank(diagnostic) == rank) ranked.push_back(&diagnostic);
    }
  }
  return ranked;
}

std::string DiagnosticsText(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  std::size_t left = kMostDiagnostics;
  for (const Diagnostic* d : Ranked(diagnostics)) {
    if (left-- == 0) break;
    text += d->line > 0 ? fmt::format("{}:{}:{}: ", d->file, d->line, d->column) : "";
    text += fmt::format("{}: {}\n", d->severity, Shorten(d->message, kReasonBytes));
    if (!d->source_line.empty()) {
      text += fmt::format("    {}\n", Shorten(Trim(d->source_line), kSourceLineBytes));
    }
  }
  if (diagnostics.size() > kMostDiagnostics) {
    text += fmt::format("({} more)\n", diagnostics.size() - kMostDiagnostics);
  }
  return text;
}

std::string FailedVerdict(const Evaluation& evaluation, std::size_t log_bytes) {
  std::string text = fmt::format("Failed: `{}`. {}", StatusName(evaluation.status),
                                 Shorten(Clean(evaluation.reason), kReasonBytes));
  for (const Check& check : evaluation.checks) {
    if (check.verdict != CheckVerdict::kFail || check.detail.empty()) continue;
    if (evaluation.reason.find(check.detail) != std::string::npos) continue;
    text += fmt::format("\n- Check `{}` failed: {}", check.name,
                        Shorten(Clean(check.detail), kReasonBytes));
  }
  if (evaluation.error) text += "\n- " + ErrorLine(*evaluation.error);
  if (!evaluation.diagnostics.empty()) {
    text += "\n\nThe compiler said:\n\n" + Fenced(DiagnosticsText(evaluation.diagnostics), "text");
  } else if (log_bytes > 0 && !Trim(evaluation.log).empty()) {
    text += "\n\nLog:\n\n" + Fenced(Shorten(evaluation.log, log_bytes), "text");
  }
  return text;
}

}  // namespace

std::string Fenced(std::string_view text, std::string_view language) {
  const std::string clean = Clean(text);
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : clean) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}", fence, language, clean, clean.ends_with('\n') ? "" : "\n",
                     fence);
}

std::string TrialTitle(const Trial& trial) {
  std::string title = fmt::format("Attempt {}", trial.node);
  if (trial.parent > 0) title += fmt::format(", made from attempt {}", trial.parent);
  if (trial.best) title += ", the best when it was made";
  return title;
}

std::string Verdict(const Evaluation& evaluation, std::size_t log_bytes) {
  return evaluation.passed() ? PassedVerdict(evaluation) : FailedVerdict(evaluation, log_bytes);
}

std::string ShortVerdict(const Trial& trial) {
  const Evaluation& evaluation = trial.evaluation;
  std::string text;
  if (trial.advice && !trial.advice->change.empty()) {
    text = fmt::format("Change tried: {}\n\n", Shorten(Clean(trial.advice->change), kChangeBytes));
  }
  if (!evaluation.passed()) {
    return text + fmt::format("Failed: `{}`. {}", StatusName(evaluation.status),
                              Shorten(Clean(evaluation.reason), kChangeBytes));
  }
  text += "Correct";
  if (evaluation.timing) text += ", " + Milliseconds(evaluation.timing->ms.median) + " per call";
  if (evaluation.speedup_eager) {
    text += ", speedup over PyTorch (eager) " + Ratio(*evaluation.speedup_eager);
  }
  return text + ".";
}

}  // namespace pragma
