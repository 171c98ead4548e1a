#include "core/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.h"
#include "core/backend_testing.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;

constexpr const char* kH100 =
    R"({"name": "NVIDIA H100 80GB HBM3", "driver": "580.159.04", "cuda": "13.0",
        "library": "/usr/local/nvidia/lib64/libcuda.so.1", "memory_bytes": 85017493504,
        "l2_bytes": 52428800, "block_shared_bytes": 232448, "multiprocessors": 132,
        "clock_khz": 1980000,
        "memory_clock_khz": 2619000, "memory_bus_bits": 5120, "capability": "9.0"})";

TEST(DeviceTest, ReadsWhatTheDriverOfAnH100Said) {
  Result<Device> device = ParseDevice(kH100);
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ(device->name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device->l2_bytes, 52428800U);
  EXPECT_EQ(device->block_shared_bytes, 232448U);
  EXPECT_NEAR(device->memory_gbs, 3352, 1);
  device->backend = ShippedBackend("nvidia");
  EXPECT_NEAR(device->l2_gbs(), 16727, 1);
  EXPECT_NEAR(device->fp32_gflops(), 66908, 1);
  EXPECT_NEAR(device->fp32_product_gflops(), 2048 / 3.0 * 132 * 1.98, 1);  // tensor cores
  EXPECT_NEAR(device->copy_gbs(), 3017, 1);
}

TEST(DeviceTest, SaysWhatIsMissing) {
  const Result<Device> device = ParseDevice(R"({"name": "GPU"})");
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("memory_bytes is missing"));
}

}  // namespace
}  // namespace pragma
