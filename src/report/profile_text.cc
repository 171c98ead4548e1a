#include "report/profile_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/metric_table.h"
#include "core/profile.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

constexpr std::size_t kBarWidth = 40;

std::string Bar(const Terminal& terminal, double share) {
  const double kept = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(std::lround(kept * kBarWidth));
  std::string bar;
  for (std::size_t i = 0; i < kBarWidth; ++i) {
    if (terminal.unicode) {
      bar += i < full ? "█" : "░";
    } else {
      bar += i < full ? '#' : '.';
    }
  }
  return bar;
}

std::string RoofLine(const Terminal& terminal, std::string_view name,
                     const std::optional<double>& share) {
  if (!share) return {};
  return fmt::format("  {:<22} {} {:>5.1f} %\n", name, Bar(terminal, *share), *share * 100);
}

std::optional<double> ValueOf(const Profile& profile, std::string_view tag) {
  const Metric* metric = profile.Find(tag);
  return metric == nullptr ? std::nullopt : std::optional(metric->value);
}

std::string RoofText(const Terminal& terminal, const Profile& profile) {
  std::string text = RoofLine(terminal, "arithmetic peak", ValueOf(profile, "compute_share")) +
                     RoofLine(terminal, "compulsory bytes", ValueOf(profile, "bandwidth_share")) +
                     RoofLine(terminal, "L2 to L1 traffic", ValueOf(profile, "l2_traffic_share")) +
                     RoofLine(terminal, "L3 to L2 traffic", ValueOf(profile, "l3_traffic_share")) +
                     RoofLine(terminal, "memory traffic", ValueOf(profile, "dram_traffic_share"));
  if (text.empty()) return {};
  return Styled(terminal, Style::kBold, "Share of what this machine was measured to do") + "\n" +
         text + "\n";
}

std::string DiagnosisText(const Terminal& terminal, const std::vector<Diagnosis>& diagnosis) {
  std::string text = Styled(terminal, Style::kBold, "Diagnosis") + "\n";
  if (diagnosis.empty())
    return text + "  no known bottleneck explains a notable share of the time\n\n";
  int rank = 1;
  for (const Diagnosis& one : diagnosis) {
    text += fmt::format("  {}. {}", rank++, Styled(terminal, Style::kWarn, one.bottleneck));
    if (one.score > 0) {
      text += fmt::format("  explains {:.0f} % of the time; without it up to {:.2g}x",
                          one.score * 100, one.predicted_speedup);
    }
    if (one.line > 0) text += fmt::format("  (kernel.cpp:{})", one.line);
    text += "\n";
    for (const std::string& evidence : one.evidence) text += "     " + SafeLine(evidence) + "\n";
    text += "     " + Styled(terminal, Style::kGood, "do: ") + SafeLine(one.action) + "\n";
  }
  return text + "\n";
}

std::string HotText(const Terminal& terminal, const std::vector<HotSpot>& hot) {
  if (hot.empty()) return {};
  const bool lines = hot.front().line > 0;
  std::string text = Styled(terminal, Style::kBold, lines ? "Hot lines" : "Kernels") + "\n";
  for (const HotSpot& spot : hot) {
    const std::string place =
        spot.line > 0 ? fmt::format("{}:{}", spot.file, spot.line) : spot.file;
    text +=
        fmt::format("  {:>5.1f} %  {}  {}\n", spot.percent, SafeLine(place), SafeLine(spot.text));
    if (!spot.remark.empty())
      text += "           " + Styled(terminal, Style::kDim, SafeLine(spot.remark)) + "\n";
  }
  return text + "\n";
}

bool Shown(const Metric& metric, const MetricTable& metrics, const ProfileTextOptions& options) {
  const MetricDefinition* known = metrics.Find(metric.tag);
  return options.all_metrics || (known != nullptr && known->report) ||
         std::ranges::find(options.extra_metrics, metric.tag) != options.extra_metrics.end();
}

std::string MetricsText(const Terminal& terminal, const Profile& profile,
                        const MetricTable& metrics, const ProfileTextOptions& options) {
  Table table(
      {{.title = "metric"}, {.title = "value", .align = Align::kRight}, {.title = "source"}});
  for (const Metric& metric : profile.metrics) {
    if (!Shown(metric, metrics, options)) continue;
    table.Add({{.text = metric.tag},
               {.text = FormatMetric(metric, metrics)},
               {.text = metric.source, .style = Style::kDim}});
  }
  std::string text = table.empty() ? "" : table.Render(terminal) + "\n";
  for (const std::string& tag : options.extra_metrics) {
    if (profile.Find(tag) == nullptr)
      text += SafeLine(tag) + ": not known here; the sources are listed below\n";
  }
  return text;
}

std::string NotesText(const Terminal& terminal, const std::vector<ProviderNote>& notes) {
  std::string text = Styled(terminal, Style::kBold, "Sources") + "\n";
  for (const ProviderNote& note : notes) {
    const Style style = note.verdict == "ran" ? Style::kGood : Style::kWarn;
    text += fmt::format("  {:<10} {}{}{}\n", note.name, Styled(terminal, style, note.verdict),
                        note.seconds > 0 ? fmt::format(" ({:.2f} s)", note.seconds) : "",
                        note.detail.empty() ? "" : ": " + SafeLine(note.detail));
  }
  return text;
}

}  // namespace

std::string FormatMetric(const Metric& metric, const MetricTable& metrics) {
  const MetricDefinition* known = metrics.Find(metric.tag);
  if (known != nullptr && known->percent) return fmt::format("{:.3g} %", metric.value * 100);
  const std::string unit = metric.unit == "1" ? "" : " " + metric.unit;
  if (metric.unit == "B") return FormatBytes(metric.value);
  return FormatCount(metric.value) + unit;
}

std::string ProfileText(const Terminal& terminal, const Profile& profile,
                        const MetricTable& metrics, const ProfileTextOptions& options) {
  return DiagnosisText(terminal, profile.diagnosis) + RoofText(terminal, profile) +
         HotText(terminal, profile.hot) + MetricsText(terminal, profile, metrics, options) +
         NotesText(terminal, profile.providers);
}

}  // namespace pragma
