// Describes the processor we run on: the contents of Machine plus topology, TLBs and pages.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/file.h"
#include "base/text.h"
#include "machine/machine.h"
#include "profile/counters.h"
#include "profile/hardware.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

std::uint32_t Bits(std::uint32_t value, unsigned high, unsigned low) {
  return (value >> low) & ((std::uint32_t{1} << (high - low + 1)) - 1);
}

// Reads Intel's leaf 0x18, which describes one TLB in each subleaf. Intel SDM volume 2, CPUID.
std::vector<TlbSpec> IntelTlbs(const Cpuid& cpuid) {
  constexpr std::uint32_t kLeaf = 0x18;
  constexpr std::uint32_t kMost = 32;
  std::vector<TlbSpec> tlbs;
  const auto first = cpuid(kLeaf, 0);
  if (!first) return tlbs;
  for (std::uint32_t sub = 0; sub <= std::min(first->eax, kMost); ++sub) {
    const auto registers = cpuid(kLeaf, sub);
    if (!registers) break;
    const std::uint32_t type = Bits(registers->edx, 4, 0);
    const bool data = type == 1 || type == 3 || type == 4;  // data, unified, loads
    const bool small_pages = Bits(registers->ebx, 0, 0) == 1;
    if (!data || !small_pages) continue;
    const auto ways = static_cast<int>(Bits(registers->ebx, 31, 16));
    const bool full = Bits(registers->edx, 8, 8) == 1;
    tlbs.push_back({.level = static_cast<int>(Bits(registers->edx, 7, 5)),
                    .entries = ways * static_cast<int>(std::min(registers->ecx, 65536U)),
                    .ways = full ? 0 : ways,
                    .measured = true});
  }
  return tlbs;
}

// Decodes AMD's four-bit code of the associativity. It returns 0 for "fully associative" and for
// codes that refer to another leaf.
int AmdWays(std::uint32_t code) {
  constexpr std::array<int, 16> kWays{0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
  return kWays.at(code & 0xfU);
}

// Reads AMD's leaves 0x80000005 (first level) and 0x80000006 (second level). AMD64 APM volume 3,
// appendix E.4.
std::vector<TlbSpec> AmdTlbs(const Cpuid& cpuid) {
  std::vector<TlbSpec> tlbs;
  if (const auto first = cpuid(0x80000005U, 0)) {
    const auto ways = static_cast<int>(Bits(first->ebx, 31, 24));
    tlbs.push_back({.level = 1,
                    .entries = static_cast<int>(Bits(first->ebx, 23, 16)),
                    .ways = ways == 0xff ? 0 : ways,
                    .measured = true});
  }
  if (const auto second = cpuid(0x80000006U, 0)) {
    tlbs.push_back({.level = 2,
                    .entries = static_cast<int>(Bits(second->ebx, 27, 16)),
                    .ways = AmdWays(Bits(second->ebx, 31, 28)),
                    .measured = true});
  }
  return tlbs;
}

std::string Small(const fs::path& path) { return std::string(Trim(ReadFile(path).value_or(""))); }

// Returns true for names such as "cpu12" with the stem "cpu".
bool Numbered(std::string_view name, std::string_view stem) {
  return name.size() > stem.size() && name.starts_with(stem) &&
         std::ranges::all_of(name.substr(stem.size()),
                             [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<fs::path> NumberedFolders(const fs::path& folder, std::string_view stem) {
  std::vector<fs::path> found;
  std::error_code code;
  for (auto entry = fs::directory_iterator(folder, code);
       !code && entry != fs::directory_iterator(); entry.increment(code)) {
    if (Numbered(entry->path().filename().string(), stem)) found.push_back(entry->path());
  }
  return found;
}

// Counts the cores by package and core number, and the threads of one core.
void ReadTopology(const fs::path& root, HardwareSpec& spec) {
  std::set<std::pair<std::string, std::string>> cores;
  int threads = 0;
  for (const fs::path& cpu : NumberedFolders(root / "sys/devices/system/cpu", "cpu")) {
    const std::string core = Small(cpu / "topology/core_id");
    if (core.empty()) continue;
    ++threads;
    cores.emplace(Small(cpu / "topology/physical_package_id"), core);
  }
  if (cores.empty()) return;
  spec.units = static_cast<int>(cores.size());
  spec.threads_per_unit = std::max(1, threads / spec.units);
}

}  // namespace

Cpuid ThisCpuid() {
#if defined(__x86_64__)
  return [](std::uint32_t leaf, std::uint32_t sub) -> std::optional<CpuidRegisters> {
    CpuidRegisters registers;
    if (__get_cpuid_count(leaf, sub, &registers.eax, &registers.ebx, &registers.ecx,
                          &registers.edx) == 0)
      return std::nullopt;
    return registers;
  };
#else
  return [](std::uint32_t, std::uint32_t) -> std::optional<CpuidRegisters> { return std::nullopt; };
#endif
}

std::vector<TlbSpec> DataTlbs(const Cpuid& cpuid) {
  std::vector<TlbSpec> tlbs = IntelTlbs(cpuid);
  if (tlbs.empty()) tlbs = AmdTlbs(cpuid);
  std::erase_if(tlbs, [](const TlbSpec& tlb) { return tlb.entries <= 0 || tlb.level <= 0; });
  std::ranges::sort(tlbs, {}, &TlbSpec::level);
  if (!tlbs.empty()) return tlbs;
  return {{.level = 1, .entries = 64, .ways = 0, .measured = false},
          {.level = 2, .entries = 1536, .ways = 0, .measured = false}};
}

HardwareSpec DescribeCpu(const Machine& machine, const Cpuid& cpuid, const fs::path& root) {
  HardwareSpec spec;
  spec.id = "cpu";
  spec.name = machine.cpu;
  const CpuIdentity identity = IdentifyCpu(ReadFile(root / "proc/cpuinfo").value_or(""));
  spec.vendor = identity.vendor;
  const CounterFamily family = FamilyOf(identity);
  if (family != CounterFamily::kGeneric) spec.architecture = CounterFamilyName(family);
  spec.units = machine.threads;
  spec.threads_per_unit = 1;
  ReadTopology(root, spec);
  const std::string khz = Small(root / "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  spec.clock_ghz = std::strtod(khz.c_str(), nullptr) / 1e6;
  if (machine.peak_gflops > 0) spec.tflops["fp32"] = machine.peak_gflops / 1e3;
  spec.memory_bytes = static_cast<double>(machine.memory_bytes);
  if (!machine.bandwidth.empty()) spec.bandwidth_gbs = machine.bandwidth.back().read_gbs;
  spec.caches = machine.caches;
  spec.tlbs = DataTlbs(cpuid);
  spec.page_bytes = static_cast<std::size_t>(std::max(::sysconf(_SC_PAGESIZE), 4096L));
  spec.numa_nodes = static_cast<int>(
      std::max<std::size_t>(NumberedFolders(root / "sys/devices/system/node", "node").size(), 1));
  spec.features = machine.features;
  return spec;
}

}  // namespace pragma
