// HardwareSpec: what a processor or an accelerator has, for models, prompts and profilers: the CPU
// we run on, read from it; accelerators from knowledge/hardware/*.toml, since the one that is
// profiled need not be here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {

enum class DeviceKind : std::uint8_t { kCpu, kGpu, kNpu };

// The data TLB for the smallest page.
struct TlbSpec {
  int level = 1;
  int entries = 0;
  int ways = 0;           // 0: fully associative, or not known
  bool measured = false;  // false: a typical value, since the processor does not tell
};

struct HardwareSpec {
  std::string id;    // "h100-sxm"; "cpu" for the one we run on
  std::string name;  // "NVIDIA H100 SXM5"
  DeviceKind kind = DeviceKind::kCpu;
  std::vector<std::string> device_names;  // parts of what drivers call it
  std::string vendor;
  std::string architecture;              // "Hopper", "gfx942"
  int units = 0;                         // multiprocessors, compute units, AI cores; CPU: cores
  int threads_per_unit = 0;              // CPU: hardware threads of a core
  double clock_ghz = 0;                  // highest; 0: not known
  std::map<std::string, double> tflops;  // dense peak by type: "fp32", "fp16_matrix"
  double memory_bytes = 0;
  double bandwidth_gbs = 0;           // of that memory, 1e9 bytes a second
  double l2_bytes = 0;                // accelerators: shared by all units
  double l1_bytes = 0;                // of a unit, with the shared memory where they share it
  double shared_bytes = 0;            // of a unit, that blocks can use
  double shared_bytes_per_block = 0;  // at most
  double registers_per_unit = 0;      // of 32 bits
  int warp_size = 0;                  // lanes that go together
  int warps_per_unit = 0;             // at most resident
  int blocks_per_unit = 0;
  std::vector<CacheLevel> caches;     // CPU: data caches by level
  std::vector<TlbSpec> tlbs;          // CPU
  std::size_t page_bytes = 0;         // CPU: smallest
  int numa_nodes = 0;                 // CPU
  std::vector<std::string> features;  // CPU: instruction sets
  std::vector<std::string> sources;   // addresses of where this stands
};

// A few lines for prompts: what matters to who writes a kernel for it.
[[nodiscard]] std::string Summary(const HardwareSpec& spec);
// Of the GPU that is here: its driver's figures, and what `specs` have of its kind.
[[nodiscard]] std::string GpuSummary(const Device& device, const std::vector<HardwareSpec>& specs);
[[nodiscard]] std::string HardwareToJson(const HardwareSpec& spec);

// Errors are one line with file and field.
[[nodiscard]] Result<HardwareSpec> LoadHardware(const std::filesystem::path& path);
[[nodiscard]] Result<HardwareSpec> ParseHardware(std::string_view toml, const std::string& name);
// All *.toml of a folder; the first bad one is the error.
[[nodiscard]] Result<std::vector<HardwareSpec>> LoadHardwareFolder(
    const std::filesystem::path& folder);
// The spec of a device by the name its driver gives ("NVIDIA H100 80GB HBM3"): one of device_names
// is in it; the longest such name wins. nullptr: none.
[[nodiscard]] const HardwareSpec* FindHardware(const std::vector<HardwareSpec>& specs,
                                               std::string_view device_name);

// The registers of cpuid for a leaf and a subleaf: {eax, ebx, ecx, edx}; nullopt beyond the
// highest.
struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};
using Cpuid = std::function<std::optional<CpuidRegisters>(std::uint32_t leaf, std::uint32_t sub)>;
// This processor's; always nullopt where there is no cpuid.
[[nodiscard]] Cpuid ThisCpuid();
// Data TLBs for 4 KiB pages: leaf 0x18 (Intel), 0x80000005/6 (AMD); typical values where neither
// tells.
[[nodiscard]] std::vector<TlbSpec> DataTlbs(const Cpuid& cpuid);

// The processor we run on. `root`: "/" but for tests.
[[nodiscard]] HardwareSpec DescribeCpu(const Machine& machine, const Cpuid& cpuid,
                                       const std::filesystem::path& root = "/");

}  // namespace pragma
