#include "machine/processors.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

// Returns the number in a file, or 0 if there is none. "max" and -1 count as none.
double NumberOf(const fs::path& path) {
  const Result<std::string> text = ReadFile(path);
  double number = 0;
  if (text) std::istringstream(*text) >> number;
  return std::max(number, 0.0);
}

// Reads cpu.max, "150000 100000".
double UnifiedQuota(const fs::path& group) {
  const Result<std::string> text = ReadFile(group / "cpu.max");
  double quota = 0;
  double period = 0;
  if (text && (std::istringstream(*text) >> quota >> period) && period > 0) return quota / period;
  return 0;
}

double FirstVersionQuota(const fs::path& group) {
  const double quota = NumberOf(group / "cpu.cfs_quota_us");
  const double period = NumberOf(group / "cpu.cfs_period_us");
  return period > 0 ? quota / period : 0;
}

// Returns the smallest quota on the way from a group up to the root of its hierarchy. A container
// sees its own group as the root, whatever the path says.
double SmallestQuota(const fs::path& root, const std::string& path,
                     double (*quota_of)(const fs::path&)) {
  double smallest = 0;
  fs::path group = fs::path(path).relative_path();
  while (true) {
    const double quota = quota_of(root / group);
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    if (group.empty()) return smallest;
    group = group.parent_path();
  }
}

double Smaller(double a, double b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

double ProcessorQuota(const fs::path& membership, const fs::path& root) {
  const Result<std::string> text = ReadFile(membership);
  double quota = 0;
  // A line is "0::/user.slice" in the unified hierarchy, and "4:cpu,cpuacct:/docker/1f" in another.
  for (const std::string& line : SplitLines(text.value_or(""))) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) quota = Smaller(quota, SmallestQuota(root, path, UnifiedQuota));
    if (!Holds(Split(controllers, ','), "cpu")) continue;
    for (const char* folder : {"cpu", "cpu,cpuacct"})
      quota = Smaller(quota, SmallestQuota(root / folder, path, FirstVersionQuota));
  }
  return quota;
}

int Processors::threads() const {
  constexpr double kRounding = 1e-6;  // a quota of 2 processors must not become 1.9999
  if (quota <= 0) return allowed;
  return std::clamp(static_cast<int>(std::floor(quota + kRounding)), 1, allowed);
}

std::string Processors::Text() const {
  const auto counted = [](int count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string text = counted(allowed, "processor");
  if (quota > 0 && quota < allowed)
    text += fmt::format(", of which the quota allows {:.3g}", quota);
  return text + ": " + counted(threads(), "thread");
}

Processors UsableProcessors() {
  Processors usable;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) usable.allowed = std::max(CPU_COUNT(&set), 1);
  usable.quota = ProcessorQuota("/proc/self/cgroup", "/sys/fs/cgroup");
  return usable;
}

}  // namespace pragma
