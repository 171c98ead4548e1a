// Turns counted values into metrics, with notes about any doubts.
#include "profile/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "core/profile.h"
#include "profile/formula.h"

namespace pragma {
namespace {

// Minimum share of the time for which an event must have been counted. A value below it is dropped
// instead of scaled up.
constexpr double kLeastRunning = 0.25;
// Tolerance on the sum of the slot shares, which should be 1.
constexpr double kSlack = 0.03;
// Relative difference between the counted cycles and those of the clock, above which the run counts
// as disturbed.
constexpr double kClockSlack = 0.15;

using Values = std::map<std::string, double>;  // per call, by event name

struct Collected {
  std::map<std::string, Values> groups;
  std::vector<std::string> doubts;
  int error = 0;  // errno of the first event that did not open
};

// Scales the value to the whole time. If that would be guessing, it returns nullopt and notes the
// doubt.
std::optional<double> Scaled(const CounterValue& counted, const std::string& name, Collected& all) {
  if (counted.error != 0) {
    if (all.error == 0) all.error = counted.error;
    return std::nullopt;
  }
  if (counted.running_ns <= 0 || counted.running_ns < kLeastRunning * counted.enabled_ns) {
    all.doubts.push_back(fmt::format(
        "{} was counted {:.0f} % of the time only (another user of the counters; "
        "kernel.nmi_watchdog=0 frees one)",
        name, counted.enabled_ns > 0 ? 100 * counted.running_ns / counted.enabled_ns : 0));
    return std::nullopt;
  }
  return counted.value * std::max(counted.enabled_ns / counted.running_ns, 1.0);
}

const CounterGroup* FindGroup(const CounterPlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.groups, name, &CounterGroup::name);
  return found == plan.groups.end() ? nullptr : &*found;
}

// Compares the cycles of a single thread with the clock frequency.
void HoldAgainstClock(const CounterReading& reading, const Values& values, double core_ghz,
                      Collected& all) {
  const auto cycles = values.find("cycles");
  if (cycles == values.end() || core_ghz <= 0 || reading.wall_seconds <= 0) return;
  const double expected = reading.wall_seconds / reading.calls * core_ghz * 1e9;
  const double ratio = cycles->second / expected;
  if (std::abs(ratio - 1) <= kClockSlack) return;
  all.doubts.push_back(
      fmt::format("noisy: the cycles of group {} are {:.2f} of wall time x {:.2f} GHz",
                  reading.group, ratio, core_ghz));
}

Collected Collect(const CounterPlan& plan, const std::vector<CounterReading>& readings,
                  double core_ghz) {
  Collected all;
  for (const CounterReading& reading : readings) {
    const CounterGroup* group = FindGroup(plan, reading.group);
    if (group == nullptr || !(reading.calls > 0)) continue;
    Values& values = all.groups[reading.group];
    for (std::size_t i = 0; i < std::min(group->events.size(), reading.values.size()); ++i) {
      const std::string& name = group->events[i].name;
      if (const auto value = Scaled(reading.values[i], name, all))
        values[name] = *value / reading.calls;
    }
    HoldAgainstClock(reading, values, core_ghz, all);
  }
  return all;
}

std::optional<double> Find(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional<double>(found->second);
}

std::optional<double> Compute(const CounterFormula& formula, const Collected& all) {
  const auto own = all.groups.find(formula.group);
  if (own == all.groups.end()) return std::nullopt;
  return Evaluate(formula.formula, [&](const std::string& name) {
    std::optional<double> value = Find(own->second, name);
    for (auto other = all.groups.begin(); !value && other != all.groups.end(); ++other)
      value = Find(other->second, name);
    return value;
  });
}

bool IsTopdown(std::string_view tag) { return tag.starts_with("topdown_"); }

double Sum(const std::vector<Metric>& metrics) {
  double sum = 0;
  for (const Metric& metric : metrics) {
    const bool counts = metric.tag == "topdown_frontend_bound" ||
                        metric.tag == "topdown_bad_speculation" ||
                        metric.tag == "topdown_backend_bound" || metric.tag == "topdown_retiring" ||
                        metric.tag == "topdown_smt_contention";
    if (counts) sum += metric.value;
  }
  return sum;
}

// If the shares contradict each other they are not evidence, and all of them are dropped.
void CheckShares(CounterOutcome& outcome, std::vector<std::string>& doubts) {
  const auto& metrics = outcome.metrics;
  const bool any = std::ranges::any_of(metrics, [](const auto& m) { return IsTopdown(m.tag); });
  if (!any) return;
  const bool outside = std::ranges::any_of(metrics, [](const Metric& m) {
    return IsTopdown(m.tag) && (m.value < -kSlack || m.value > 1 + kSlack);
  });
  const double sum = Sum(metrics);
  if (!outside && std::abs(sum - 1) <= kSlack) {
    for (Metric& metric : outcome.metrics) {
      if (IsTopdown(metric.tag)) metric.value = std::clamp(metric.value, 0.0, 1.0);
    }
    return;
  }
  doubts.push_back(fmt::format("the top-down shares sum to {:.2f}{}: left out", sum,
                               outside ? " and lie outside 0 to 1" : ""));
  std::erase_if(outcome.metrics, [](const Metric& m) { return IsTopdown(m.tag); });
}

bool Given(const CounterOutcome& outcome, const std::string& tag) {
  return std::ranges::find(outcome.metrics, tag, &Metric::tag) != outcome.metrics.end();
}

template <class T>
bool Take(std::string_view& text, T& value) {
  text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  return text.empty() || text.front() == ' ';
}

}  // namespace

Result<std::vector<CounterValue>> ParseCounterValues(std::string_view text) {
  constexpr std::size_t kMost = 64;
  std::vector<CounterValue> values;
  for (const std::string& line : SplitLines(text)) {
    std::string_view rest = Trim(line);
    if (rest.empty()) continue;
    CounterValue value;
    const bool read = Take(rest, value.value) && Take(rest, value.enabled_ns) &&
                      Take(rest, value.running_ns) && Take(rest, value.error) && rest.empty();
    const bool sane = read && std::isfinite(value.value) && std::isfinite(value.enabled_ns) &&
                      std::isfinite(value.running_ns) && value.value >= 0;
    if (!sane || values.size() == kMost)
      return Fail("a line of counter values cannot be read: " + Shorten(ToValidUtf8(line), 80));
    values.push_back(value);
  }
  return values;
}

CounterOutcome CounterMetrics(const CounterPlan& plan, const std::vector<CounterReading>& readings,
                              double core_ghz) {
  Collected all = Collect(plan, readings, core_ghz);
  CounterOutcome outcome;
  outcome.note = {.name = "counters", .verdict = "ran", .detail = {}, .seconds = 0};
  for (const CounterFormula& formula : plan.formulas) {
    if (Given(outcome, formula.tag)) continue;
    if (const auto value = Compute(formula, all))
      outcome.metrics.push_back({formula.tag, *value, formula.unit, "pmu"});
  }
  CheckShares(outcome, all.doubts);
  if (outcome.metrics.empty() && all.doubts.empty()) {
    outcome.note = CounterRefusal(all.error == 0 ? ENOENT : all.error, PerfEventParanoid());
  } else if (outcome.metrics.empty()) {
    outcome.note.verdict = "failed";
  }
  if (outcome.note.detail.empty()) outcome.note.detail = Join(all.doubts, "; ");
  for (const CounterReading& reading : readings) outcome.note.seconds += reading.wall_seconds;
  return outcome;
}

}  // namespace pragma
