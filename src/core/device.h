// Device: the GPU that kernels run on, as its driver describes it. A value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pragma {

struct Device {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string driver;      // "580.159.04"
  std::string cuda;        // what the driver supports: "13.0"
  std::string capability;  // "9.0"
  std::string library;     // path of the driver's libcuda.so.1
  // As CUDA_VISIBLE_DEVICES names it in PCI order: "0". What runs on it is shown this one alone.
  std::string number = "0";
  // Tests: the driver's device is the host's memory (worker/cuda/fake_driver.c), where Torch
  // computes on processors and Triton in its interpreter.
  bool host_memory = false;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  int multiprocessors = 0;
  double clock_ghz = 0;   // the highest
  double memory_gbs = 0;  // the memory's peak: clock times width; 1e9 bytes per second
  // Of plain fp32 multiply-adds: 128 a clock on each multiprocessor, the most any has.
  [[nodiscard]] double fp32_gflops() const { return 256.0 * multiprocessors * clock_ghz; }
  // Of sums of products in fp32, which matrix units can make as well: with each factor in two TF32
  // parts there are three of their products for one (Ootomo and Yokota, IJHPCA 36, 2022).
  [[nodiscard]] double fp32_product_gflops() const;
  // What its second-level cache can deliver at most: 64 bytes a clock to each multiprocessor.
  [[nodiscard]] double l2_gbs() const { return 64.0 * multiprocessors * clock_ghz; }
};

// What pragma-device prints.
[[nodiscard]] Result<Device> ParseDevice(std::string_view json);

}  // namespace pragma
