// Environment: what a candidate was judged with.
#pragma once

#include <string>
#include <vector>

namespace pragma {

struct Environment {
  std::string cpu;
  std::string compiler;
  std::string torch;
  std::string allocator;  // "default" or "keep": the faster of PyTorch's two, used for the baseline
  std::string cache;      // "warm" or "cold"
  int threads = 1;
  std::vector<std::string> protections;
  // How well the sandbox protects: "isolated", "weaker (python)", "weaker (triton)", "weaker
  // (cuda)", "reduced (no namespaces)" alone or before one of these, "none (unsafe-no-sandbox)".
  std::string trust;
  std::string mode;       // mode of the module: "training" or "eval"; empty: not recorded
  std::string device;     // "NVIDIA H100 80GB HBM3, driver 580.159.04"; empty: measured on the CPU
  std::string precision;  // precision of both sides on a device: "fp32" (no TF32); empty: as
                          // written
  std::string compile_mode;  // of torch.compile, if it is not the default
};

}  // namespace pragma
