#include "agent/describe_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/metric_table.h"
#include "core/profile.h"
#include "knowledge/entry.h"

namespace pragma {
namespace {

constexpr std::size_t kTextBytes = 200;

std::string ValueText(const Metric& metric) {
  return FormatCount(metric.value) + (metric.unit == "1" ? "" : " " + metric.unit);
}

// Returns the ratio as "2.1x" or "0.67x", or "same" for a change of less than 2 %. The result is
// empty if the values are not comparable.
std::string Change(double now, double best) {
  if (best == 0 || now == 0) return now == best ? "same" : "";
  const double factor = now / best;
  if (std::abs(factor - 1) < 0.02) return "same";
  return fmt::format("{:.3g}x", factor);
}

std::string Table(const ProfileShown& shown) {
  const bool compare = shown.best != nullptr && shown.best != shown.current;
  std::string text = compare ? "| metric | this version | best version | change | source |\n"
                               "|---|---|---|---|---|\n"
                             : "| metric | this version | source |\n|---|---|---|\n";
  for (const std::string& tag : ShownTags(shown)) {
    const Metric& metric = *shown.current->Find(tag);
    text += fmt::format("| {} | {} |", tag, ValueText(metric));
    if (compare) {
      const Metric* best = shown.best->Find(tag);
      text += best == nullptr
                  ? " not known | |"
                  : fmt::format(" {} | {} |", ValueText(*best), Change(metric.value, best->value));
    }
    text += fmt::format(" {} |\n", metric.source);
  }
  return text;
}

std::string DiagnosisList(const std::vector<Diagnosis>& diagnosis) {
  if (diagnosis.empty()) return "No known bottleneck explains a notable share of the time.\n";
  std::string text;
  int rank = 1;
  for (const Diagnosis& one : diagnosis) {
    text += fmt::format("{}. **{}**", rank++, one.bottleneck);
    if (one.score > 0) {
      text += fmt::format(": can explain {:.0f} % of the time (up to {:.2g}x as fast without it)",
                          one.score * 100, one.predicted_speedup);
    }
    if (one.line > 0) text += fmt::format(", line {}", one.line);
    text += "\n";
    for (const std::string& evidence : one.evidence)
      text += "   - evidence: " + ToValidUtf8(evidence) + "\n";
    text += "   - remedy: " + one.action + "\n";
  }
  return text;
}

// Returns the first line of `text`, shortened at its end.
std::string Line(std::string_view text) {
  const std::string_view line = Trim(text.substr(0, text.find('\n')));
  return line.size() <= kTextBytes ? std::string(line)
                                   : ToValidUtf8(line.substr(0, kTextBytes)) + " ...";
}

std::string HotList(const std::vector<HotSpot>& hot) {
  std::string text;
  for (const HotSpot& spot : hot) {
    // A hot spot on a GPU is a whole kernel and has no line.
    const std::string place = spot.line > 0 ? fmt::format("line {}: ", spot.line) : "";
    text += fmt::format("- {:.0f} %: {}`{}`", spot.percent, place, Line(spot.text));
    if (!spot.remark.empty())
      text += fmt::format(" ({}{})", spot.line > 0 ? "compiler: " : "", Line(spot.remark));
    text += "\n";
  }
  return text;
}

bool Quiet(const Metric& metric, const MetricTable& metrics) {
  const MetricDefinition* known = metrics.Find(metric.tag);
  return metric.value == 0 && known != nullptr && known->quiet_at_zero;
}

}  // namespace

std::vector<std::string> ShownTags(const ProfileShown& shown) {
  std::vector<std::string> tags;
  if (shown.current == nullptr) return tags;
  const auto add = [&](std::string_view tag) {
    const Metric* metric = shown.current->Find(tag);
    if (metric == nullptr) return;
    const Metric* best = shown.best == nullptr ? nullptr : shown.best->Find(tag);
    if (!Quiet(*metric, *shown.metrics) || (best != nullptr && best->value != 0))
      tags.emplace_back(tag);
  };
  for (const MetricDefinition* usual : shown.metrics->InPrompts()) add(usual->tag);
  for (const std::string& tag : shown.extra) {
    const bool new_one = std::ranges::find(tags, tag) == tags.end();
    if (new_one && shown.current->Find(tag) != nullptr) tags.push_back(tag);
  }
  return tags;
}

std::vector<std::string> OtherTags(const ProfileShown& shown) {
  std::vector<std::string> tags;
  if (shown.current == nullptr) return tags;
  const std::vector<std::string> known = ShownTags(shown);
  for (const Metric& metric : shown.current->metrics) {
    if (std::ranges::find(known, metric.tag) == known.end() && !Quiet(metric, *shown.metrics))
      tags.push_back(metric.tag);
  }
  return tags;
}

std::string ProfileInWords(const ProfileShown& shown) {
  if (shown.current == nullptr) return {};
  std::string text;
  if (!shown.current->judgement.empty())
    text += "Against the best version: " + shown.current->judgement + "\n\n";
  text += "## Diagnosis\n\n" + DiagnosisList(shown.current->diagnosis);
  text += "\n## Figures of one call\n\n" + Table(shown);
  if (shown.hot_lines && !shown.current->hot.empty())
    text += fmt::format("\n## {}\n\n{}",
                        shown.current->hot.front().line > 0 ? "Hottest lines" : "Longest kernels",
                        HotList(shown.current->hot));
  return text;
}

std::vector<std::string> TechniquesIn(std::string_view action) {
  constexpr std::string_view kPrefix = "technique.";
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  std::vector<std::string> names;
  for (std::size_t at = action.find(kPrefix); at != std::string_view::npos;
       at = action.find(kPrefix, at)) {
    at += kPrefix.size();
    const std::size_t end = std::min(action.find_first_not_of(kLetters, at), action.size());
    names.emplace_back(action.substr(at, end - at));
  }
  return names;
}

std::vector<std::string> NamedTechniques(const Profile& profile) {
  std::vector<std::string> names;
  for (const Diagnosis& diagnosis : profile.diagnosis)
    for (std::string& name : TechniquesIn(diagnosis.action))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return names;
}

namespace {

// Returns the language of the technique's code fragment, for its fence.
std::string_view FenceOf(const Entry& technique) {
  if (technique.IsFor("cuda")) return "cuda";
  return technique.IsFor("triton") ? "python" : "cpp";
}

}  // namespace

std::string TechniqueInWords(const Entry& technique) {
  std::string text = fmt::format("`{}`: {} {}", technique.id, technique.summary, technique.how);
  if (!technique.traps.empty()) text += " Traps: " + technique.traps;
  if (!technique.fragment.empty())
    text += fmt::format("\n\n```{}\n{}\n```", FenceOf(technique), Trim(technique.fragment));
  return text;
}

}  // namespace pragma
