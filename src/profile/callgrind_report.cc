// Parses callgrind's file. "events:" names the columns and "summary:" has the totals. Below the
// "fl=", "fi=" and "fe=" lines, each line has a line number and its costs without trailing zeros.
#include <algorithm>
#include <array>
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

#include "base/text.h"
#include "profile/callgrind.h"
#include "profile/remark_list.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxEvents = 32;
constexpr int kMaxLine = 1 << 20;

using Field = double CallgrindCounts::*;
struct Event {
  std::string_view name;
  Field field;
};
constexpr std::array kEvents = {Event{"Ir", &CallgrindCounts::instructions},
                                Event{"Dr", &CallgrindCounts::loads},
                                Event{"Dw", &CallgrindCounts::stores},
                                Event{"D1mr", &CallgrindCounts::l1_load_misses},
                                Event{"D1mw", &CallgrindCounts::l1_store_misses},
                                Event{"DLmr", &CallgrindCounts::last_load_misses},
                                Event{"DLmw", &CallgrindCounts::last_store_misses},
                                Event{"Bc", &CallgrindCounts::branches},
                                Event{"Bcm", &CallgrindCounts::branch_mispredicts}};

// Estimates what misses and mispredictions cost in instructions. It serves only to rank lines.
double RoughCycles(const CallgrindLine& line) {
  return line.self.instructions + line.called_instructions + 10 * line.self.l1_misses() +
         100 * line.self.last_misses() + 10 * line.self.branch_mispredicts;
}

// Removes one number and the blanks before it from the front of `text`, and returns the number.
std::optional<double> TakeNumber(std::string_view& text) {
  text = Trim(text);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

class CallgrindReader final {
 public:
  void Add(std::string_view line) {
    if (line.starts_with("events:")) return ReadEvents(line.substr(7));
    if (line.starts_with("summary:")) {
      report_.total = Counts(line.substr(8));
      summed_ = true;
      return;
    }
    if (line.starts_with("fl=") || line.starts_with("fi=") || line.starts_with("fe=")) {
      own_ = IsKernelFile(Trim(line.substr(3)));
      return;
    }
    if (line.starts_with("calls=")) {
      called_ = true;
      return;
    }
    if (!line.empty() && line.front() >= '0' && line.front() <= '9') AddCost(line);
  }

  std::optional<CallgrindReport> Take() {
    if (!summed_) return std::nullopt;
    for (auto& [number, line] : lines_) report_.lines.push_back(line);
    std::ranges::stable_sort(report_.lines, [](const CallgrindLine& a, const CallgrindLine& b) {
      return RoughCycles(a) > RoughCycles(b);
    });
    return std::move(report_);
  }

 private:
  void ReadEvents(std::string_view names) {
    events_.clear();
    for (const std::string& name : Split(names, ' ')) {
      if (Trim(name).empty() || events_.size() >= kMaxEvents) continue;
      const auto known = std::ranges::find(kEvents, Trim(name), &Event::name);
      events_.push_back(known == kEvents.end() ? nullptr : known->field);
    }
  }

  [[nodiscard]] CallgrindCounts Counts(std::string_view text) const {
    CallgrindCounts counts;
    for (const Field field : events_) {
      const std::optional<double> value = TakeNumber(text);
      if (!value) break;
      if (field != nullptr) counts.*field = *value;
    }
    return counts;
  }

  // The line after "calls=" holds the inclusive costs of the callee, at the caller's line.
  void AddCost(std::string_view text) {
    const bool called = std::exchange(called_, false);
    const std::optional<double> number = TakeNumber(text);
    if (!own_ || !number || *number < 1 || *number > kMaxLine) return;
    const CallgrindCounts counts = Counts(text);
    CallgrindLine& line = lines_[static_cast<int>(*number)];
    line.line = static_cast<int>(*number);
    if (called) {
      line.called_instructions += counts.instructions;
      return;
    }
    for (const Event& event : kEvents) line.self.*event.field += counts.*event.field;
  }

  std::vector<Field> events_;
  std::map<int, CallgrindLine> lines_;
  CallgrindReport report_;
  bool own_ = false;
  bool called_ = false;
  bool summed_ = false;
};

}  // namespace

std::optional<CallgrindReport> ReadCallgrind(std::string_view text) {
  CallgrindReader reader;
  for (const std::string& line : SplitLines(text)) reader.Add(line);
  return reader.Take();
}

}  // namespace pragma
