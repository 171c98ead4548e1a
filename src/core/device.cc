#include "core/device.h"

#include <algorithm>
#include <string_view>

#include "base/result.h"
#include "core/json_reader.h"

namespace pragma {
namespace {

// Returns the TF32 operations of one unit in a clock.
double Products(const Device& device) {
  double products = 0;
  for (const auto& [capabilities, flops] : device.backend.peaks.products) {
    if (device.capability.starts_with(capabilities)) products = std::max(products, flops);
  }
  return products;
}

}  // namespace

double Device::fp32_product_gflops() const {
  return std::max(fp32_gflops(), Products(*this) / 3 * clocks());
}

double Device::half_product_gflops() const {
  return std::max(fp32_gflops(), Products(*this) * 2 * clocks());
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
  reader.Get("memory_used_bytes", device.memory_used_bytes);
  reader.Require("l2_bytes", device.l2_bytes);
  reader.Get("block_shared_bytes", device.block_shared_bytes);
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
