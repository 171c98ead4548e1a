// Convolution generator: writes C++ code for one convolution with known sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"

namespace pragma::expert {

// The parameters of one spatial dimension, as in torch.nn.ConvNd and ConvTransposeNd.
struct ConvAxis {
  std::int64_t size = 1;  // size of the input
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t output_padding = 0;  // transposed convolutions only
};

struct ConvSpec {
  std::string name = "convolution";  // namespace of the generated code
  std::int64_t images = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  bool transposed = false;  // if set, the weight is [in_channels][out_channels / groups][...]
  bool bias = false;
  bool keeps_weight = false;   // NAME::Pack lays the weight out once for many calls of Run
  std::vector<ConvAxis> axes;  // one to three axes, the last one contiguous in memory
  // The output starts at a multiple of 64 bytes.
  bool aligned_output = true;
  // The epilogue sees the image as batch, the output channel as row and the pixel as column.
  Epilogue epilogue;
  std::vector<ExtraParameter> extra;
  Tuning tuning;
};

[[nodiscard]] std::int64_t ConvOutputSize(const ConvAxis& axis, bool transposed);

// Generates `static void NAME::Run(const float* x, const float* weight[, const float* bias], float*
// out, extra..., char* scratch)`. If the weight is kept, Run takes what `NAME::Pack(const float*
// weight, char* packed)` wrote in its place, NAME::kPackedBytes.
[[nodiscard]] KernelText GenerateConv(const ConvSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
