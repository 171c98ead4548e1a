// Identifies the processor, and finds out what the kernel says about counting on it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/text.h"
#include "core/profile.h"
#include "profile/counters.h"
#include "worker/profiler/perf_events.h"

namespace pragma {
namespace {

// Returns the value of the first "key : value" line.
std::string First(std::string_view cpuinfo, std::string_view key) {
  for (const std::string& line : SplitLines(cpuinfo)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && Trim(line.substr(0, colon)) == key)
      return std::string(Trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

// Parses a decimal number, or a hexadecimal one with 0x. Returns 0 for anything else.
int CpuinfoNumber(std::string_view text) {
  text = Trim(text);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
  return error == std::errc() && stopped == end ? value : 0;
}

bool Among(int value, std::initializer_list<int> values) {
  return std::ranges::find(values, value) != values.end();
}

CounterFamily AmdFamily(const CpuIdentity& cpu) {
  if (cpu.family == 0x1a) return CounterFamily::kZen5;
  // These models of family 19h are Zen 4. The other models are Zen 3.
  const int high = cpu.model >> 4;
  if (cpu.family == 0x19 && Among(high, {0x1, 0x6, 0x7, 0xa})) return CounterFamily::kZen4;
  return CounterFamily::kGeneric;
}

CounterFamily IntelFamily(const CpuIdentity& cpu) {
  if (cpu.family != 6) return CounterFamily::kGeneric;
  if (cpu.model == 0x55) return CounterFamily::kSkylakeServer;
  if (Among(cpu.model, {0x6a, 0x6c})) return CounterFamily::kIceLakeServer;
  if (Among(cpu.model, {0x8f, 0xcf})) return CounterFamily::kSapphireRapids;
  return CounterFamily::kGeneric;
}

std::string ReadSmall(const std::filesystem::path& path) { return ReadFile(path).value_or(""); }

// Tries to open one group. It counts the events that opened, and keeps the first errno of those
// that did not.
void TryGroup(const CounterGroup& group, int& opened, int& error, std::string& missing) {
  pe_set set{};
  if (pe_open(&set, EventList(group).c_str()) < 0) return;
  opened += set.opened;
  for (int i = 0; i < set.count; ++i) {
    if (set.error[i] == 0) continue;
    if (error == 0) error = set.error[i];
    if (!missing.empty()) missing += ", ";
    missing += group.events[static_cast<std::size_t>(i)].name;
  }
  pe_close(&set);
}

}  // namespace

std::string_view CounterFamilyName(CounterFamily family) {
  constexpr std::array<std::string_view, 7> kNames{
      "generic", "Skylake server", "Ice Lake server", "Sapphire Rapids",
      "Zen 4",   "Zen 5",          "Neoverse N2/V2"};
  return kNames.at(static_cast<std::size_t>(family));
}

CpuIdentity IdentifyCpu(std::string_view cpuinfo, std::string_view slots_text) {
  CpuIdentity cpu;
  cpu.vendor = First(cpuinfo, "vendor_id");
  cpu.family = CpuinfoNumber(First(cpuinfo, "cpu family"));
  cpu.model = CpuinfoNumber(First(cpuinfo, "model"));
  cpu.stepping = CpuinfoNumber(First(cpuinfo, "stepping"));
  if (CpuinfoNumber(First(cpuinfo, "CPU implementer")) == 0x41) {
    cpu.vendor = "ARM";
    cpu.model = CpuinfoNumber(First(cpuinfo, "CPU part"));
    cpu.slots = std::clamp(CpuinfoNumber(slots_text), 0, 64);
  }
  return cpu;
}

CpuIdentity ThisCpu() {
  const std::filesystem::path devices("/sys/bus/event_source/devices");
  std::string slots;
  std::error_code code;
  for (auto entry = std::filesystem::directory_iterator(devices, code);
       !code && entry != std::filesystem::directory_iterator(); entry.increment(code)) {
    if (entry->path().filename().string().starts_with("armv8_pmuv3"))
      slots = ReadSmall(entry->path() / "caps" / "slots");
  }
  return IdentifyCpu(ReadSmall("/proc/cpuinfo"), slots);
}

CounterFamily FamilyOf(const CpuIdentity& cpu) {
  if (cpu.vendor == "GenuineIntel") return IntelFamily(cpu);
  if (cpu.vendor == "AuthenticAMD") return AmdFamily(cpu);
  if (cpu.vendor == "ARM" && Among(cpu.model, {0xd49, 0xd4f})) return CounterFamily::kNeoverse;
  return CounterFamily::kGeneric;
}

int PerfEventParanoid() {
  const std::string text = ReadSmall("/proc/sys/kernel/perf_event_paranoid");
  return text.empty() ? 2 : std::atoi(text.c_str());
}

ProviderNote CounterRefusal(int error, int paranoid) {
  ProviderNote note{.name = "counters", .verdict = "absent", .detail = {}, .seconds = 0};
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
      note.detail =
          "this machine has no hardware counters (a virtual machine without a PMU, most likely): "
          "use a machine or an instance type that has them";
      break;
    case EACCES:
      note.verdict = "refused";
      note.detail = fmt::format(
          "kernel.perf_event_paranoid is {} and forbids counting: set it to 2 or less (sysctl "
          "kernel.perf_event_paranoid=2), or give this program CAP_PERFMON",
          paranoid);
      break;
    case EPERM:
      note.verdict = "refused";
      note.detail =
          "the system call perf_event_open is filtered (containers do by default): start the "
          "container with CAP_PERFMON or a seccomp profile that allows it";
      break;
    case ENOSYS:
      note.detail =
          "this kernel has no perf_event_open (built without it, or a sandbox that hides it): use "
          "a kernel with CONFIG_PERF_EVENTS";
      break;
    default:
      note.verdict = "failed";
      note.detail = fmt::format("perf_event_open: {}", std::strerror(error));
  }
  return note;
}

ProviderNote ProbeCounters(const CounterPlan& plan) {
  int opened = 0;
  int error = 0;
  std::string missing;
  for (const CounterGroup& group : plan.groups) TryGroup(group, opened, error, missing);
  if (opened == 0) return CounterRefusal(error, PerfEventParanoid());
  ProviderNote note{.name = "counters", .verdict = "ran", .detail = {}, .seconds = 0};
  if (!missing.empty()) note.detail = "not countable here: " + missing;
  return note;
}

}  // namespace pragma
