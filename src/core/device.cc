#include "core/device.h"

#include <algorithm>
#include <string_view>

#include "base/result.h"
#include "core/json_reader.h"

namespace pragma {
namespace {

// Returns the peak of dense TF32 products in FLOPs per clock of one multiprocessor, by the major
// number of the capability. It is the highest figure of any GPU with that number (docs.nvidia.com,
// white papers of A100, H100 and B200).
double Tf32Flops(std::string_view capability) {
  if (capability.starts_with("8.")) return 1024;
  if (capability.starts_with("9.")) return 2048;
  if (capability.starts_with("10.")) return 4096;
  return 0;
}

}  // namespace

double Device::fp32_product_gflops() const {
  return std::max(fp32_gflops(), Tf32Flops(capability) / 3 * multiprocessors * clock_ghz);
}

Result<Device> ParseDevice(std::string_view json) {
  const JsonReader reader = TRY(JsonReader::Parse(json, "the driver's description of the GPU"));
  Device device;
  double clock_khz = 0;
  double memory_clock_khz = 0;
  double bus_bits = 0;
  reader.Require("name", device.name);
  reader.Get("driver", device.driver);
  reader.Get("cuda", device.cuda);
  reader.Get("capability", device.capability);
  reader.Get("library", device.library);
  reader.Get("host_memory", device.host_memory);
  reader.Require("memory_bytes", device.memory_bytes);
  reader.Require("l2_bytes", device.l2_bytes);
  reader.Get("multiprocessors", device.multiprocessors);
  reader.Get("clock_khz", clock_khz);
  reader.Get("memory_clock_khz", memory_clock_khz);
  reader.Get("memory_bus_bits", bus_bits);
  TRY(reader.status());
  device.clock_ghz = clock_khz * 1e-6;
  // The memory makes two transfers per clock.
  device.memory_gbs = 2 * memory_clock_khz * 1e3 * bus_bits / 8 * 1e-9;
  return device;
}

}  // namespace pragma
