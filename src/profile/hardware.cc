// Reads hardware specs from TOML, and writes them for prompts and as JSON.
#include "profile/hardware.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "base/toml_reader.h"
#include "core/device.h"
#include "core/json_writer.h"
#include "machine/machine.h"

namespace pragma {
namespace {

std::string_view KindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu: return "gpu";
    case DeviceKind::kNpu: return "npu";
    case DeviceKind::kCpu: break;
  }
  return "cpu";
}

// Reads a number, if present, and checks that it is above zero.
template <class T>
void Positive(TomlReader& file, const std::string& key, T& out) {
  file.Get(key, out);
  if (file.Has(key) && !(out > 0)) file.Complain(key, "must be above 0");
}

void ReadSizes(TomlReader& file, HardwareSpec& spec) {
  Positive(file, "memory_bytes", spec.memory_bytes);
  Positive(file, "bandwidth_gbs", spec.bandwidth_gbs);
  Positive(file, "l2_bytes", spec.l2_bytes);
  Positive(file, "l1_bytes", spec.l1_bytes);
  Positive(file, "shared_bytes", spec.shared_bytes);
  Positive(file, "shared_bytes_per_block", spec.shared_bytes_per_block);
  Positive(file, "registers_per_unit", spec.registers_per_unit);
  Positive(file, "warp_size", spec.warp_size);
  Positive(file, "warps_per_unit", spec.warps_per_unit);
  Positive(file, "blocks_per_unit", spec.blocks_per_unit);
  if (spec.shared_bytes_per_block > spec.shared_bytes)
    file.Complain("shared_bytes_per_block", "is more than shared_bytes");
}

void ReadPeaks(TomlReader& file, HardwareSpec& spec) {
  file.Require("tflops", spec.tflops);
  for (const auto& [type, peak] : spec.tflops) {
    if (!(peak > 0)) file.Complain("tflops", "must be above 0: " + type);
  }
}

std::string Bytes(double bytes) { return FormatBytes(bytes); }

std::string CpuSummary(const HardwareSpec& spec) {
  std::string text = fmt::format("{}, {} cores of {} threads", spec.name, spec.units,
                                 std::max(spec.threads_per_unit, 1));
  if (spec.numa_nodes > 1) text += fmt::format(", {} NUMA nodes", spec.numa_nodes);
  text += fmt::format("\ninstruction sets: {}\n", fmt::join(spec.features, " "));
  for (const CacheLevel& cache : spec.caches) {
    text += fmt::format("L{} data cache: {}", cache.level, Bytes(static_cast<double>(cache.bytes)));
    if (cache.ways > 0) text += fmt::format(", {} ways", cache.ways);
    if (cache.line_bytes > 0) text += fmt::format(", lines of {} B", cache.line_bytes);
    text += fmt::format(", shared by {} processors\n", cache.shared_by);
  }
  for (const TlbSpec& tlb : spec.tlbs) {
    text += fmt::format("L{} data TLB: {} pages of {}{}\n", tlb.level, tlb.entries,
                        Bytes(static_cast<double>(spec.page_bytes)),
                        tlb.measured ? "" : " (typical; not reported by the processor)");
  }
  return text;
}

std::string DeviceSummary(const HardwareSpec& spec) {
  std::string text = fmt::format("{} ({}): {} units at up to {} GHz\n", spec.name,
                                 spec.architecture, spec.units, spec.clock_ghz);
  std::vector<std::string> peaks;
  for (const auto& [type, peak] : spec.tflops) peaks.push_back(fmt::format("{} {}", type, peak));
  text += fmt::format("dense peak, TFLOP/s: {}\n", fmt::join(peaks, ", "));
  text += "memory: " + Bytes(spec.memory_bytes);
  if (spec.bandwidth_gbs > 0) text += fmt::format(" at {} GB/s", spec.bandwidth_gbs);
  text += fmt::format(", L2 {}\nof a unit: L1 {}, shared {} ({} a block)", Bytes(spec.l2_bytes),
                      Bytes(spec.l1_bytes), Bytes(spec.shared_bytes),
                      Bytes(spec.shared_bytes_per_block));
  if (spec.warp_size > 0) {
    text += fmt::format(", {} registers, {} warps of {}", spec.registers_per_unit,
                        spec.warps_per_unit, spec.warp_size);
  }
  return text + "\n";
}

}  // namespace

Result<HardwareSpec> ParseHardware(std::string_view toml, const std::string& name) {
  TomlReader file = TRY(TomlReader::Parse(toml, name));
  HardwareSpec spec;
  file.Require("id", spec.id);
  file.Require("name", spec.name);
  file.Require("device_names", spec.device_names);
  if (!file.Has("kind")) file.Complain("kind", "is missing");
  file.GetChoice<DeviceKind>("kind", {{"gpu", DeviceKind::kGpu}, {"npu", DeviceKind::kNpu}},
                             spec.kind);
  file.Require("vendor", spec.vendor);
  file.Require("architecture", spec.architecture);
  file.Require("units", spec.units);
  if (spec.units <= 0) file.Complain("units", "must be above 0");
  Positive(file, "clock_ghz", spec.clock_ghz);
  ReadPeaks(file, spec);
  ReadSizes(file, spec);
  file.Require("sources", spec.sources);
  if (spec.sources.empty()) file.Complain("sources", "is empty: name where the figures come from");
  file.NoMoreKeys();
  TRY(file.status());
  return spec;
}

Result<HardwareSpec> LoadHardware(const std::filesystem::path& path) {
  const std::string text = TRY(ReadFile(path));
  return ParseHardware(text, path.string());
}

Result<std::vector<HardwareSpec>> LoadHardwareFolder(const std::filesystem::path& folder) {
  std::vector<HardwareSpec> specs;
  for (const std::filesystem::path& path : TRY(TomlFilesIn(folder)))
    specs.push_back(TRY(LoadHardware(path)));
  return specs;
}

const HardwareSpec* FindHardware(const std::vector<HardwareSpec>& specs,
                                 std::string_view device_name) {
  const HardwareSpec* best = nullptr;
  std::size_t longest = 0;
  for (const HardwareSpec& spec : specs) {
    for (const std::string& name : spec.device_names) {
      if (name.size() <= longest || device_name.find(name) == std::string_view::npos) continue;
      best = &spec;
      longest = name.size();
    }
  }
  return best;
}

std::string Summary(const HardwareSpec& spec) {
  return spec.kind == DeviceKind::kCpu ? CpuSummary(spec) : DeviceSummary(spec);
}

std::string GpuSummary(const Device& device, const std::vector<HardwareSpec>& specs) {
  std::string text = fmt::format(
      "{}, compute capability {}, {} multiprocessors at up to {:.2f} GHz, {} of memory\n",
      device.name, device.capability, device.multiprocessors, device.clock_ghz,
      FormatBytes(static_cast<double>(device.memory_bytes)));
  text += fmt::format("peaks: {:.0f} GB/s from memory, {:.0f} GFLOP/s in plain fp32; L2 cache {}\n",
                      device.memory_gbs, device.fp32_gflops(),
                      FormatBytes(static_cast<double>(device.l2_bytes)));
  if (const HardwareSpec* spec = FindHardware(specs, device.name)) text += Summary(*spec);
  return text;
}

std::string HardwareToJson(const HardwareSpec& spec) {
  JsonWriter json;
  json.BeginObject().Field("schema", 1).Field("id", spec.id).Field("name", spec.name);
  json.Field("kind", std::string(KindName(spec.kind))).Field("vendor", spec.vendor);
  json.Field("architecture", spec.architecture).Field("units", spec.units);
  json.Field("threads_per_unit", spec.threads_per_unit).Field("clock_ghz", spec.clock_ghz);
  json.Key("tflops").BeginObject();
  for (const auto& [type, peak] : spec.tflops) json.Field(type, peak);
  json.EndObject();
  json.Field("memory_bytes", spec.memory_bytes).Field("bandwidth_gbs", spec.bandwidth_gbs);
  json.Field("l2_bytes", spec.l2_bytes).Field("l1_bytes", spec.l1_bytes);
  json.Field("shared_bytes", spec.shared_bytes);
  json.Field("shared_bytes_per_block", spec.shared_bytes_per_block);
  json.Field("registers_per_unit", spec.registers_per_unit).Field("warp_size", spec.warp_size);
  json.Field("warps_per_unit", spec.warps_per_unit);
  json.Field("blocks_per_unit", spec.blocks_per_unit);
  json.Key("caches").BeginArray();
  for (const CacheLevel& cache : spec.caches) {
    json.BeginObject().Field("level", cache.level).Field("bytes", cache.bytes);
    json.Field("ways", cache.ways).Field("line_bytes", cache.line_bytes);
    json.Field("shared_by", cache.shared_by).EndObject();
  }
  json.EndArray().Key("tlbs").BeginArray();
  for (const TlbSpec& tlb : spec.tlbs) {
    json.BeginObject().Field("level", tlb.level).Field("entries", tlb.entries);
    json.Field("ways", tlb.ways).Field("measured", tlb.measured).EndObject();
  }
  json.EndArray().Field("page_bytes", spec.page_bytes).Field("numa_nodes", spec.numa_nodes);
  json.Field("features", spec.features).Field("sources", spec.sources).EndObject();
  return json.Take();
}

}  // namespace pragma
