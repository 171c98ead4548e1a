// HardwareSpec: the properties of a processor or an accelerator, for models, prompts and profilers.
// The CPU's are read from the machine we run on. Accelerators' come from knowledge/hardware/*.toml,
// because the accelerator that is profiled need not be in this machine.
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

// The data TLB for the smallest page size.
struct TlbSpec {
  int level = 1;
  int entries = 0;
  int ways = 0;           // 0: fully associative, or not known
  bool measured = false;  // false: a typical value, because the CPU does not report it
};

struct HardwareSpec {
  std::string id;    // "h100-sxm"; "cpu" for the one we run on
  std::string name;  // "NVIDIA H100 SXM5"
  DeviceKind kind = DeviceKind::kCpu;
  std::vector<std::string> device_names;  // substrings of the names that drivers give it
  std::string vendor;
  std::string architecture;              // "Hopper", "gfx942"
  int units = 0;                         // multiprocessors, compute units, AI cores; CPU: cores
  int threads_per_unit = 0;              // CPU: hardware threads per core
  double clock_ghz = 0;                  // maximum; 0: not known
  std::map<std::string, double> tflops;  // dense peak by type: "fp32", "fp16_matrix"
  double memory_bytes = 0;
  double bandwidth_gbs = 0;           // device memory, 1e9 bytes per second
  double l2_bytes = 0;                // accelerators: shared by all units
  double l1_bytes = 0;                // per unit; includes shared memory if they are one
  double shared_bytes = 0;            // per unit, usable by blocks
  double shared_bytes_per_block = 0;  // maximum
  double registers_per_unit = 0;      // 32-bit registers
  int warp_size = 0;                  // lanes that execute together
  int warps_per_unit = 0;             // maximum resident
  int blocks_per_unit = 0;
  std::vector<CacheLevel> caches;     // CPU: data caches by level
  std::vector<TlbSpec> tlbs;          // CPU
  std::size_t page_bytes = 0;         // CPU: smallest page size
  int numa_nodes = 0;                 // CPU
  std::vector<std::string> features;  // CPU: instruction sets
  std::vector<std::string> sources;   // web addresses of these figures
};

// Summarises in a few lines, for prompts, what matters to the author of a kernel for this hardware.
[[nodiscard]] std::string Summary(const HardwareSpec& spec);
// Summarises the GPU in this machine: its driver's figures, and those that `specs` has for its
// model.
[[nodiscard]] std::string GpuSummary(const Device& device, const std::vector<HardwareSpec>& specs);
[[nodiscard]] std::string HardwareToJson(const HardwareSpec& spec);

// Errors are one line with file and field.
[[nodiscard]] Result<HardwareSpec> LoadHardware(const std::filesystem::path& path);
[[nodiscard]] Result<HardwareSpec> ParseHardware(std::string_view toml, const std::string& name);
// Loads all *.toml files of a folder. The first invalid one is the error.
[[nodiscard]] Result<std::vector<HardwareSpec>> LoadHardwareFolder(
    const std::filesystem::path& folder);
// Finds the spec of a device by the name that its driver reports ("NVIDIA H100 80GB HBM3"), which
// must contain one of device_names. The longest such name wins. Returns nullptr if none matches.
[[nodiscard]] const HardwareSpec* FindHardware(const std::vector<HardwareSpec>& specs,
                                               std::string_view device_name);

// The registers that cpuid returns for a leaf and a subleaf: {eax, ebx, ecx, edx}; nullopt beyond
// the highest leaf.
struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};
using Cpuid = std::function<std::optional<CpuidRegisters>(std::uint32_t leaf, std::uint32_t sub)>;
// Returns this processor's cpuid. It always yields nullopt on processors without cpuid.
[[nodiscard]] Cpuid ThisCpuid();
// Returns the data TLBs for 4 KiB pages, from leaf 0x18 (Intel) or 0x80000005/6 (AMD), or typical
// values where neither is available.
[[nodiscard]] std::vector<TlbSpec> DataTlbs(const Cpuid& cpuid);

// Describes the processor we run on. `root` is "/" except in tests.
[[nodiscard]] HardwareSpec DescribeCpu(const Machine& machine, const Cpuid& cpuid,
                                       const std::filesystem::path& root = "/");

}  // namespace pragma
