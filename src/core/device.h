// Device: the GPU that kernels run on, as its driver describes it. A plain value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pragma {

struct Device {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string driver;      // "580.159.04"
  std::string cuda;        // CUDA version that the driver supports: "13.0"
  std::string capability;  // "9.0"
  std::string library;     // path of the driver's libcuda.so.1
  // Number of the device as CUDA_VISIBLE_DEVICES counts in PCI order: "0". Programs that run on the
  // device are shown only this one.
  std::string number = "0";
  // For tests: the memory of the driver's device is host memory (worker/cuda/fake_driver.c).
  // PyTorch then computes on the CPU and Triton in its interpreter.
  bool host_memory = false;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int multiprocessors = 0;
  double clock_ghz = 0;   // the highest clock
  double memory_gbs = 0;  // peak memory bandwidth, clock times bus width; 1e9 bytes per second
  // Returns the peak of plain fp32 multiply-adds: 128 per clock on each multiprocessor, which is
  // the most of any GPU.
  [[nodiscard]] double fp32_gflops() const { return 256.0 * multiprocessors * clock_ghz; }
  // Returns the peak of fp32 sums of products. Tensor cores can compute these as well: with each
  // factor split into two TF32 parts, three TF32 products replace one fp32 product (Ootomo and
  // Yokota, IJHPCA 36, 2022).
  [[nodiscard]] double fp32_product_gflops() const;
  // Returns the peak bandwidth of the second-level cache: 64 bytes per clock to each
  // multiprocessor.
  [[nodiscard]] double l2_gbs() const { return 64.0 * multiprocessors * clock_ghz; }
};

// Parses the output of pragma-device.
[[nodiscard]] Result<Device> ParseDevice(std::string_view json);

}  // namespace pragma
