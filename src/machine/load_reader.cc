#include "machine/load_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace pragma {
namespace {

constexpr std::size_t kReadBytes = 16384;

UniqueFd OpenToRead(const std::filesystem::path& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// Reads from the beginning, so that the system makes the text anew. Empty: it cannot be read.
std::string TextOf(const UniqueFd& fd) {
  std::string text;
  std::array<char, kReadBytes> part{};
  while (fd.valid()) {
    const ssize_t bytes =
        ::pread(fd.get(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (bytes <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  return text;
}

// Returns the number that follows the last character of `name`, or nullopt if there is no `name`.
std::optional<double> NumberAfter(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  double number = 0;
  const char* begin = text.data() + at + name.size();
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// A line of /proc/stat holds the ticks of one processor.
enum Field : std::uint8_t {
  kUser,
  kNice,
  kSystem,
  kIdle,
  kIoWait,
  kIrq,
  kSoftIrq,
  kSteal,
  kFields
};
using Ticks = std::array<double, kFields>;

// Adds the ticks of a processor, if there is such a line.
void AddTicks(std::string_view text, int processor, Ticks& sum) {
  const std::string head = fmt::format("\ncpu{} ", processor);
  const std::size_t line = text.find(head);
  if (line == std::string_view::npos) return;
  const char* at = text.data() + line + head.size();
  const char* end = text.data() + text.size();
  for (double& field : sum) {
    while (at < end && *at == ' ') ++at;
    double ticks = 0;
    at = std::from_chars(at, end, ticks).ptr;
    field += ticks;
  }
}

std::vector<int> OwnProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

// Whether no processor of the machine is missing in the list.
bool OwnsAll(std::string_view text, const std::vector<int>& processors) {
  std::size_t lines = 0;
  for (std::size_t at = text.find("\ncpu"); at != std::string_view::npos;
       at = text.find("\ncpu", at + 1))
    ++lines;
  return lines <= processors.size();
}

double OwnSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

LoadReader::LoadReader() : LoadReader("/proc", "/sys/devices/system/cpu", OwnProcessors()) {}

LoadReader::LoadReader(const std::filesystem::path& proc, const std::filesystem::path& system,
                       std::vector<int> processors)
    : stat_(OpenToRead(proc / "stat")),
      pressure_(OpenToRead(proc / "pressure" / "cpu")),
      clock_(OpenToRead(system / "cpu0" / "cpufreq" / "scaling_cur_freq")),
      processors_(std::move(processors)) {}

LoadReading LoadReader::Read() const {
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string stat = TextOf(stat_);
  Ticks ticks{};
  for (const int processor : processors_) AddTicks(stat, processor, ticks);
  LoadReading reading;
  reading.busy_seconds =
      (ticks[kUser] + ticks[kNice] + ticks[kSystem] + ticks[kIrq] + ticks[kSoftIrq]) * tick;
  reading.steal_seconds = ticks[kSteal] * tick;
  reading.own_seconds = OwnSeconds();
  if (OwnsAll(stat, processors_)) {
    reading.runnable =
        std::max(static_cast<int>(NumberAfter(stat, "procs_running ").value_or(1)) - 1, 0);
  }
  reading.pressure_seconds = NumberAfter(TextOf(pressure_), "total=");
  if (reading.pressure_seconds) *reading.pressure_seconds *= 1e-6;
  reading.mhz = NumberAfter(TextOf(clock_), "").value_or(0) * 1e-3;
  return reading;
}

}  // namespace pragma
