#include "profile/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "core/profile.h"
#include "profile/demangle.h"
#include "profile/metrics.h"

namespace pragma {
namespace {

constexpr double kLanes = 32;
// Allocation granularity of registers, warps and shared memory on a multiprocessor (the same for
// all from compute capability 7 on).
constexpr double kRegisterUnit = 256;
constexpr double kWarpUnit = 4;
constexpr double kSharedUnit = 128;
constexpr std::size_t kShownKernels = 8;
constexpr double kLargestFigure = 1e15;  // limit of any figure, so that sums of them stay finite

using Words = std::vector<std::string>;

// Returns the `count` words after the first as numbers.
Result<std::vector<double>> Numbers(const Words& words, std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t i = 1; i <= count; ++i) {
    char* end = nullptr;
    const double value = i < words.size() ? std::strtod(words[i].c_str(), &end) : -1;
    if (end == nullptr || *end != '\0' || !(value >= 0 && value <= kLargestFigure))
      return Fail("a profile's line cannot be read: " + Shorten(Join(words, " "), 100));
    numbers.push_back(value);
  }
  return numbers;
}

Result<Launch> ReadLaunch(const Words& words) {
  constexpr std::size_t kFigures = 8;
  const std::vector<double> n = TRY(Numbers(words, kFigures));
  const std::string name = Join(Words(words.begin() + kFigures + 1, words.end()), " ");
  return Launch{.kernel = Demangled(name),
                .ms = n[0],
                .grid = n[1],
                .block = n[2],
                .dynamic_shared = n[3],
                .static_shared = n[4],
                .registers = n[5],
                .local_bytes = n[6],
                .blocks_on_multiprocessor = n[7]};
}

double RoundUp(double value, double unit) { return std::ceil(value / unit) * unit; }

double SumOfMs(const CallLaunches& call) {
  double sum = 0;
  for (const Launch& launch : call.launches) sum += launch.ms;
  return sum;
}

void AddOccupancy(const Launch& launch, const MultiprocessorLimits& device, MetricSet& metrics) {
  if (device.threads <= 0 || launch.block <= 0) return;
  const BlockLimits limits = LimitsOf(launch, device);
  const auto add = [&](const char* tag, double value, const char* unit) {
    if (std::isfinite(value)) metrics.Add(tag, value, unit, "static");
  };
  add("gpu_limit_registers", limits.registers, "block");
  add("gpu_limit_shared", limits.shared, "block");
  add("gpu_limit_warps", limits.warps, "block");
  add("gpu_limit_blocks", limits.blocks, "block");
  const double fit =
      launch.blocks_on_multiprocessor > 0 ? launch.blocks_on_multiprocessor : limits.least();
  if (fit <= 0) return;
  const double warps = std::ceil(launch.block / kLanes);
  add("gpu_theoretical_occupancy", 100 * fit * warps / (device.threads / kLanes), "%");
  if (device.count > 0) add("gpu_waves", launch.grid / (fit * device.count), "1");
}

}  // namespace

Result<CallLaunches> ParseLaunches(std::string_view text) {
  CallLaunches call;
  bool ended = false;
  for (const std::string& line : SplitLines(text)) {
    const Words words = Split(line, ' ');
    if (words.front() == "device") {
      const std::vector<double> n = TRY(Numbers(words, 6));
      call.device = {.count = n[0],
                     .threads = n[1],
                     .blocks = n[2],
                     .registers = n[3],
                     .shared = n[4],
                     .reserved_shared = n[5]};
    } else if (words.front() == "call") {
      const std::vector<double> n = TRY(Numbers(words, 2));
      call.call_ms = n[0];
      call.count = n[1];
    } else if (words.front() == "launch") {
      call.launches.push_back(TRY(ReadLaunch(words)));
    }
    ended = words.front() == "end";
  }
  if (!ended) return Fail("the candidate ended before its launches were listed");
  return call;
}

const Launch* LongestLaunch(const CallLaunches& call) {
  const auto longest = std::ranges::max_element(call.launches, {}, &Launch::ms);
  return longest == call.launches.end() ? nullptr : &*longest;
}

double BlockLimits::least() const { return std::min({registers, shared, warps, blocks}); }

BlockLimits LimitsOf(const Launch& launch, const MultiprocessorLimits& device) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const double warps = std::ceil(launch.block / kLanes);
  BlockLimits limits{.registers = kNone, .shared = kNone, .warps = kNone, .blocks = kNone};
  if (device.registers > 0 && launch.registers > 0) {
    const double of_warp = RoundUp(launch.registers * kLanes, kRegisterUnit);
    const double fitting = std::floor(device.registers / kWarpUnit / of_warp) * kWarpUnit;
    limits.registers = std::floor(fitting / warps);
  }
  const double shared =
      RoundUp(launch.static_shared + launch.dynamic_shared + device.reserved_shared, kSharedUnit);
  if (device.shared > 0 && shared > 0) limits.shared = std::floor(device.shared / shared);
  if (device.threads > 0) limits.warps = std::floor(device.threads / kLanes / warps);
  if (device.blocks > 0) limits.blocks = device.blocks;
  return limits;
}

void AddLaunchMetrics(const CallLaunches& call, MetricSet& metrics) {
  metrics.Add("gpu_kernels", std::max(call.count, static_cast<double>(call.launches.size())), "1",
              "exact count");
  if (call.device.count > 0) metrics.Add("gpu_multiprocessors", call.device.count, "1", "static");
  const Launch* longest = LongestLaunch(call);
  if (longest == nullptr) return;
  metrics.Add("gpu_kernel_time", 1000 * SumOfMs(call), "us", "measured");
  metrics.Add("gpu_grid", longest->grid, "1", "static");
  metrics.Add("gpu_block", longest->block, "1", "static");
  if (longest->registers > 0)
    metrics.Add("gpu_registers_per_thread", longest->registers, "1", "static");
  metrics.Add("gpu_shared_memory_per_block", longest->static_shared + longest->dynamic_shared, "B",
              "static");
  metrics.Add("gpu_local_bytes", longest->local_bytes, "B", "static");
  AddOccupancy(*longest, call.device, metrics);
}

std::vector<HotSpot> HotKernels(const CallLaunches& call, const std::string& file) {
  struct Kernel {
    double ms = 0;
    int launches = 0;
  };
  std::map<std::string, Kernel> kernels;
  for (const Launch& launch : call.launches) {
    Kernel& kernel = kernels[launch.kernel];
    kernel.ms += launch.ms;
    ++kernel.launches;
  }
  const double all = SumOfMs(call);
  std::vector<HotSpot> hot;
  for (const auto& [name, kernel] : kernels) {
    hot.push_back({.file = file,
                   .line = 0,
                   .percent = all > 0 ? 100 * kernel.ms / all : 0,
                   .text = name,
                   .remark = kernel.launches > 1 ? fmt::format("{} launches", kernel.launches)
                                                 : std::string()});
  }
  std::ranges::stable_sort(hot, std::greater{}, &HotSpot::percent);
  if (hot.size() > kShownKernels) hot.resize(kShownKernels);
  return hot;
}

}  // namespace pragma
