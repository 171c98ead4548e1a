// Device: the accelerator that kernels run on, as its driver describes it. A plain value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/backend.h"

namespace pragma {

struct Device {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string driver;      // "580.159.04"
  std::string cuda;        // CUDA version that the driver supports: "13.0"; empty: not CUDA
  std::string capability;  // "9.0", "gfx942"
  std::string library;     // path of the driver's library
  Backend backend;         // what is true of all devices of its kind
  // Number of the device as its driver counts in PCI order: "0". Programs that run on the device
  // are shown only this one.
  std::string number = "0";
  // The memory of the device is host memory, as in tests (worker/cuda/fake_driver.c). PyTorch then
  // computes on the CPU and Triton in its interpreter.
  bool host_memory = false;
  std::size_t memory_bytes = 0;
  std::size_t memory_used_bytes = 0;  // by all programs when it was looked at; 0: unknown
  std::size_t l2_bytes = 0;
  std::size_t block_shared_bytes = 0;  // shared memory that one block may use; 0: unknown
  int multiprocessors = 0;
  double clock_ghz = 0;   // the highest clock
  double memory_gbs = 0;  // peak memory bandwidth, clock times bus width; 1e9 bytes per second
  // Returns the peak of plain fp32 multiply-adds.
  [[nodiscard]] double fp32_gflops() const { return backend.peaks.flops * clocks(); }
  // Returns the peak of fp32 sums of products. Tensor cores can compute these as well: with each
  // factor split into two TF32 parts, three TF32 products replace one fp32 product (Ootomo and
  // Yokota, IJHPCA 36, 2022).
  [[nodiscard]] double fp32_product_gflops() const;
  // Returns the peak of sums of 16-bit products. Tensor cores compute twice as many of them as of
  // TF32 products.
  [[nodiscard]] double half_product_gflops() const;
  // Returns the peak bandwidth of the second-level cache.
  [[nodiscard]] double l2_gbs() const { return backend.peaks.l2_bytes * clocks(); }
  // Returns the bandwidth that a large copy reaches.
  [[nodiscard]] double copy_gbs() const { return backend.peaks.copy_share * memory_gbs; }
  // Returns the clocks of all units in a nanosecond.
  [[nodiscard]] double clocks() const { return multiprocessors * clock_ghz; }
};

// Parses what a backend's probe prints. The backend is the caller's to fill in.
[[nodiscard]] Result<Device> ParseDevice(std::string_view json);

}  // namespace pragma
