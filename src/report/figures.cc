#include "report/figures.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/spent.h"
#include "core/status.h"
#include "core/timing.h"
#include "report/terminal.h"

namespace pragma {
namespace {

struct Unit {
  std::string_view name;
  double per_millisecond;
};

Unit UnitOf(double milliseconds) {
  const double magnitude = std::abs(milliseconds);
  if (magnitude < 1e-3) return {"ns", 1e6};
  if (magnitude < 1) return {"us", 1e3};
  if (magnitude < 1e3) return {"ms", 1};
  return {"s", 1e-3};
}

int Decimals(double value) { return value >= 100 ? 0 : value >= 10 ? 1 : 2; }

}  // namespace

std::string FormatMillis(const Interval& milliseconds) {
  const Unit unit = UnitOf(milliseconds.median);
  const int decimals = Decimals(milliseconds.median * unit.per_millisecond);
  return fmt::format("{:.{}f} {} [{:.{}f}, {:.{}f}]", milliseconds.median * unit.per_millisecond,
                     decimals, unit.name, milliseconds.low * unit.per_millisecond, decimals,
                     milliseconds.high * unit.per_millisecond, decimals);
}

std::string CompileText(const std::string& mode) {
  return mode.empty() || mode == "default" ? "torch.compile"
                                           : fmt::format("torch.compile ({})", mode);
}

std::string FormatSpeedup(const std::optional<Interval>& speedup) {
  if (!speedup) return "-";
  const int decimals = Decimals(speedup->median);
  return fmt::format("{:.{}f}x [{:.{}f}, {:.{}f}]", speedup->median, decimals, speedup->low,
                     decimals, speedup->high, decimals);
}

std::string Disagreement(const std::optional<Interval>& search,
                         const std::optional<Interval>& again) {
  if (!search || !again || Overlap(*search, *again)) return "";
  return fmt::format(
      "{} now and {} in the search disagree beyond their intervals: both figures are noisy",
      FormatSpeedup(again), FormatSpeedup(search));
}

Style SpeedupStyle(const std::optional<Interval>& speedup) {
  if (!speedup) return Style::kDim;
  if (speedup->low > 1) return Style::kGood;
  return speedup->high < 1 ? Style::kBad : Style::kPlain;
}

std::string FormatElapsed(double seconds) {
  if (seconds < 100) return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 1 : 0);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

std::string FormatCount(std::int64_t count) {
  const auto value = static_cast<double>(count);
  if (count < 1000) return fmt::format("{}", count);
  if (count < 1'000'000) return fmt::format("{:.{}f}k", value / 1e3, count < 100'000 ? 1 : 0);
  return fmt::format("{:.1f}M", value / 1e6);
}

std::string FormatMoney(double usd) {
  if (usd <= 0) return "-";
  return fmt::format("${:.{}f}", usd, usd < 0.1 ? 4 : 2);
}

std::string FormatSpent(const Spent& spent) {
  std::string text = FormatElapsed(spent.seconds);
  if (spent.tokens() > 0) text += fmt::format(", {} tokens", FormatCount(spent.tokens()));
  if (spent.tokens_cached > 0)
    text += fmt::format(" ({} read from the cache of prompts)", FormatCount(spent.tokens_cached));
  if (spent.usd > 0) text += ", " + FormatMoney(spent.usd);
  if (spent.usd_saved > 0)
    text += fmt::format(" ({} saved by the cache)", FormatMoney(spent.usd_saved));
  return text;
}

Style StatusStyle(Status status) { return status == Status::kPassed ? Style::kGood : Style::kBad; }

}  // namespace pragma
