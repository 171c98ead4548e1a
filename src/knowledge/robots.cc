#include "knowledge/robots.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/text.h"

namespace pragma {
namespace {

constexpr std::size_t kMostRobotsBytes = std::size_t{500} << 10U;  // required by the standard
constexpr std::size_t kMostRules = 2000;
constexpr double kLongestDelay = 60;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

// Returns true if `rule` matches the beginning of `path`. "*" skips characters, and "$" at the end
// requires the end of the path. Each star is matched as early as possible, so this takes at most
// |rule| |path| steps.
bool Fits(std::string_view rule, std::string_view path) {
  const bool whole = rule.ends_with('$');
  if (whole) rule.remove_suffix(1);
  const std::vector<std::string> parts = Split(rule, '*');
  if (!path.starts_with(parts.front())) return false;
  std::size_t at = parts.front().size();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (last && whole) return path.size() >= at + parts[i].size() && path.ends_with(parts[i]);
    const std::size_t found = path.find(parts[i], at);
    if (found == std::string_view::npos) return false;
    at = found + parts[i].size();
  }
  return !whole || at == path.size();
}

struct Line {
  std::string key;
  std::string value;
};

std::optional<Line> LineOf(std::string_view text) {
  text = text.substr(0, text.find('#'));
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return Line{Lower(Trim(text.substr(0, colon))), std::string(Trim(text.substr(colon + 1)))};
}

void Apply(const Line& line, Robots& robots) {
  if (line.key == "crawl-delay") {
    double seconds = 0;
    const char* end = line.value.data() + line.value.size();
    if (std::from_chars(line.value.data(), end, seconds).ec == std::errc() && seconds >= 0) {
      robots.delay = Seconds(std::min(seconds, kLongestDelay));
    }
    return;
  }
  const bool allow = line.key == "allow";
  // An empty Disallow forbids nothing.
  if ((!allow && line.key != "disallow") || line.value.empty()) return;
  if (robots.rules.size() < kMostRules) robots.rules.push_back({line.value, allow});
}

}  // namespace

bool Robots::Allows(std::string_view path) const {
  std::size_t longest = 0;
  bool allowed = true;
  for (const RobotRule& rule : rules) {
    if (rule.path.size() < longest || !Fits(rule.path, path)) continue;
    allowed = rule.allow || (rule.path.size() == longest && allowed);
    longest = rule.path.size();
  }
  return allowed;
}

Robots ParseRobots(std::string_view text) {
  Robots everybody;
  Robots ours;
  bool named = false;    // true: a group applies to us
  bool heading = false;  // true: the previous line named a robot
  bool for_us = false;
  bool for_all = false;
  for (const std::string& raw : SplitLines(text.substr(0, kMostRobotsBytes))) {
    const std::optional<Line> line = LineOf(raw);
    if (!line) continue;
    if (line->key == "user-agent") {
      if (!heading) for_us = for_all = false;
      heading = true;
      for_us = for_us || Lower(line->value) == "pragma";
      for_all = for_all || line->value == "*";
      named = named || for_us;
      continue;
    }
    heading = false;
    if (for_us) Apply(*line, ours);
    if (for_all) Apply(*line, everybody);
  }
  return named ? ours : everybody;
}

}  // namespace pragma
