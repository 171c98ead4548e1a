#include "machine/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "machine/processors.h"

namespace pragma {
namespace {

std::string FirstValue(const std::string& cpuinfo, std::string_view key) {
  for (const std::string& line : SplitLines(cpuinfo)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && Trim(line.substr(0, colon)) == key)
      return std::string(Trim(line.substr(colon + 1)));
  }
  return {};
}

// Returns the instruction sets that matter to a kernel's author. The whole list is too long for a
// prompt.
std::vector<std::string> Features(const std::string& cpuinfo) {
  constexpr std::array<std::string_view, 16> kInteresting{
      "sse4_2",   "avx",      "avx2",     "fma",         "f16c",        "avx512f",
      "avx512dq", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16",
      "amx_tile", "amx_bf16", "asimd",    "sve"};
  std::string flags = FirstValue(cpuinfo, "flags");
  if (flags.empty()) flags = FirstValue(cpuinfo, "Features");
  std::vector<std::string> features;
  for (const std::string& flag : Split(flags, ' ')) {
    if (std::ranges::find(kInteresting, flag) != kInteresting.end()) features.push_back(flag);
  }
  return features;
}

std::string ReadLine(const std::filesystem::path& path) {
  const auto text = ReadFile(path);
  return text ? std::string(Trim(*text)) : std::string();
}

// Parses a size such as "32K" or "1M".
std::size_t ParseSize(const std::string& text) {
  std::size_t value = std::strtoul(text.c_str(), nullptr, 10);
  if (text.ends_with('K')) value <<= 10U;
  if (text.ends_with('M')) value <<= 20U;
  return value;
}

// Counts the processors of a list: 5 for "0-3,8".
int CountCpus(const std::string& list) {
  int count = 0;
  for (const std::string& range : Split(list, ',')) {
    const std::vector<std::string> ends = Split(range, '-');
    if (Trim(ends.front()).empty()) continue;
    count += std::atoi(ends.back().c_str()) - std::atoi(ends.front().c_str()) + 1;
  }
  return std::max(count, 1);
}

std::vector<CacheLevel> Caches() {
  std::vector<CacheLevel> caches;
  const std::filesystem::path root("/sys/devices/system/cpu/cpu0/cache");
  for (int index = 0; index < 8; ++index) {
    const std::filesystem::path folder = root / ("index" + std::to_string(index));
    const std::string type = ReadLine(folder / "type");
    if (type.empty() || type == "Instruction") continue;
    caches.push_back({.level = std::atoi(ReadLine(folder / "level").c_str()),
                      .bytes = ParseSize(ReadLine(folder / "size")),
                      .shared_by = CountCpus(ReadLine(folder / "shared_cpu_list")),
                      .ways = std::atoi(ReadLine(folder / "ways_of_associativity").c_str()),
                      .line_bytes = ParseSize(ReadLine(folder / "coherency_line_size"))});
  }
  std::ranges::sort(caches, {}, &CacheLevel::level);
  return caches;
}

}  // namespace

std::size_t Machine::last_level_cache_bytes() const {
  constexpr std::size_t kUnknown = std::size_t{8} << 20U;
  return caches.empty() || caches.back().bytes == 0 ? kUnknown : caches.back().bytes;
}

std::size_t Machine::usable_last_level_bytes() const {
  constexpr double kFaster = 1.5;  // least ratio to the bandwidth of memory for a working set that
                                   // the cache serves
  const std::size_t described = last_level_cache_bytes();
  if (bandwidth.empty()) return described;
  const double memory = bandwidth.back().read_gbs;
  std::size_t served = 0;
  for (const Bandwidth& level : bandwidth) {
    if (level.working_set_bytes > described) return described;
    if (level.read_gbs > kFaster * memory) {
      served = level.working_set_bytes;
    } else if (served > 0) {
      // The usable size is somewhere between the last size that was served and this one.
      return static_cast<std::size_t>(
          std::sqrt(static_cast<double>(served) * static_cast<double>(level.working_set_bytes)));
    }
  }
  return described;
}

std::size_t Machine::usable_bytes(const CacheLevel& cache) const {
  return &cache == &caches.back() ? std::min(cache.bytes, usable_last_level_bytes()) : cache.bytes;
}

std::string Machine::Summary() const {
  std::string text = fmt::format("{}, {} threads, {} of memory\n", cpu, threads,
                                 FormatBytes(static_cast<double>(memory_bytes)));
  text += fmt::format("instruction sets: {}\n", fmt::join(features, " "));
  for (const CacheLevel& cache : caches) {
    text += fmt::format("L{} data cache: {}, shared by {} processors\n", cache.level,
                        FormatBytes(static_cast<double>(cache.bytes)), cache.shared_by);
  }
  if (const std::size_t usable = usable_last_level_bytes(); usable < last_level_cache_bytes()) {
    text += fmt::format("of the last cache about {} serve us, by measurement\n",
                        FormatBytes(static_cast<double>(usable)));
  }
  if (peak_gflops > 0)
    text += fmt::format("measured fp32 peak, all threads: {:.0f} GFLOP/s\n", peak_gflops);
  if (bf16_gflops > 0)
    text += fmt::format("measured bf16 peak, all threads: {:.0f} GFLOP/s\n", bf16_gflops);
  for (const Bandwidth& level : bandwidth) {
    text += fmt::format(
        "measured bandwidth, all threads, working set {}: read {:.0f}, write {:.0f}, copy {:.0f} "
        "GB/s\n",
        FormatBytes(static_cast<double>(level.working_set_bytes)), level.read_gbs, level.write_gbs,
        level.copy_gbs);
  }
  return text;
}

Result<Machine> DescribeMachine() {
  const std::string cpuinfo = TRY(ReadFile("/proc/cpuinfo"));
  Machine machine;
  machine.cpu = FirstValue(cpuinfo, "model name");
  if (machine.cpu.empty()) machine.cpu = FirstValue(cpuinfo, "CPU part");
  machine.threads = UsableProcessors().threads();
  machine.features = Features(cpuinfo);
  machine.caches = Caches();
  struct sysinfo memory{};
  if (::sysinfo(&memory) == 0)
    machine.memory_bytes = static_cast<std::size_t>(memory.totalram) * memory.mem_unit;
  std::string identity = machine.cpu + FirstValue(cpuinfo, "cpu family") +
                         FirstValue(cpuinfo, "model") + FirstValue(cpuinfo, "flags");
  identity += std::to_string(machine.threads);
  for (const CacheLevel& cache : machine.caches)
    identity += fmt::format(" {}:{}", cache.level, cache.bytes);
  machine.fingerprint = Sha256Hex(identity).substr(0, 16);
  return machine;
}

}  // namespace pragma
